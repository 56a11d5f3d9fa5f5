"""A revocation ends tokens in every process, and tokens of later are valid."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from notifications.core import clock
from notifications.core.models import Producer, Recipient, TokenRevocation
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import (
    RecipientToken,
    Refusal,
    TokenRefused,
    TokenScope,
)
from notifications.core.store.cached import recipient_ids
from notifications.core.store.postgres import api_keys, erasure, token_revocations
from notifications.core.store.postgres.api_keys import KnownKey
from notifications.core.store.recipient_tokens import revocations, verification
from notifications.core.sweeps import housekeeping
from notifications.features.recipient_tokens import minting

pytestmark = pytest.mark.django_db
HOUR = dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    _forget()
    yield
    _forget()


def _forget() -> None:
    api_keys.forget()
    recipient_ids.forget()
    revocations.forget()


@pytest.fixture
def key() -> KnownKey:
    producer = Producer.objects.create(name="shop")
    row, _ = api_keys.issue(producer, mode=Mode.LIVE, scopes=["recipients:write"])
    known = api_keys.of_prefix(row.prefix)
    assert known is not None
    return known


def _recipient(user_id: str = "ana") -> Recipient:
    row = Recipient.objects.create(mode=Mode.LIVE, user_id=user_id)
    Recipient.objects.filter(pk=row.pk).update(created_at=clock.now() - HOUR)
    return row


def _mint(key: KnownKey, user_id: str = "ana") -> str:
    scopes = [TokenScope.INBOX_READ]
    return minting.mint(user_id, key=key, scopes=scopes, lifetime=HOUR, now=clock.now()).text


def _is_valid(text: str) -> bool:
    try:
        return verification.verify(text).expires_at > clock.now()
    except TokenRefused as refused:
        return refused.reason not in {Refusal.REVOKED, Refusal.UNKNOWN_RECIPIENT}


def _pass_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock.monotonic() + 1
    monkeypatch.setattr(clock, "monotonic", lambda: now)


def test_tokens_of_before_end_and_tokens_of_later_are_valid(
    key: KnownKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, _ = _recipient(), _recipient("bob")
    old, other = _mint(key), _mint(key, "bob")
    assert _is_valid(old)
    revocations.revoke(ana, by="test")
    _pass_a_second(monkeypatch)
    assert [_is_valid(each) for each in (old, other, _mint(key))] == [False, True, True]
    revocations.revoke(ana, by="test")
    assert TokenRevocation.objects.count() == 1


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that psycopg executes, in order."""
    texts: list[str] = []
    execute = psycopg.Cursor.execute

    def counted(self: psycopg.Cursor[Any], query: Any, *args: Any, **kwargs: Any) -> object:  # noqa: ANN401 - psycopg's signature
        texts.append(str(query))
        return execute(self, query, *args, **kwargs)

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    return texts


def test_a_kept_recipient_costs_no_query_within_a_second(
    key: KnownKey, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _recipient()
    text, now = _mint(key), clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    verification.verify(text)
    statements.clear()
    for _ in range(100):
        verification.verify(text)
    assert statements == []


def test_a_process_that_slept_reads_what_it_missed(
    key: KnownKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, text = _recipient(), _mint(key)
    assert _is_valid(text)
    revocations.revoke(ana, by="test")
    minutes_ago = clock.now() - dt.timedelta(minutes=5)
    TokenRevocation.objects.update(noted_at=minutes_ago)
    start = clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: start + 300)
    api_keys.forget()
    assert not _is_valid(text)


def test_a_read_of_a_recipient_that_overtakes_the_revocation_is_dropped_later(
    key: KnownKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread stores what it read before the commit; a later read within the overlap drops it."""
    ana, text = _recipient(), _mint(key)
    verification.verify(text)
    stale = dict(recipient_ids._kept)
    revocations.revoke(ana, by="test")
    _pass_a_second(monkeypatch)
    assert not _is_valid(text)
    recipient_ids._kept.update(stale)
    recipient_ids._names[ana.pk] = (Mode.LIVE, "ana")
    _pass_a_second(monkeypatch)
    assert not _is_valid(text)


def test_an_erasure_ends_tokens(key: KnownKey, monkeypatch: pytest.MonkeyPatch) -> None:
    _recipient()
    text = _mint(key)
    token = verification.verify(text)
    assert revocations.find_revoked([token]) == []
    assert erasure.begin(mode=Mode.LIVE, user_id="ana", requested_by="test", by="test")
    _pass_a_second(monkeypatch)
    assert not _is_valid(text)
    assert revocations.find_revoked([token]) == [token]


def test_the_revoked_among_many_are_found_in_one_statement(
    key: KnownKey, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    rows = [_recipient(f"user-{number}") for number in range(20)]
    tokens: list[RecipientToken] = [verification.verify(_mint(key, row.user_id)) for row in rows]
    token_revocations.revoke([rows[3].pk, rows[7].pk, rows[7].pk])
    api_keys.of_prefix(key.prefix)
    statements.clear()
    assert revocations.find_revoked(tokens) == [tokens[3], tokens[7]]
    assert len(statements) == 1
    assert revocations.find_revoked([]) == []
    assert len(statements) == 1
    Producer.objects.update(is_active=False)
    api_keys.forget()
    assert revocations.find_revoked(tokens) == tokens


def test_revocations_of_expired_tokens_are_deleted(key: KnownKey) -> None:
    del key
    rows = [_recipient(name) for name in ("ana", "bob")]
    token_revocations.revoke([row.pk for row in rows])
    day_ago = clock.now() - dt.timedelta(hours=25, minutes=1)
    TokenRevocation.objects.filter(pk=rows[0].pk).update(noted_at=day_ago)
    housekeeping.run_once(now=clock.now(), limit=10)
    assert TokenRevocation.objects.get().pk == rows[1].pk
