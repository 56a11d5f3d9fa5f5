"""The command `notify`, as a process, against the real service."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
from pytest_django.live_server_helper import LiveServer

from notifications.core.models import Producer, Template
from notifications.core.rules import access
from notifications.core.rules.lane import Mode
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import api_keys
from notify_client import Client, cli, webhooks
from notify_client.cli import following, templates, waiting
from notify_client.errors import Conflict, NoAnswer, ServiceError, UnexpectedAnswer
from tests.clients.service import Service
from tests.providers.fakes import HttpFake

_SOURCES: Final = Path(__file__).parents[3] / "clients" / "python" / "src"
_WAITING: Final = "notify: waiting for an answer of "
_SECRET: Final = "whsec_bmV3LXNlY3JldC1uZXctc2VjcmV0LW5ldw=="


class Notify:
    """Runs the command with a folder of its own for profiles and files."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self.environ = {
            **os.environ,
            "XDG_CONFIG_HOME": str(folder / "config"),
            "PYTHONPATH": str(_SOURCES),
            **environ,
        }

    def __call__(self, *arguments: str, stdin: str = "", status: int = 0) -> str:
        """Return the output of a command that ends with the status, and its errors with it.

        The line after two seconds without an answer, as on a busy machine, is left out.
        """
        done = subprocess.run(
            [sys.executable, "-m", "notify_client", *arguments],
            env=self.environ,
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        if status == 0:
            return done.stdout
        errors = done.stderr.splitlines(keepends=True)
        return done.stdout + "".join(each for each in errors if not each.startswith(_WAITING))

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Run a command that does not end, for at most a minute."""
        process = subprocess.Popen(
            [sys.executable, "-m", "notify_client", *arguments],
            env=self.environ,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        stopped = threading.Timer(60, process.kill)
        stopped.start()
        with process:
            yield process
            process.kill()
        stopped.cancel()


@pytest.fixture
def notify(service: Service, tmp_path: Path) -> Notify:
    """With the key of the environment."""
    return Notify(tmp_path, {"NOTIFY_URL": service.url, "NOTIFY_KEY": service.key})


@pytest.fixture
def stranger(tmp_path: Path) -> Notify:
    """Without a key."""
    return Notify(tmp_path, {})


@pytest.fixture
def name(service: Service) -> str:
    """A template with a published version and a newer draft."""
    name = f"cli_{uuid4().hex[:8]}"
    with Client(service.url, service.key) as client:
        client.templates.put_files(name, {"push.en.txt": "Hello\n\nGood day.\n"})
        client.templates.publish(name, 1)
        client.templates.put_files(name, {"push.en.txt": "Hello\n\nGood night.\n"})
    return name


def test_a_login_is_stored_for_its_owner_alone(stranger: Notify, service: Service) -> None:
    told = stranger("login", service.url, "--profile", "staging", stdin=f"{service.key}\n")
    assert told.startswith("Profile staging: producer orders, live key")
    assert service.key not in told
    (file,) = stranger.folder.glob("config/notify/*")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stranger("templates", "list", "--profile", "staging")


def test_a_server_that_does_not_answer_is_waited_for_aloud_and_not_for_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setenv("NOTIFY_URL", url)
        monkeypatch.setenv("NOTIFY_KEY", "nk_test_none")
        monkeypatch.setattr(waiting, "QUIET_SECONDS", 0.0)
        monkeypatch.setattr(waiting, "TOTAL_SECONDS", 0.5)
        assert cli.main(["send", "u_1", "--type", "LIKE", "--template", "t"]) == 1
    first, last = capsys.readouterr().err.splitlines()
    assert first == f"notify: waiting for an answer of {url}, at most 0.5 s for each call"
    assert last.startswith(f"notify: {url} gave no answer (ReadTimeout")
    assert "run the command again with --idempotency-key " in last


def test_a_wrong_key_is_not_stored(stranger: Notify, service: Service) -> None:
    said = stranger("login", service.url, stdin="nk_live_wrong\n", status=1)
    assert said.startswith("notify: 401 ")
    assert list(stranger.folder.glob("config/notify/*")) == []


@pytest.mark.parametrize("url", ["http://a\x01b", "http://[::1", "localhost:3000"])
def test_a_url_that_no_server_can_have_is_refused(stranger: Notify, url: str) -> None:
    assert " URL" in stranger("login", url, stdin="key", status=1)


@pytest.mark.parametrize("time", ["infs", "nanm", "1e300h", "99999999999s", "-5m", "m", "5", ""])
def test_a_time_that_no_calendar_has_is_refused(time: str) -> None:
    with pytest.raises(ValueError, match="give "):
        following.since(time)


def test_a_missing_profile_is_named_with_what_to_do(stranger: Notify) -> None:
    said = stranger("templates", "list", "--profile", "live", status=1)
    assert "there is no profile 'live': run `notify login URL --profile live`" in said


@pytest.mark.parametrize("name", ["NOTIFY_URL", "NOTIFY_KEY"])
def test_one_variable_of_two_is_no_installation(stranger: Notify, name: str) -> None:
    """The other half must not come from the profile of another installation."""
    stranger.environ[name] = "https://staging.example"
    assert f"{name} is set and " in stranger("templates", "list", status=1)


def test_a_damaged_file_of_profiles_is_named(stranger: Notify) -> None:
    file = stranger.folder / "config" / "notify" / "profiles.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"default": []}')
    said = stranger("templates", "list", status=1)
    assert f"{file} cannot be read: delete the file and run `notify login`" in said


def test_a_message_is_sent_once_for_one_key(notify: Notify, service: Service) -> None:
    reference = uuid4().hex
    command = ("send", "cli@example.com", "--type", "CLI", "--priority", "P2", "--body", "Hello")
    sent = [notify(*command, "--idempotency-key", reference).strip() for _ in range(2)]
    assert sent[0] == sent[1]
    with Client(service.url, service.key) as client:
        found = client.notifications.get(sent[0])
    assert found["content"] is not None
    assert found["content"]["body"] == "Hello"


def test_variables_keep_their_types(notify: Notify, service: Service, name: str) -> None:
    with Client(service.url, service.key) as client:
        client.templates.put_files(name, {"push.en.txt": "{{ a }}\n\n{{ b }}\n"})
        client.recipients.put(
            "cli", contacts=[{"channel": "push", "address": "d", "kind": "fcm_token"}]
        )
        client.templates.publish(name, 3)
        sent = notify("send", "cli", "--type", "CLI", "--priority", "P2", "--template", name,
                      "--var", "a=1=2", "--var", "b:=[1, 2]").strip()  # fmt: skip
        assert client.notifications.get(sent)["variables"] == {"a": "1=2", "b": [1, 2]}


@pytest.mark.parametrize("variable", ["a", "=b", ":=1", "a:=x"])
def test_a_variable_of_another_form_is_refused(notify: Notify, variable: str) -> None:
    said = notify("send", "cli", "--type", "CLI", "--var", variable, status=2)
    assert "argument --var" in said


def test_what_the_service_refuses_is_told(notify: Notify) -> None:
    said = notify("send", "nobody", "--type", "CLI", "--priority", "P2", "--body", "a", status=1)
    assert said.startswith("notify: 422 unknown-recipient")


def test_a_message_that_stays_open_ends_the_wait(notify: Notify) -> None:
    said = notify("send", "cli@example.com", "--type", "CLI", "--priority", "P2", "--body", "a",
                  "--wait", "0", status=1)  # fmt: skip
    assert "queued after 0 s" in said


def test_templates_go_to_files_and_back(notify: Notify, name: str) -> None:
    assert notify("templates", "pull", name) == f"{name}: v1, 2 files changed\n"
    file = notify.folder / "templates" / name / "push.en.txt"
    assert file.read_text() == "Hello\n\nGood day.\n"
    assert notify("templates", "diff", name) == ""
    assert notify("templates", "pull", name) == f"{name}: v1, 0 files changed\n"
    file.write_text("Hello\n\nGood evening.\n")
    (file.parent / "push.en@b.txt").write_text("Good evening\n\n\n")
    assert "-Good day.\n+Good evening.\n" in notify("templates", "diff", name, status=1)
    told = notify("templates", "push", name)
    assert told.startswith(f"{name}: v3 drafted\n  review and publish: http://")
    assert notify("templates", "push", name, "--publish") == f"{name}: v3 published\n"
    assert notify("templates", "push", name, "--publish") == f"{name}: v3 unchanged\n"
    assert f"{name}: v3\n" in notify("templates", "list")
    assert notify("templates", "pull", name) == f"{name}: v3, 0 files changed\n"


def test_a_pull_deletes_texts_that_are_gone_and_no_other_file(notify: Notify, name: str) -> None:
    folder = notify.folder / "templates" / name
    (folder / "drafts").mkdir(parents=True)
    for file in ("main.py", "README.md", "sms.de.txt", "push.en.txt", "push.en@b.txt"):
        (folder / file).write_text("of the author")
    replaced = notify.folder / "replaced.txt"
    replaced.hardlink_to(folder / "push.en.txt")
    notify("templates", "pull", name)
    assert replaced.read_text() == "of the author"  # a text comes whole: no file is written over
    there = {path.name for path in folder.iterdir()}
    assert there == {"drafts", "main.py", "README.md", "push.en.txt", "template.json"}


def test_a_file_that_is_wrong_is_named_and_nothing_is_stored(notify: Notify, name: str) -> None:
    notify("templates", "pull", name)
    folder = notify.folder / "templates" / name
    (folder / "push.en.txt").write_text("Hello\n\n{{ unclosed\n")
    said = notify("templates", "push", name, status=1)
    assert f"{name}/push.en.txt: line 1" in said
    shutil.copytree(folder, folder.with_name(f"{name}_first"))
    (folder.with_name(f"{name}_first") / "push.en.txt").write_text("Hello\n\nGood day.\n")
    said = notify("templates", "push", f"{name}_first", name, "--publish", status=1)
    assert f"{name}/push.en.txt: line 1" in said
    assert f"{name}_first: v1 drafted\n" in said
    assert f"{name}_first: unpublished v1 draft\n" in notify("templates", "list")
    (folder / "push.en.txt").write_bytes(b"\xff")
    assert "push.en.txt is not UTF-8" in notify("templates", "push", name, status=1)
    assert "is no folder" in notify("templates", "push", "no_such", status=1)
    assert f"{name}: v1 v2 draft\n" in notify("templates", "list")


def test_a_push_says_what_is_not_published_and_a_repeat_goes_on(notify: Notify, name: str) -> None:
    folder = notify.folder / "templates"
    names = [f"{name}_{each}" for each in "abc"]
    for each in names:
        (folder / each).mkdir(parents=True)
        (folder / each / "push.en.txt").write_text("Hello\n\nGood day.\n")
    declares = '{"variables": [{"name": "day", "type": "string", "example": "Monday"}]}'
    (folder / names[1] / "template.json").write_text(declares)
    (folder / names[1] / "push.en.txt").write_text("Hello\n\n{{ dya }}\n")
    said = notify("templates", "push", *names, "--publish", status=1)
    first, second, third, advice, error = said.splitlines()
    assert first == f"{names[0]}: v1 published"
    assert (second, third) == (f"{names[1]}: v1 not published", f"{names[2]}: v1 not published")
    assert "run the command again" in advice
    assert "dya" in error
    (folder / names[1] / "push.en.txt").write_text("Hello\n\n{{ day }}\n")
    assert notify("templates", "push", *names, "--publish").splitlines() == [
        f"{names[0]}: v1 unchanged",
        f"{names[1]}: v2 published",
        f"{names[2]}: v1 published",
    ]


def test_a_draft_is_not_published_for_sure_after_a_refusal_alone() -> None:
    lost: list[BaseException] = [NoAnswer("ReadTimeout", 3), UnexpectedAnswer(200, "a page")]
    lost += [ServiceError(504, {}), Conflict(409, {}, after_no_answer=True), KeyboardInterrupt()]
    assert [templates._is_refused(each) for each in lost] == [False] * len(lost)
    assert templates._is_refused(Conflict(409, {}))


@pytest.mark.django_db(transaction=True)
def test_a_published_version_is_promoted_and_reviewed_there(
    stranger: Notify, service: Service, live_server: LiveServer, name: str
) -> None:
    """Two installations, each with a database of its own."""
    scopes = {scope.wildcard for scope in Scope}
    scopes -= set(access.useless(scopes, Mode.LIVE))
    _, key = api_keys.issue(Producer.objects.create(name="shop"), mode=Mode.LIVE, scopes=scopes)
    stranger("login", service.url, "--profile", "staging", stdin=service.key)
    stranger("login", live_server.url, "--profile", "live", stdin=key)
    command = ("templates", "promote", name, "--from", "staging", "--to", "live")
    told = stranger(*command)
    assert "+Good day." in told
    assert f"{name}: v1 drafted\n  review and publish: " in told
    draft = Template.objects.get(template_id=name)
    assert (draft.note, draft.published_at) == ("staging v1", None)
    assert f"/template/{draft.pk}/publish" in told
    assert stranger(*command, "--publish") == f"{name}: v1 published\n"
    assert stranger(*command) == f"{name}: v1 unchanged\n"


def test_a_template_that_is_not_published_is_not_promoted(
    stranger: Notify, service: Service
) -> None:
    name = f"draft_{uuid4().hex[:8]}"
    with Client(service.url, service.key) as client:
        client.templates.put_files(name, {"push.en.txt": "Hello\n\nGood day.\n"})
    stranger("login", service.url, stdin=service.key)
    said = stranger("templates", "promote", name, "--from", "default", "--to", "default", status=1)
    assert f"not published in default: {name}" in said


@pytest.fixture
def endpoint() -> Iterator[HttpFake]:
    with closing(HttpFake(key_header="webhook-id")) as it:
        yield it


def _read(process: subprocess.Popen[str], wanted: str) -> str:
    """Read the lines of a process until one has the text."""
    assert process.stdout is not None
    for line in process.stdout:
        if wanted in line:
            return line
    raise AssertionError(f"{wanted} is in no line")


def _cancelled(service: Service) -> str:
    with Client(service.url, service.key) as client:
        sent = client.send(
            to={"email": "cli@example.com"}, type="CLI", priority="P2", content={"body": "a"}
        )
        client.notifications.cancel(sent["notification_id"])
    return sent["notification_id"]


def test_changes_are_printed_as_they_come(notify: Notify, service: Service) -> None:
    with notify.running("tail", "--status", "cancelled", "--since", "1m", "--json") as tail:
        sent = _cancelled(service)
        line = json.loads(_read(tail, sent))
    assert (line["status"], line["type"]) == ("cancelled", "CLI")


def test_a_local_url_gets_signed_webhooks(
    notify: Notify, service: Service, endpoint: HttpFake
) -> None:
    notify.environ["NOTIFY_LISTEN_SECRET"] = _SECRET
    with notify.running("listen", endpoint.url, "--type", "CLI") as listen:
        assert _read(listen, "Signing secret") == f"Signing secret: {_SECRET}\n"
        sent = _cancelled(service)
        line = _read(listen, f"{sent} cancelled")
    assert line.endswith("-> 200\n")
    request = next(each for each in endpoint.requests if b"notification.cancelled" in each.body)
    event = webhooks.verify(request.body, request.headers, _SECRET)
    assert event["data"]["notification_id"] == sent
    assert event["data"]["producer"] == "orders"


def test_a_secret_of_another_form_is_refused(notify: Notify, endpoint: HttpFake) -> None:
    notify.environ["NOTIFY_LISTEN_SECRET"] = "whsec_&"
    said = notify("listen", endpoint.url, status=1)
    assert "NOTIFY_LISTEN_SECRET is a webhook secret: whsec_ and base64" in said


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_shell_completes_the_commands(stranger: Notify, shell: str) -> None:
    script = stranger("completion", shell)
    assert "promote" in script
    assert "idempotency-key" in script
