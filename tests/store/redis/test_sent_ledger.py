"""The sent-ledger keeps whole outcomes for a day, and reads entries of other releases."""

from __future__ import annotations

import datetime as dt
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.store.redis import sent_ledger, state
from notifications.core.store.redis.sent_ledger import LedgerEntry
from providers.contract import (
    Accepted,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from providers.refused_parts import RefusedPart

_CODES = st.text(max_size=20)
_WAITS = st.none() | st.timedeltas(
    min_value=dt.timedelta(seconds=1), max_value=dt.timedelta(days=2)
)
_OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Accepted, message_id=st.text(max_size=80), segments=st.none() | st.integers(1, 9)),
    st.builds(Throttled, code=_CODES, detail=st.just("too many"), retry_after=_WAITS),
    st.builds(Unavailable, code=_CODES, detail=st.just("down"), retry_after=_WAITS),
    st.builds(NotStarted, code=_CODES),
    st.builds(
        Rejected,
        code=_CODES,
        contact_is_dead=st.booleans(),
        has_opted_out=st.booleans(),
        may_be_misconfigured=st.booleans(),
        another_provider_may_accept=st.booleans(),
        refused_part=st.sampled_from(RefusedPart),
    ),
    st.builds(Misconfigured, code=_CODES, detail=st.just("one of many refusals")),
)
_ENTRIES = st.builds(
    LedgerEntry,
    delivery_id=st.uuids(),
    attempt=st.integers(1, 32_767),
    provider=st.sampled_from(["twilio", "smtp"]),
    outcome=_OUTCOMES,
    has_next=st.none() | st.booleans(),
    passed_by=st.booleans(),
    in_doubt=st.booleans(),
    is_probe=st.booleans(),
    is_judged=st.booleans(),
    token=st.none() | st.uuids(),
)


@given(_ENTRIES)
def test_every_definite_outcome_comes_back_whole(entry: LedgerEntry) -> None:
    assert sent_ledger.write([entry])
    assert sent_ledger.load({entry.delivery_id: entry.attempt}) == {entry.delivery_id: entry}
    sent_ledger.forget([(entry.delivery_id, entry.attempt)])
    assert sent_ledger.load({entry.delivery_id: entry.attempt}) == {}


def test_half_of_a_surrogate_pair_in_an_answer_costs_no_entry() -> None:
    entry = LedgerEntry(uuid4(), 1, "vonage", Rejected(code="\ud800"))
    assert sent_ledger.write([entry])
    assert sent_ledger.load({entry.delivery_id: 1})[entry.delivery_id].outcome == Rejected(code="?")


def test_the_new_address_of_a_contact_is_not_kept() -> None:
    accepted = Accepted(message_id="815", new_address="tgram://token/-1001557912345")
    entry = LedgerEntry(uuid4(), 1, "apprise", accepted)
    assert b"token" not in sent_ledger.encode(entry)
    assert sent_ledger.write([entry])
    found = sent_ledger.load({entry.delivery_id: 1})[entry.delivery_id]
    assert found.outcome == Accepted(message_id="815")


def test_the_address_in_an_answer_is_not_kept() -> None:
    detail = "no such mailbox maria@example.com"
    entry = LedgerEntry(uuid4(), 1, "smtp", Rejected(code="550", detail=detail))
    sent_ledger.write([entry])
    value: Any = state.client().get(sent_ledger.key_of(entry.delivery_id, 1))
    assert b"maria" not in bytes(value)


def test_an_unanswered_call_leaves_no_entry() -> None:
    entry = LedgerEntry(uuid4(), 1, "twilio", Unanswered(code="timeout"))
    sent_ledger.write([entry])
    assert sent_ledger.load({entry.delivery_id: 1}) == {}


def test_an_entry_lives_for_a_day() -> None:
    entry = LedgerEntry(uuid4(), 1, "twilio", Accepted())
    sent_ledger.write([entry])
    assert state.client().ttl(sent_ledger.key_of(entry.delivery_id, 1)) > 23 * 3600


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (b'{"outcome":"accepted","provider":"twilio","said":{"new":1},"newer":2}', Accepted()),
    ],
)
def test_an_entry_of_another_release_is_read(value: bytes, outcome: Outcome) -> None:
    delivery_id = uuid4()
    state.client().set(sent_ledger.key_of(delivery_id, 1), value)
    assert sent_ledger.load({delivery_id: 1})[delivery_id].outcome == outcome


@pytest.mark.parametrize(
    "value", [b"postponed 1 twilio x", b'{"outcome":"postponed","provider":"twilio","said":{}}']
)
def test_an_outcome_that_only_another_release_knows_is_no_evidence(value: bytes) -> None:
    delivery_id = uuid4()
    state.client().set(sent_ledger.key_of(delivery_id, 1), value)
    assert sent_ledger.load({delivery_id: 1}) == {}


def test_an_added_entry_replaces_no_entry_that_a_worker_wrote() -> None:
    entry = LedgerEntry(uuid4(), 1, "twilio", Rejected(code="30003"), is_judged=True)
    sent_ledger.write([entry])
    later = sent_ledger.encode(entry._replace(is_judged=False))
    assert sent_ledger.add_encoded({sent_ledger.key_of(entry.delivery_id, 1): later})
    assert sent_ledger.load({entry.delivery_id: 1})[entry.delivery_id].is_judged


def test_a_ledger_that_does_not_answer_is_no_empty_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state._circuit, "rests_until", float("inf"))
    with pytest.raises(state.Away):
        sent_ledger.load({uuid4(): 1})
