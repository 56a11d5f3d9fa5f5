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
_OWNER: Final = {"E-mail address of the first administrator": person.OWNER}


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
    shown: list[str] = []
    for each in offline:
        _step(each, partial(_run, made, each, shown))
    pasted = person.pasted(shown[-1])
    for each in pasted:
        _step(each, partial(_paste, made, each))
    attacks.first_message(made)
    print(f"{len(commands) + len(pasted)} commands to the first mail")
    for attack in attacks.ALL:
        _step(f"({attack.__name__})", partial(attack, made))


def _run(made: Host, command: str, shown: list[str]) -> None:
    """Run a command of the page as a person does; what a terminal shows is added to `shown`."""
    if command.startswith("editor "):
        person.edit(made.root)
    elif command.endswith(" init"):
        shown.append(made.answer(command, _OWNER))
    else:
        made.run(f"cd; {command}")


def _paste(made: Host, command: str) -> None:
    """Run a command that `init` has printed, in a shell with the variables of the one before."""
    if command.startswith("export "):
        made.run(f"{command}; export -p >{attacks.VARIABLES}")
    else:
        attacks.wait_ready(made)
        call = command.replace("curl ", "curl --fail-with-body ", 1)
        made.run(f"source {attacks.VARIABLES}; {call}")


def _step(name: str, does: Callable[[], str | None]) -> None:
    began = time.monotonic()
    told = does() or ""
    taken = time.monotonic() - began
    print(f"{taken:6.1f} s  {name.splitlines()[0][:100]} {told}".rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
