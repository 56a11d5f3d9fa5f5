"""`manage.py init` before there are settings: wrong answers are named, .env is whole or missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword

from notifyproj import environment
from notifyproj.first_start import answers, command, env_file, first_settings
from notifyproj.first_start.terminal import Terminal
from providers.contract import Channel
from providers.email.smtp import server_url
from tests.clock import ROOT
from tests.management.at_terminal import CTRL_C, CTRL_D, AtTerminal
from tests.providers.fakes import SmtpFake

_URL: Final = "--public-url=https://notify.example.org"
_MAIL: Final = "--mail-url=smtp://mail.example.org"
_FLAGS: Final = (_URL, _MAIL, "--mail-from=notify@example.org", "--skip-mail-check")
_PASSWORD: Final = "pa's \"$HOME #`id` \\ wörd @:/?% "
_SERVERS: Final = {
    "DATABASE_URL": "postgresql://notify@127.0.0.1:1/notify",
    "DATABASE_PASSWORD": 'it\'s $a #"pass" wörd',
    "REDIS_URL": "redis://:it's@127.0.0.1:1/0",
    "CELERY_BROKER_URL": "redis://127.0.0.1:2/0",
}


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("NOTIFY_", "DATABASE_", "REDIS_", "CELERY_", "TLS_")):
            monkeypatch.delenv(name)


def _init(folder: Path, *flags: str) -> int:
    return command.main([f"--folder={folder}", "--no-input", *flags])


def _refused(folder: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """Run init, which must fail and write nothing; return what it says."""
    before = sorted(folder.iterdir())
    assert _init(folder, *flags) == 1
    assert sorted(folder.iterdir()) == before
    shown = capsys.readouterr()
    return shown.out + shown.err


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("notify.example.org", "must begin with https://"),
        ("http://notify.example.org", "must begin with https://"),
        ("ftp://notify.example.org", "must begin with https://"),
        ("https://", "has no host"),
        ("https://notify.example.org:99999", "invalid port"),
        ("https://notify.example.org/path", "more than a host and a port"),
        ("https://ada:secret@notify.example.org", "more than a host and a port"),
        ("https://notify example.org", "has a space"),
        ("https://notify.example.com", "address of the example"),
        ("https://notify.example.org\nX='y", "cannot be printed"),
        ("https://bücher.example", "beyond ASCII"),
        ("https://notify'.example.org", "no name of a host has"),
        ("https://$HOST.example.org", "no name of a host has"),
        ("https://@notify.example.org", "no name of a host has"),
        ("", "An answer is needed"),
    ],
)
def test_a_wrong_public_address_is_named(
    url: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = _refused(tmp_path, capsys, f"--public-url={url}", *_FLAGS[1:])
    assert said in shown
    assert shown.startswith("--public-url: ")


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("HTTPS://Notify.Example.ORG/", "https://notify.example.org"),
        ("https://notify.example.org?", "https://notify.example.org"),
        ("https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443"),
    ],
)
def test_the_address_is_stored_as_browsers_send_it(url: str, form: str, tmp_path: Path) -> None:
    assert _init(tmp_path, f"--public-url={url}", *_FLAGS[1:]) == 0
    assert env_file.read(tmp_path / ".env")["NOTIFY_PUBLIC_URL"] == form


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mail.example.org", "must begin with smtp://"),
        ("https://mail.example.org", "must begin with smtp://"),
        ("smtp://", "NOTIFY_SMTP_URL"),
        ("smtp://mail.example.org:port", "has the form smtp://"),
        ("smtp://mail.example.org?starttls=maybe", "yes or no"),
        ("smtp://ada/b@mail.example.org", "has a space, / or #"),
        ("smtp://ada#b@mail.example.org", "has a space, / or #"),
        ("smtp://ada b@mail.example.org", "has a space, / or #"),
    ],
)
def test_a_wrong_mail_server_is_named(
    url: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in _refused(tmp_path, capsys, _URL, f"--mail-url={url}", *_FLAGS[2:])


def test_an_automatic_certificate_chooses_the_small_installation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):  # the second run changes nothing and asks for no folder
        assert _init(tmp_path, *_FLAGS, "--tls-folder=automatic") == 0
        shown = capsys.readouterr()
        assert "docker compose exec all-in-one python manage.py init" in shown.out + shown.err
        assert "certificate" not in shown.out + shown.err
    assert env_file.read(tmp_path / ".env")["COMPOSE_PROFILES"] == "small"


@pytest.mark.parametrize("password", ["secret", "se/cret", "se#cret", "se@cret", "1/x"])
def test_a_password_in_the_command_line_is_refused_and_not_shown(
    password: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = f"--mail-url=smtp://ada:{password}@mail.example.org"
    shown = _refused(tmp_path, capsys, _URL, flag, *_FLAGS[2:])
    assert "--mail-password-file" in shown or "leave the password out" in shown
    assert password not in shown


@pytest.mark.parametrize("sender", ["ada", "ada@", "a@example.org, b@example.org", "Ada <ada"])
def test_a_wrong_sender_is_named(
    sender: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = _refused(tmp_path, capsys, _URL, _MAIL, f"--mail-from={sender}", "--skip-mail-check")
    assert "NOTIFY_SMTP_FROM" in shown


@pytest.mark.parametrize("folder", ["tls", "C:\\tls", "./a:b", "~/tls"])
def test_a_folder_that_compose_takes_for_a_volume_is_named(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "must begin with / or ./" in _refused(
        tmp_path, capsys, *_FLAGS, f"--tls-folder={folder}"
    )


@pytest.mark.parametrize(
    ("missing", "flag"), [(0, "--public-url"), (1, "--mail-url")], ids=["address", "mail"]
)
def test_without_a_terminal_a_missing_flag_is_named(
    missing: int, flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [each for number, each in enumerate(_FLAGS) if number != missing]
    assert _refused(tmp_path, capsys, *flags).startswith(f"{flag} is missing")


def _signs_in(
    _server: object, _session: object, _envelope: object, mechanism: str, data: object
) -> AuthResult:
    del mechanism
    assert isinstance(data, LoginPassword)
    return AuthResult(
        success=(data.login, data.password) == (b"o'neill@x", _PASSWORD.encode()), handled=False
    )


@pytest.fixture
def mail_server() -> Iterator[SmtpFake]:
    with closing(SmtpFake(authenticator=_signs_in, auth_require_tls=False)) as server:
        yield server


def test_a_password_may_have_any_characters(
    tmp_path: Path, mail_server: SmtpFake, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "password"
    file.write_text(f"{_PASSWORD}\n")
    url = f"--mail-url=smtp://o'neill@x@127.0.0.1:{mail_server.port}"
    flags = [_URL, url, "--mail-from=O'Neill <o@example.org>", f"--mail-password-file={file}"]
    assert _init(tmp_path, *flags) == 0
    assert _PASSWORD not in capsys.readouterr().out
    values = env_file.read(tmp_path / ".env")
    server = server_url(values["NOTIFY_SMTP_URL"])
    assert (server.username, server.password) == ("o'neill@x", _PASSWORD)
    assert values["NOTIFY_SMTP_FROM"] == "O'Neill <o@example.org>"
    _read_by_sh(tmp_path / ".env", values)


def test_a_mail_server_that_refuses_is_named(
    tmp_path: Path, mail_server: SmtpFake, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "password").write_text("wrong")
    flags = [_URL, f"--mail-password-file={tmp_path / 'password'}", _FLAGS[2]]
    url = f"--mail-url=smtp://ada@127.0.0.1:{mail_server.port}"
    assert "the sign-in failed: 535" in _refused(tmp_path, capsys, url, *flags)
    mail_server.stop()
    assert "no server listens" in _refused(tmp_path, capsys, url, *flags)
    assert _init(tmp_path, url, *flags, "--skip-mail-check") == 0


def _read_by_sh(path: Path, values: dict[str, str]) -> None:
    """Compare with what a shell reads, as docs/deploy.md has it."""
    script = 'set -a; . "$1"; env -0'
    ran = subprocess.run(
        ["/bin/sh", "-c", script, "sh", str(path)], env={}, capture_output=True, check=True
    )
    read = dict(each.split("=", 1) for each in ran.stdout.decode().split("\0") if each)
    assert {name: read[name] for name in values} == values


def test_settings_for_servers_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in _SERVERS.items():
        monkeypatch.setenv(name, value)
    given = first_settings.Given(
        folder=tmp_path,
        public_url="https://notify.example.org",
        mail_url="smtp://mail.example.org",
        skip_mail_check=True,
    )
    values = first_settings.prepare(given, Terminal(asks=False))
    _read_by_sh(tmp_path / ".env", values)
    loaded = environment.load(values)
    assert loaded.database_url == environment.load({**values, **_SERVERS}).database_url.replace(
        "'", "%27"
    )
    assert loaded.state_url == "redis://:it%27s@127.0.0.1:1/0"


def test_an_installation_without_smtp(tmp_path: Path) -> None:
    assert _init(tmp_path, _URL, "--mail-url=none") == 0
    values = env_file.read(tmp_path / ".env")
    assert "NOTIFY_SMTP_URL" not in values
    assert "#NOTIFY_SMTP_URL='" in (tmp_path / ".env").read_text()
    assert environment.load({**answers.COMPOSE_SERVERS, **values}).routes == {
        Channel.IN_APP: "inbox"
    }


def test_some_of_the_servers_are_not_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", _SERVERS["DATABASE_URL"])
    assert "not REDIS_URL, CELERY_BROKER_URL" in _refused(tmp_path, capsys, *_FLAGS)


def test_a_second_run_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    previous = os.umask(0)
    try:
        assert _init(tmp_path, *_FLAGS) == 0
    finally:
        os.umask(previous)
    path = tmp_path / ".env"
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    capsys.readouterr()
    assert _init(tmp_path, "--public-url=https://other.example.org") == 0
    shown = capsys.readouterr().out
    assert "complete and was not changed" in shown
    assert "Not used, because .env has the settings: --public-url." in shown
    path.chmod(0o644)
    assert _init(tmp_path) == 0
    assert "chmod 600 .env" in capsys.readouterr().out
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [".env"]


def test_a_file_that_is_filled_in_part_is_named_and_not_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(first_settings.TEMPLATE, tmp_path / ".env")
    before = (tmp_path / ".env").read_bytes()
    shown = _refused(tmp_path, capsys, *_FLAGS)
    for said in (
        "NOTIFY_SECRET_KEY is missing or empty",
        "POSTGRES_PASSWORD is missing or empty",
        "NOTIFY_PUBLIC_URL has the value of .env.example",
    ):
        assert said in shown
    assert (tmp_path / ".env").read_bytes() == before
    (tmp_path / ".env").write_text("NOTIFY_SECRET_KEY=short\nNOTIFY_PUBLIK_URL=x\n")
    shown = _refused(tmp_path, capsys, *_FLAGS)
    assert "NOTIFY_PUBLIK_URL is an unknown setting" in shown
    assert "short" not in shown.replace("shorter", "")


def test_a_link_to_nowhere_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".env").symlink_to(tmp_path / "nowhere")
    assert "cannot be read" in _refused(tmp_path, capsys, *_FLAGS)


def test_a_folder_that_takes_no_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert _init(Path("/proc/self"), *_FLAGS) == 1
    assert "takes no file" in capsys.readouterr().err
    assert _init(Path("/nowhere"), *_FLAGS) == 1
    assert "is missing" in capsys.readouterr().err


def _at_terminal(
    folder: Path, *flags: str, environ: Mapping[str, str] = MappingProxyType({})
) -> AtTerminal:
    line = [sys.executable, "manage.py", "init", f"--folder={folder}", *flags]
    given = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **environ}
    return AtTerminal(line, folder=ROOT, environ=given)


def test_a_person_corrects_an_answer(tmp_path: Path, mail_server: SmtpFake) -> None:
    with _at_terminal(tmp_path) as terminal:
        terminal.answer("Public address", "notify.example.org")
        terminal.answer("must begin with", "https://notify.example.org/")
        terminal.answer("Mail server", f"smtp://o'neill@x@127.0.0.1:{mail_server.port}")
        terminal.answer("Password of o'neill@x, not shown", "wrong")
        terminal.answer("Use this mail server all the same?", "")
        terminal.answer("Mail server", f"smtp://o'neill@x@127.0.0.1:{mail_server.port}")
        terminal.answer("Password", _PASSWORD)
        terminal.answer("Sender of the mails [notify@notify.example.org]", "")
        terminal.answer("Folder", "")
        assert terminal.exit_code() == 0
    assert "wörd" not in terminal.screen
    assert "docker compose up" in terminal.screen
    values = env_file.read(tmp_path / ".env")
    assert values["NOTIFY_PUBLIC_URL"] == "https://notify.example.org"
    assert values["NOTIFY_SMTP_FROM"] == "notify@notify.example.org"
    assert values["TLS_FOLDER"] == "./tls"


@pytest.mark.parametrize(
    ("key", "exit_code"), [(CTRL_C, 130), (CTRL_D, 1)], ids=["ctrl-c", "ctrl-d"]
)
@pytest.mark.parametrize("flags", [(), (_URL, "--mail-url=smtp://ada@mail.example.org")])
def test_an_end_at_a_question_writes_nothing(
    key: str, exit_code: int, flags: Sequence[str], tmp_path: Path
) -> None:
    with _at_terminal(tmp_path, *flags) as terminal:
        terminal.wait_for("Password of ada" if flags else "Public address")
        terminal.type(key)
        assert terminal.exit_code() == exit_code
    assert "Traceback" not in terminal.screen
    assert list(tmp_path.iterdir()) == []


def test_an_answer_that_env_cannot_have_is_asked_again(tmp_path: Path) -> None:
    with _at_terminal(tmp_path, _URL, _MAIL, "--skip-mail-check") as terminal:
        terminal.answer("Sender of the mails", 'O\'Neill "Ada" <ada@example.org>')
        terminal.answer("would read different values", "Ada <ada@example.org>")
        terminal.answer("Folder", "./$it's")
        terminal.answer("would read different values", "")
        assert terminal.exit_code() == 0


def test_bytes_of_another_encoding_are_asked_again(tmp_path: Path, mail_server: SmtpFake) -> None:
    with _at_terminal(tmp_path, _URL, environ={"PYTHONIOENCODING": "utf-8:strict"}) as terminal:
        terminal.wait_for("Mail server")
        terminal.type_bytes(b"smtp://\xe9\n")
        terminal.answer("cannot be printed", f"smtp://o'neill@x@127.0.0.1:{mail_server.port}")
        terminal.wait_for("Password")
        terminal.type_bytes(b"w\xf6rd\n")
        terminal.answer("Password", _PASSWORD)
        terminal.answer("Sender of the mails", "")
        terminal.answer("Folder", "")
        assert terminal.exit_code() == 0
    assert "Traceback" not in terminal.screen
