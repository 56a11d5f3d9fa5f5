"""From a checkout to the first mail: the commands of docs/deploy.md for servers without containers.

A shell at a terminal runs each command of the page in a copy of the checkout; the test types what a
person types. Names of servers and ports become those of this machine.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from email import message_from_bytes
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import psutil
import pytest
import redis

from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK, free_port
from tests import clock
from tests.brokers import valkey_only
from tests.clock import ROOT
from tests.management.at_terminal import AtTerminal
from tests.providers.fakes import SmtpFake

pytestmark = valkey_only

_PROMPT: Final = "next> "
_MOST_COMMANDS: Final = 10
_COPIED: Final = ("notifyproj", "notifications", "providers", "templates")


def commands() -> list[str]:
    """Return the commands of the page."""
    text = (ROOT / "docs" / "deploy.md").read_text()
    section = text.partition("## Without containers\n")[2]
    [block] = re.findall(r"```sh\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    return str(block).splitlines()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy, because `.env` is written there; with the environment of these tests as .venv."""
    for name in _COPIED:
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True)
    for name in ("manage.py", "celeryconfig.py", ".env.example"):
        shutil.copy2(ROOT / name, tmp_path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


@pytest.fixture
def servers() -> Iterator[dict[str, str]]:
    """The addresses of an empty database and two empty Valkeys."""
    with clock.stack("first-start", environ={}) as own:
        own.postgres.empty()
        for server in (own.state, own.valkey_broker):
            with redis.Redis.from_url(server.url) as client:
                client.flushall()
        yield own.urls()


@pytest.fixture
def shell(checkout: Path) -> Iterator[AtTerminal]:
    environ = {"PATH": "/usr/bin:/bin", "PS1": _PROMPT, "HOME": str(checkout), "LANG": "C.UTF-8"}
    command = ["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"]
    with AtTerminal(command, folder=checkout, environ=environ) as terminal:
        terminal.wait_for(_PROMPT)
        started = psutil.Process(terminal.pid)
        try:
            yield terminal
        finally:
            ended = [*started.children(recursive=True), started]
            for each in ended:
                each.kill()


def _here(command: str, *, servers: dict[str, str], port: int) -> str:
    """Return a command of the page with the addresses of this machine."""
    for name, url in servers.items():
        command = re.sub(rf"{name}='[^']*'", lambda _, of=f"{name}='{url}'": of, command)  # type: ignore[misc] # mypy infers no type of a default
    return command.replace("--port=8000", f"--port={port}")


def _run(shell: AtTerminal, command: str) -> None:
    shell.type(f"{command}\n")
    shell.wait_for(_PROMPT)


def _is_up(url: str) -> bool:
    try:
        with urlopen(f"{url}/healthz", timeout=3):  # noqa: S310 - loopback
            return True
    except OSError:
        return False


def test_the_documented_commands_lead_to_a_first_mail(
    shell: AtTerminal, servers: dict[str, str], checkout: Path
) -> None:
    clone, install, export, init, *others, curl = commands()
    assert len([clone, install, export, init, *others, curl]) <= _MOST_COMMANDS
    assert clone.startswith("git clone")
    assert curl.startswith("curl")
    port = free_port(str(checkout))
    url = f"http://{LOOPBACK}:{port}"
    with closing(SmtpFake()) as mailbox:
        _run(shell, install.rpartition("&& ")[2])  # the packages are there
        _run(shell, _here(export, servers=servers, port=port))
        shell.type(f"{init}\n")
        shell.answer("Public address", url)
        shell.answer("Mail server", f"smtp://{LOOPBACK}:{mailbox.port}")
        shell.answer("Sender", "Example <notify@example.com>")
        shell.answer("Apply them now?", "y")
        shell.answer("first administrator", "ada@example.com")
        shell.wait_for(_PROMPT)
        printed = shell.screen
        for command in others:
            _run(shell, _here(command, servers=servers, port=port))
        assert re.search(r"smtp +127\.0\.0\.1:\d+ +good +signed in", shell.screen), shell.screen
        until(lambda: _is_up(url), what="the web process answers")
        [export_key] = re.findall(r"^ +(export NOTIFY_URL=.*)$", printed, re.MULTILINE)
        [first_mail] = re.findall(r"^ +(curl .*\\\n.*)$", printed, re.MULTILINE)
        _run(shell, export_key)
        _run(shell, first_mail.replace("\\\n", " "))
        assert '"notification_id"' in shell.screen, shell.screen
        until(lambda: mailbox.contents != [], what="the mail server has the mail")
        mail = message_from_bytes(mailbox.contents[0])
    assert (mail["To"], mail["Subject"]) == ("ada@example.com", "First mail")
    assert (checkout / ".env").stat().st_mode & 0o777 == 0o600
