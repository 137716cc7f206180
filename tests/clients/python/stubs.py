"""Makes the Python classes of the API from the proto file, in a folder that goes with the process.

python3-grpc-tools would refuse the file (proto3 `optional`); protoc with grpc_python_plugin does not.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

_PROTO = pathlib.Path(__file__).resolve().parents[3] / "proto"
_folder = tempfile.TemporaryDirectory(prefix="acpd-stubs-")
subprocess.run(
    ["protoc", f"-I{_PROTO}", f"--python_out={_folder.name}", f"--grpc_out={_folder.name}",
     f"--plugin=protoc-gen-grpc={shutil.which('grpc_python_plugin')}",
     "acpd/v1/session_service.proto"],
    check=True)
sys.path.insert(0, _folder.name)

from acpd.v1 import session_service_pb2 as pb  # noqa: E402
from acpd.v1 import session_service_pb2_grpc as pb_grpc  # noqa: E402

__all__ = ["pb", "pb_grpc"]
