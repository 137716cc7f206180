"""What the benchmarks share: a real acpd in a folder of its own, and what /proc says of processes."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Acpd:
    """acpd with its state below `folder`; start and stop as often as wanted."""

    def __init__(self, bin_dir, folder, agent, **settings):
        self.bin_dir, self.folder = bin_dir, folder
        self.config, self.address_file = folder / "acpd.json", folder / "address"
        self.config.write_text(json.dumps({
            "listen": ["127.0.0.1:0"],
            "state_dir": str(folder / "state"),
            "runtime_dir": str(folder / "run"),
            "projects_root": str(folder / "projects"),
            "agent_servers": {"agent": {"command": str(bin_dir / agent), **settings}},
            "shutdown": {"workers": "stop"},
        }))

    def start(self):
        """Starts it; returns the seconds until it served."""
        begun = time.monotonic()
        with open(self.folder / "acpd.log", "ab") as log:
            self.process = subprocess.Popen(
                [self.bin_dir / "acpd", "--config", self.config, "--address-file", self.address_file],
                stderr=log, stdout=log)
        while not self.address_file.exists():
            if self.process.poll() is not None or time.monotonic() > begun + 20:
                sys.exit("acpd did not start: " + (self.folder / "acpd.log").read_text())
            time.sleep(0.001)
        self.address = self.address_file.read_text().split()[0]
        return time.monotonic() - begun

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    def workers(self):
        """Pids of its acpd-worker processes."""
        name = str(self.folder / "run")
        return [pid for pid, words in commands() if words[0].endswith("acpd-worker") and words[-1].startswith(name)]


def commands():
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
        except OSError:
            continue
        if words:
            yield int(entry.name), words


def status_kib(pid, name):
    """A line of /proc/PID/status, e.g. VmRSS, in KiB."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise KeyError(name)


def private_kib(pid):
    """Memory that nobody shares with the process, in KiB."""
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:")))
