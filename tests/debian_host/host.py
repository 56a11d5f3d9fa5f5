"""A Debian 12 in a folder: commands with a network in a chroot, then systemd in namespaces."""

from __future__ import annotations

import contextlib
import os
import pty
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

_BOOT: Final = Path(__file__).with_name("boot")
_MIRROR: Final = "http://deb.debian.org/debian"
_BASE: Final = "systemd-sysv,dbus,iproute2,ca-certificates"
"""Packages of each installed Debian that debootstrap's smallest variant lacks."""
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CERTIFICATES: Final = Path("etc/ssl/certs/ca-certificates.crt")
_BOOT_SECONDS: Final = 60
_UNSHARE: Final = ("setpriv", "--pdeathsig=KILL", "unshare")
"""Ends with this program, and with it the first process of the namespaces and so all of them."""


class HostFailed(Exception):
    """A command on the host failed or a state was not reached; the message has what it printed."""


class Host:
    """The host.

    Args:
        folder: an empty folder for its files and its log.
    """

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.log = folder / "boot.log"
        self._cgroup = _unified() / f"notify-{folder.name}"
        self._process: subprocess.Popen[bytes] | None = None
        self._init = 0

    def make(self) -> None:
        """Install Debian's base, with this machine's name servers and certificates.

        Raises:
            HostFailed: debootstrap failed.
        """
        words = ["debootstrap", "--variant=minbase", f"--include={_BASE}", "bookworm"]
        self._alone(shlex.join([*words, str(self.root), _MIRROR]))
        shutil.copyfile("/etc/resolv.conf", self.root / "etc/resolv.conf")
        shutil.copyfile(Path("/") / _CERTIFICATES, self.root / _CERTIFICATES)
        (self.root / "etc/hosts").write_text("127.0.0.1 localhost notify.example.com\n")

    def run_with_network(self, command: str) -> None:
        """Run a command in a chroot with this machine's network; no package starts its service.

        Raises:
            HostFailed: it failed.
        """
        policy = self.root / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        own = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        own |= {"PATH": _PATH, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
        words = ["env", "-i", *(f"{name}={value}" for name, value in own.items())]
        inside = shlex.join(["chroot", str(self.root), *words, "bash", "-ec", command])
        mounts = f"mount -t proc proc {self.root}/proc; mount --rbind /dev {self.root}/dev"
        try:
            self._alone(f"{mounts}; {inside}")
        finally:
            policy.unlink()

    def _alone(self, script: str) -> None:
        """Run a script whose mounts and processes end with it."""
        namespaces = ("mount", "pid", "fork", "kill-child", "propagation=slave")
        _checked([*_UNSHARE, *(f"--{each}" for each in namespaces), "sh", "-ec", script])

    def boot(self) -> None:
        """Start systemd and wait until it takes commands.

        Raises:
            HostFailed: it does not.
        """
        self._cgroup.mkdir(exist_ok=True)
        namespaces = ("cgroup", "mount", "pid", "net", "ipc", "uts", "fork", "kill-child")
        words = [*_UNSHARE, *(f"--{each}" for each in namespaces), str(_BOOT), str(self.root)]
        script = f"echo 0 >{self._cgroup}/cgroup.procs; exec {shlex.join(words)}"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-ec", script],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.wait(self._has_booted, what="systemd has started", seconds=_BOOT_SECONDS)

    def _has_booted(self) -> bool:
        assert self._process
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if not children:
            return False
        self._init = int(children[0])
        asked = self._inside("systemctl is-system-running")
        state = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        return state in {"running", "degraded"}

    def journal(self) -> str:
        """Return the last lines of the service's units; nothing of a host that does not run."""
        if self._process is None:
            return ""
        asked = self._inside("journalctl --no-pager --output=short --lines=60 --unit='notify*'")
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout

    def kill(self) -> None:
        """End the host at once, as a cut of the power does."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
        for folder in sorted(self._cgroup.glob("**/"), reverse=True):
            for _ in range(100):  # the kernel empties it after the last process
                with contextlib.suppress(OSError):
                    folder.rmdir()
                    break
                time.sleep(0.1)  # noqa: TID251 - no signal comes

    def _inside(self, command: str) -> list[str]:
        enter = ["nsenter", f"--target={self._init}", "--all", "--"]
        clean = ["env", "-i", f"PATH={_PATH}", "HOME=/root", "TERM=dumb"]
        return [*enter, *clean, "bash", "-ec", command]

    def run(self, command: str) -> str:
        """Run a command as root; return its output.

        Raises:
            HostFailed: it failed.
        """
        return _checked(self._inside(command))

    def answer(self, command: str, answers: Mapping[str, str]) -> str:
        """Run a command at a terminal, answer its prompts in their order and return what it shows.

        Raises:
            HostFailed: it failed.
        """
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            self._inside(command), stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
        ) as process:
            os.close(theirs)
            shown = ""
            for prompt, answer in answers.items():
                while prompt not in shown and (text := _read(ours)):
                    shown += text
                shown = shown.partition(prompt)[2]
                os.write(ours, f"{answer}\n".encode())
            while text := _read(ours):
                shown += text
        os.close(ours)
        if process.returncode:
            raise HostFailed(f"{command}: {shown}")
        return shown

    def start(self, command: str, log: Path) -> None:
        """Start a program that ends with the host."""
        with log.open("wb") as file:
            subprocess.Popen(
                self._inside(command), stdin=subprocess.DEVNULL, stdout=file, stderr=file
            )

    def wait(self, is_so: Callable[[], bool], *, what: str, seconds: float = 180) -> None:
        """Wait for a state.

        Raises:
            HostFailed: it is not reached in time.
        """
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                raise HostFailed(f"not within {seconds:.0f} s: {what}")
            time.sleep(1)  # noqa: TID251 - no signal comes


def _read(terminal: int) -> str:
    """Return what the terminal shows next; nothing when its program has ended."""
    try:
        return os.read(terminal, 4096).decode(errors="replace")
    except OSError:
        return ""


def _checked(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise HostFailed(f"{words[-1]}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def _unified() -> Path:
    """Return where the second version of cgroups is mounted."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(place)
    raise HostFailed("no cgroup2 is mounted here")


@contextlib.contextmanager
def host(folder: Path) -> Iterator[Host]:
    """Yield a host without files; end it and remove its files afterwards."""
    made = Host(folder)
    try:
        yield made
    finally:
        made.kill()
        assert str(folder) not in Path("/proc/self/mounts").read_text()
        shutil.rmtree(folder)
