"""Starts the acpd of ACPD_BIN_DIR with the demo agent, in a scratch folder and on a free port."""
import json
import os
import pathlib
import subprocess
import tempfile
import time


class Daemon:
    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="acpd-py-")
        folder = pathlib.Path(self._folder.name)
        config = folder / "acpd.json"
        config.write_text(json.dumps({
            "listen": ["127.0.0.1:0"],
            "state_dir": str(folder / "state"),
            "runtime_dir": str(folder / "run"),
            "agent_servers": {"demo": {"extends": "demo"}},
            "shutdown": {"workers": "stop"},
        }))
        self._log = folder / "acpd.log"
        address = folder / "address"
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [os.path.join(os.environ["ACPD_BIN_DIR"], "acpd"), "--config", config,
                 "--address-file", address],
                env={**os.environ, "XDG_STATE_HOME": str(folder)},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.address = self._wait_for(address)

    def stop(self):
        """Ends it as a service manager would; fails unless it left with exit code 0."""
        self._process.terminate()
        code = self._process.wait(timeout=60)
        log = self._log.read_text()
        self._folder.cleanup()
        if code != 0:
            raise RuntimeError(f"acpd ended with {code}:\n{log}")

    def _wait_for(self, address):
        deadline = time.monotonic() + 30
        while not address.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                raise RuntimeError(f"acpd did not start:\n{self._log.read_text()}")
            time.sleep(0.02)
        return address.read_text().splitlines()[0]
