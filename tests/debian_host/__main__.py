"""`python -m tests.debian_host`: see the package."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from tests.architecture import units
from tests.clock import ROOT
from tests.debian_host import attacks, person
from tests.debian_host.host import Host, HostFailed, host

_WITH_NETWORK: Final = {"apt-get", "git", "/opt/notify/docs/systemd/install"}
_ANSWERS: Final = {
    "Username": "admin",
    "Email": "admin@example.com",
    "Password:": "correct horse battery 7",
    "Password (again):": "correct horse battery 7",
}
_KEPT: Final = "/run/key"
"""The variable of the page's shell, for the next command."""


def main() -> int:
    """Install the product and send a message; returns 0 when all of it worked."""
    if os.geteuid():
        print("make host needs root: it makes namespaces and a chroot.", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()
    try:
        with host(Path(tempfile.mkdtemp(prefix="debian-host-", dir="/var/tmp"))) as made:
            try:
                _play(made)
            except HostFailed:
                print(made.journal(), file=sys.stderr)
                raise
    except HostFailed as error:
        print(error, file=sys.stderr)
        return 1
    print(f"1 passed, 0 failed in {time.monotonic() - began:.0f} s")
    return 0


def _play(made: Host) -> None:
    _step("debootstrap", made.make)
    source = made.root / "source.git"
    words = ["git", "clone", "--quiet", "--bare", "--no-hardlinks", str(ROOT), str(source)]
    subprocess.run(["/usr/bin/env", *words], check=True)
    commands = units.commands("Installation")
    offline = [each for each in commands if each.split()[0] not in _WITH_NETWORK]
    for each in commands[: len(commands) - len(offline)]:
        here = each.replace(" URL ", " /source.git ")
        _step(each, partial(made.run_with_network, here))
    person.certify(made.root)
    _step("(boot)", made.boot)
    made.start(
        f"exec python3 -u -W ignore -m smtpd -n -c DebuggingServer 127.0.0.1:{person.MAIL}",
        made.log.with_name("mail"),
    )
    for each in offline:
        _step(each, partial(_run, made, each))
    attacks.first_message(made)
    print(f"{len(commands)} commands to the first message")
    for attack in attacks.ALL:
        _step(f"({attack.__name__})", partial(attack, made))


def _run(made: Host, command: str) -> None:
    """Run a command of the page as a person does."""
    if command.startswith("editor "):
        person.edit(made.root)
    elif "createsuperuser" in command:
        made.answer(command, _ANSWERS)
    elif command.startswith("NOTIFY_KEY="):
        made.run(f"{command}; declare -p NOTIFY_KEY >{_KEPT}")
    elif command.startswith("curl https:"):
        attacks.wait_ready(made)
        made.run(f"source {_KEPT}; {command.replace('curl ', 'curl --fail-with-body ', 1)}")
    else:
        made.run(f"cd; {command}")


def _step(name: str, does: Callable[[], str | None]) -> None:
    began = time.monotonic()
    told = does() or ""
    taken = time.monotonic() - began
    print(f"{taken:6.1f} s  {name.splitlines()[0][:100]} {told}".rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
