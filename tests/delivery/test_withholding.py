"""Sensitive variables: what is stored, said and logged of a notification does not disclose them.

The fixtures' sign-in code is 4711; a longer one cannot be a part of an id by chance.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from traceback import TracebackException

import pytest
from cryptography.fernet import Fernet
from django.db import connection

from notifications.core import conf
from notifications.core.delivery import deliver
from notifications.core.delivery.withholding import CallFailed
from notifications.core.feedback import delivery_receipts
from notifications.core.intake.accept import AcceptedRequest, Refused
from notifications.core.models import Attempt, IdempotencyKey
from notifications.core.rules import request
from notifications.core.rules.problems import Kind, Problem
from notifications.core.store.postgres import secret_variables
from notifications.core.store.redis import state
from providers.contract import (
    Accepted,
    Message,
    Misconfigured,
    Outcome,
    Receipt,
    ReceiptKind,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from tests.journey import Accept, Reach, deliveries_of
from tests.vendors import Answer, Scripted


def _hashes_without_a_key(code: str) -> set[bytes]:
    """What somebody can compute who has read the database and guesses the code."""
    asked = request.parse({
        "user_id": "maria",
        "type": "LIKE",
        "template_id": "otp",
        "variables": {"name": "Ana", "code": code},
        "channels": ["email"],
    })
    assert not isinstance(asked, Problem)
    body = request.canonical(asked).reveal()
    return {hashlib.blake2b(body, digest_size=16).digest(), hashlib.sha256(body).digest()[:16]}


def test_a_sensitive_variable_cannot_be_guessed_from_its_idempotency_key(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    assert isinstance(take(idempotency_key="k"), AcceptedRequest)
    kept = bytes(IdempotencyKey.objects.get(key="k").body_hash)
    assert len(kept) == 16
    assert kept not in _hashes_without_a_key("4711")


def _rotated(monkeypatch: pytest.MonkeyPatch, *keys: str) -> None:
    settings = replace(conf.current(), encryption_keys=keys)
    monkeypatch.setattr(conf, "current", lambda: settings)
    secret_variables.forget()


def test_an_idempotency_key_counts_across_a_change_of_the_encryption_key(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    old, new = conf.current().encryption_keys[0], Fernet.generate_key().decode()
    first = take(idempotency_key="k")
    try:
        _rotated(monkeypatch, new, old)
        again, other = take(idempotency_key="k"), take(idempotency_key="k", priority="P1")
    finally:
        monkeypatch.undo()
        secret_variables.forget()
    assert isinstance(first, AcceptedRequest)
    assert isinstance(again, AcceptedRequest)
    assert (again.replayed, again.response) == (True, first.response)
    assert isinstance(other, Refused)
    assert other.problem.kind is Kind.KEY_REUSED


CODE = "canary-86420917"
VARIABLES = {"name": "Ana", "code": CODE}


def _answering(outcome: Callable[[str], Outcome]) -> Answer:
    """A provider that repeats in its answer what it was given."""
    return lambda batch: ((each, outcome(f"cannot send {each.body!r}")) for each in batch)


@pytest.mark.parametrize(
    "outcome",
    [
        lambda said: Throttled(code="429", detail=said),
        lambda said: Unavailable(code="503", detail=said),
        lambda said: Rejected(code="30007", detail=said),
        lambda said: Rejected(code="21211", detail=said, contact_is_dead=True),
        lambda said: Misconfigured(code="401", detail=said),
        lambda said: Unanswered(code="timeout", detail=said),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_what_a_provider_repeats_of_the_message_is_kept_nowhere(
    scripted: Scripted, take: Accept, outcome: Callable[[str], Outcome]
) -> None:
    scripted.answer = _answering(outcome)
    [row] = deliveries_of(take(variables=VARIABLES))
    deliver.deliver([row.id])
    kept = everything_stored()
    assert outcome("").code in kept  # type: ignore[union-attr]  # each of these has a code
    assert "Ana" in kept
    assert CODE not in kept


@pytest.mark.django_db(transaction=True)
def test_what_a_provider_says_of_a_message_without_secrets_is_kept(
    scripted: Scripted, take: Accept
) -> None:
    scripted.answer = _answering(lambda said: Rejected(code="30007", detail=said))
    content = {"template_id": None, "variables": {}, "content": {"body": "no secret"}}
    [row] = deliveries_of(take(**content))
    deliver.deliver([row.id])
    assert "cannot send 'no secret'" in Attempt.objects.get(delivery_id=row.id).detail


@pytest.mark.django_db(transaction=True)
def test_the_detail_of_a_receipt_is_not_kept(scripted: Scripted, take: Accept) -> None:
    [row] = deliveries_of(take(variables=VARIABLES))
    deliver.deliver([row.id])
    bounced = Receipt(
        kind=ReceiptKind.BOUNCED, delivery_id=row.id, code="5.7.1", detail=f"spam: {CODE}"
    )
    assert delivery_receipts.record(scripted.name, [bounced]) == 1
    kept = everything_stored()
    assert "5.7.1" in kept
    assert CODE not in kept


@pytest.mark.django_db(transaction=True)
def test_an_exception_of_an_adapter_says_its_type_and_place(
    scripted: Scripted, take: Accept
) -> None:
    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        yield batch[0], Accepted(message_id=str(int(batch[0].body)))  # a bug: it is no number

    scripted.answer = answer
    [row] = deliveries_of(take(variables=VARIABLES))
    with pytest.raises(CallFailed) as failed:
        deliver.deliver([row.id])
    told = "".join(traceback.format_exception(failed.value))
    told += "".join(TracebackException.from_exception(failed.value, capture_locals=True).format())
    assert "ValueError in " in told
    assert "test_withholding.py:" in str(failed.value)
    assert CODE not in told
    assert CODE not in everything_stored()


def everything_stored() -> str:
    """Every row of every table, and every value of the state Redis, as text."""
    with connection.cursor() as running:
        running.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        )
        said = []
        for (table,) in running.fetchall():
            running.execute(f"SELECT string_agg(t::text, chr(10)) FROM {table} t")  # noqa: S608 - from the catalogue
            said.append(str(running.fetchone()))
    client = state.client()
    said += [f"{key!r} {client.dump(key)!r}" for key in client.scan_iter()]
    return "\n".join(said)
