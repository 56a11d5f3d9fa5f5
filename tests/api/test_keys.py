"""Who gets in, and for how long."""

from __future__ import annotations

import datetime as dt

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from notifications.core import clock
from notifications.core.models import ApiKey, Producer
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import api_keys
from tests.api.conftest import Caller, MakeCaller


def _ask(authorization: str | None) -> int:
    headers = {} if authorization is None else {"Authorization": authorization}
    return Client().get("/v1/notifications", headers=headers).status_code


def _later(monkeypatch: pytest.MonkeyPatch, by: dt.timedelta) -> None:
    instant = clock.monotonic() + by.total_seconds()
    monkeypatch.setattr(clock, "monotonic", lambda: instant)


def test_a_good_key_gets_in(caller: Caller) -> None:
    assert _ask(f"Bearer {caller.secret}") == 200


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer nk_live_aaaaaaaa_" + "a" * 52,
        "Bearer nk_live_\x00aaaaaaa_" + "a" * 52,
        "Bearer ünïcödé",
        "Bearer " + "a" * 10_000,
    ],
)
def test_anything_else_is_unauthenticated(authorization: str | None) -> None:
    assert _ask(authorization) == 401


def test_a_known_prefix_with_another_secret_is_unauthenticated(caller: Caller) -> None:
    wrong = caller.secret[:-1] + ("a" if caller.secret[-1] != "a" else "b")
    assert _ask(f"Bearer {wrong}") == 401


def test_only_the_hash_of_a_key_is_kept(caller: Caller) -> None:
    row = ApiKey.objects.get(prefix=caller.key.prefix)
    kept = f"{row.prefix} {row.note} {bytes(row.digest).hex()}"
    assert caller.secret.removeprefix(row.prefix) not in kept


def test_a_revoked_key_stops_working_within_two_seconds(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _ask(f"Bearer {caller.secret}") == 200
    ApiKey.objects.update(revoked_at=clock.now())
    _later(monkeypatch, dt.timedelta(seconds=2))
    assert _ask(f"Bearer {caller.secret}") == 401


def test_a_key_is_read_once_a_second_and_not_once_a_request(
    caller: Caller,
    django_assert_num_queries: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instant = clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: instant)  # no cache of a second ends
    api_keys.recognise(caller.secret)
    with django_assert_num_queries(0):  # type: ignore[operator] # pytest-django's fixture is a context manager
        assert api_keys.recognise(caller.secret) is not None


def test_an_expired_key_is_unauthenticated_even_while_it_is_remembered(
    make_caller: MakeCaller,
) -> None:
    caller = make_caller()
    assert _ask(f"Bearer {caller.secret}") == 200
    known = api_keys.recognise(caller.secret)
    assert known is not None
    _, expired = api_keys.issue(
        caller.producer, mode=Mode.LIVE, scopes=("notifications:read",), expires_at=clock.now()
    )
    assert _ask(f"Bearer {expired}") == 401


def test_every_key_of_a_producer_that_is_switched_off_is_forbidden(
    make_caller: MakeCaller,
) -> None:
    caller = make_caller(is_active=False)
    assert _ask(f"Bearer {caller.secret}") == 403


def test_a_key_without_the_scope_is_forbidden(make_caller: MakeCaller) -> None:
    caller = make_caller(scopes=("recipients:read",))
    answer = caller.get("/v1/notifications")
    assert answer.status_code == 403
    assert "notifications:read" in answer.json()["detail"]


def test_a_wildcard_grants_its_noun_and_no_other(make_caller: MakeCaller) -> None:
    caller = make_caller(scopes=("notifications:*",))
    assert caller.get("/v1/notifications").status_code == 200
    assert caller.get("/v1/alerts").status_code == 403


def test_there_is_no_key_for_a_scope_that_does_not_exist(caller: Caller) -> None:
    with pytest.raises(ValueError, match="no such scope: everything:read"):
        api_keys.issue(caller.producer, mode=Mode.LIVE, scopes=("everything:read",))


def test_the_command_prints_a_key_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("create_key", "billing", "--new", "--mode", "live")
    assert _ask(f"Bearer {capsys.readouterr().out.strip()}") == 200


def test_the_command_refuses_a_producer_that_is_only_mistyped() -> None:
    with pytest.raises(CommandError, match="unknown producer 'biling'"):
        call_command("create_key", "biling")
    assert not Producer.objects.filter(name="biling").exists()


def test_a_key_sends_and_does_nothing_else_unless_it_is_told_otherwise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("create_key", "billing", "--new", "--mode", "live")
    known = api_keys.recognise(capsys.readouterr().out.strip())
    assert known is not None
    assert known.scopes == {"notifications:*"}


def test_a_key_rotates_itself_once_and_both_work_for_the_overlap(make_caller: MakeCaller) -> None:
    caller = make_caller(scopes=("keys:rotate", "notifications:*"))
    refused = caller.post("/v1/keys/rotate", {"overlap_hours": False})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/overlap_hours")
    answer = caller.post("/v1/keys/rotate", {"overlap_hours": 2}, Idempotency_Key="rotate-1")
    assert (answer.status_code, answer["Cache-Control"]) == (201, "no-store")
    made = answer.json()
    assert made["scopes"] == ["keys:rotate", "notifications:*"]
    again = caller.post("/v1/keys/rotate", {"overlap_hours": 2}, Idempotency_Key="rotate-1")
    assert (again.status_code, again.json()["key"]) == (201, made["key"])
    assert again["Cache-Control"] == "no-store"
    assert caller.post("/v1/keys/rotate", {"overlap_hours": 2}).status_code == 409
    assert [_ask(f"Bearer {each}") for each in (caller.secret, made["key"])] == [200, 200]
    old = ApiKey.objects.get(pk=caller.key.pk)
    assert old.expires_at is not None
    assert dt.timedelta(hours=1) < old.expires_at - clock.now() <= dt.timedelta(hours=2)
    assert ApiKey.objects.get(prefix=made["prefix"]).created_by.startswith("producer orders")


def test_a_rotated_key_lasts_as_long_as_the_old_one_was_to_last(caller: Caller) -> None:
    ApiKey.objects.update(expires_at=clock.now() + dt.timedelta(days=30))
    made, _ = api_keys.rotate(ApiKey.objects.get(), overlap=dt.timedelta(hours=1), by="x")
    assert made.expires_at is not None
    left = made.expires_at - clock.now()
    assert dt.timedelta(days=29) < left <= dt.timedelta(days=31)
    ApiKey.objects.filter(pk=made.pk).update(revoked_at=clock.now())
    with pytest.raises(api_keys.NotRotatable, match="revoked or expired"):
        api_keys.rotate(made, overlap=dt.timedelta(hours=1), by="x")
    del caller
