"""`manage.py init` beside the servers: faults are named, and the first rows are made once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from django.contrib.auth.models import User
from django.db import connection

from notifications.core import broker, clock, conf
from notifications.core.models import ApiKey, NotificationType, Producer
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import api_keys, locks, unapplied_migrations
from notifications.core.store.redis import state
from notifyproj.devstack.servers import Stack
from notifyproj.first_start import command, first_rows, servers, with_servers
from notifyproj.first_start.terminal import Refused, Terminal
from tests.brokers import valkey_only

pytestmark = pytest.mark.django_db(transaction=True)

_OWNER: Final = "ada.o-neill+1@example.com"
_CHOSEN: Final = "pa's \"$HOME #`id` \\ wörd "


@pytest.fixture(autouse=True)
def _new_installation() -> Iterator[None]:
    NotificationType.objects.all().delete()
    Producer.objects.all().delete()
    yield
    clock.forget()


def _run(*, owner: str | None = _OWNER, password: str = "") -> None:
    terminal = Terminal(asks=False)
    with_servers.run(terminal, migrates=False, owner=owner, owner_password=password, loads="")


def _said(capsys: pytest.CaptureFixture[str]) -> str:
    """Run init, which must refuse; return what it says."""
    with pytest.raises(Refused) as refused:
        _run()
    assert not User.objects.exists()
    assert not ApiKey.objects.exists()
    return f"{capsys.readouterr().out}{refused.value}"


def test_the_first_run_makes_everything_that_a_first_mail_needs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _run()
    shown = capsys.readouterr().out
    account = User.objects.get()
    [password] = re.findall(r"the password, shown only now: (\S+)", shown)
    assert account.check_password(password)
    assert (account.username, account.email) == (_OWNER, _OWNER)
    assert account.is_superuser
    assert account.is_staff
    [secret] = re.findall(r"NOTIFY_KEY='(nk_live_\w+)'", shown)
    known = api_keys.recognise(secret)
    assert known is not None
    assert (known.mode, known.producer_name) == (Mode.LIVE, "first")
    assert known.may_send_content
    assert NotificationType.objects.filter(name="ORDER_CONFIRMATION").exists()
    assert f'"email": "{_OWNER}"' in shown
    assert shown.count(secret) == shown.count(password) == 1


def test_a_second_run_changes_nothing_and_shows_no_secret(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _run()
    rows = list(User.objects.values()), list(ApiKey.objects.values())
    types = list(NotificationType.objects.values())
    capsys.readouterr()
    _run(owner="other@example.com", password="another password")
    assert (list(User.objects.values()), list(ApiKey.objects.values())) == rows
    assert list(NotificationType.objects.values()) == types
    shown = capsys.readouterr().out
    assert f"{_OWNER} exists and was not changed" in shown
    assert "shown only now" not in shown
    assert "NOTIFY_KEY='nk_live_...'" in shown


def test_two_runs_at_a_time_make_one_administrator_and_one_key() -> None:
    def create(number: int) -> first_rows.Rows:
        try:
            return first_rows.create(owner=f"ada{number}@example.com", password="")
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(create, range(2)))
    assert sorted(each.is_new for each in found) == [False, True]
    assert User.objects.count() == ApiKey.objects.count() == Producer.objects.count() == 1


def test_a_run_beside_one_that_hangs_ends_with_a_sentence(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_rows, "_LONGEST_WAIT", "100ms")
    url = stack.postgres.url.rpartition("/")[0]
    with psycopg.connect(f"{url}/{connection.settings_dict['NAME']}") as link:
        link.execute(
            "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [locks._CLASS, first_rows._BY]
        )
        with pytest.raises(Refused, match=r"lock timeout\. Run init again"):
            _run()
    assert not User.objects.exists()


def test_a_password_of_a_file_may_have_any_characters(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_text(f"{_CHOSEN}\n")
    _run(password=command._from_file(path, flag="--owner-password-file") or "")
    assert User.objects.get().check_password(_CHOSEN)


def test_a_weak_password_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Refused, match="too short"):
        _run(password="short")
    assert not User.objects.exists()
    assert not ApiKey.objects.exists()
    assert "short" not in capsys.readouterr().out


def test_an_account_without_the_rights_is_not_changed() -> None:
    User.objects.create_user(_OWNER)
    with pytest.raises(Refused, match="already exists"):
        _run()
    assert not User.objects.get().is_superuser


def test_without_an_answer_the_flag_is_named() -> None:
    with pytest.raises(Refused, match="--owner is missing"):
        _run(owner=None)
    with pytest.raises(Refused, match="--owner: The address must be a mailbox"):
        _run(owner="ada")
    with pytest.raises(Refused, match="letters, digits and @"):
        _run(owner="o'neill@example.com")


@pytest.mark.parametrize(("hours", "said"), [(1, "ahead of"), (-1, "behind")])
def test_a_clock_that_is_off_is_named(
    hours: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        clock,
        "host",
        lambda: datetime.now(UTC) + timedelta(hours=hours),  # noqa: TID251 - another clock
    )
    shown = _said(capsys)
    found = rf"^clock +BAD: the clock of \S+ is 3[56]\d\d\.\d s {said}"
    assert re.search(found, shown, re.MULTILINE)


def test_a_migration_that_is_not_applied_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = unapplied_migrations._of_release() | {("notifications", "9999_later")}
    monkeypatch.setattr(unapplied_migrations, "_of_release", lambda: ours)
    assert re.search(r"^tables +BAD: 1 migrations are not applied", _said(capsys), re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PORT", 1, "Connection refused"),
        ("NAME", "nowhere", 'database "nowhere" does not exist'),
        ("PASSWORD", "wr'ong", "password authentication failed"),
    ],
)
def test_a_database_that_is_not_there_is_named(
    name: str, value: object, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict, name, value)
    try:
        [found] = servers.database()
    finally:
        connection.close()
    assert said in found.detail
    assert "Check DATABASE_URL" in found.detail
    assert "wr'ong" not in found.detail


@pytest.fixture
def policy(stack: Stack) -> Iterator[Callable[[str, str], None]]:
    """Set the `maxmemory-policy` of a server; the end restores it."""
    urls = stack.urls()

    def change(server: str, policy: str) -> None:
        with redis.Redis.from_url(urls[server]) as client:
            client.config_set("maxmemory-policy", policy)

    yield change
    for server in ("REDIS_URL", "CELERY_BROKER_URL"):
        change(server, "noeviction")


@valkey_only
@pytest.mark.parametrize(
    ("server", "name"), [("REDIS_URL", "state Redis"), ("CELERY_BROKER_URL", "broker")]
)
def test_a_server_that_drops_keys_is_named(
    server: str,
    name: str,
    policy: Callable[[str, str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    policy(server, "allkeys-lru")
    assert re.search(rf"^{name} +BAD: may drop keys", _said(capsys), re.MULTILINE)


@valkey_only
def test_a_server_that_refuses_the_sign_in_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = conf.current()
    parts = urlsplit(here.state_url)
    wrong = parts._replace(netloc=f":wr0ng@{parts.hostname}:{parts.port}").geturl()
    other = replace(here, state_url=wrong)
    monkeypatch.setattr(conf, "current", lambda: other)
    state.forget()
    try:
        found, of_broker = servers.memory_servers()
    finally:
        monkeypatch.undo()
        state.forget()
    assert "refuses the sign-in" in found.detail
    assert "wr0ng" not in found.detail
    assert of_broker.is_good
    assert broker.takes_messages()
