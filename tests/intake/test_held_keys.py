"""A request whose idempotency key another transaction holds waits briefly, in whatever form."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable
from psycopg.pq import DiagnosticField

from notifications.core.intake import accept, held_keys, new_rows
from notifications.core.intake.accept import AcceptedRequest, Caller, IntakeRequest, Refused, Single
from notifications.core.models import Notification
from notifications.core.rules import request
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import NotificationRequest
from notifications.core.rules.sensitive import Sensitive
from notifications.core.store.postgres import idempotency
from notifications.core.store.postgres.idempotency import IdempotencyKey
from notifications.core.store.postgres.secret_variables import Fingerprint
from notifications.core.store.rate_limits.producer_limits import Charge
from tests.interleaving import key_being_stored
from tests.journey import Reach

SECONDS = 30


@pytest.fixture(autouse=True)
def nothing_noted() -> Iterator[None]:
    held_keys._held.clear()
    yield
    held_keys._held.clear()


def _request(**fields: object) -> NotificationRequest:
    body = {"user_id": "maria", "type": "LIKE", "content": {"body": "hi"}, **fields}
    wanted = request.parse({"idempotency_key": "k"} | body)
    assert not isinstance(wanted, Problem), wanted
    return wanted


def _single(caller: Caller, **fields: object) -> Single:
    charge = Charge(
        producer_id=caller.producer_id, mode=caller.mode, cost=1, rate_per_second=1, burst=1000
    )
    return Single(IntakeRequest(caller, _request(**fields)), charge)


def _one(caller: Caller, **fields: object) -> AcceptedRequest | Refused | None:
    return accept.accept_one(_single(caller, **fields))[0]


def _addressed(caller: Caller) -> AcceptedRequest | Refused | None:
    to = {"email": "a@b.example"}
    return _one(replace(caller, may_register=True), user_id=None, to=to)


def _whole(caller: Caller) -> AcceptedRequest | Refused | Problem | None:
    body = [_request(idempotency_key=None)]
    found = accept.accept_once(caller, "k", Fingerprint(Sensitive(b"body")), body)
    return found if isinstance(found, Problem) else found.results[0]


def _many(caller: Caller) -> AcceptedRequest | Refused:
    return accept.accept(caller, [_request(idempotency_key=f"k{n}") for n in range(60)])[0]


_FORMS: dict[str, tuple[str, Callable[[Caller], object]]] = {
    "single": ("k", _one),
    "ordered": ("k", lambda caller: _one(caller, ordering_key="orders")),
    "to an address": ("k", _addressed),
    "batch with items' keys, by COPY": ("k7", _many),
    "batch with a key": ("k", _whole),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("form", _FORMS)
def test_a_request_with_a_held_key_ends_soon_and_is_told_to_come_back(
    reach: Reach, caller: Caller, form: str
) -> None:
    reach(email="maria@sandbox.example")
    key, post = _FORMS[form]

    def run() -> object:
        try:
            with connection.cursor() as running:
                running.execute("SET lock_timeout = 0")  # the session waits without end
            return post(caller)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool, key_being_stored(caller.producer_id, caller.mode, key):
        told = pool.submit(run).result(SECONDS)
    problem = told.problem if isinstance(told, Refused) else told
    assert isinstance(problem, Problem), told
    assert problem.kind is Kind.IN_PROGRESS
    assert problem.retry_after
    assert held_keys.is_noted(caller.producer_id, caller.mode, key)
    assert not Notification.objects.exists()


@pytest.mark.parametrize("relation", ['"{}"', "»{}«", "« {} »"])
def test_a_held_key_is_recognized_in_each_language_of_the_server(relation: str) -> None:
    for index, is_key in {"idempotency_key_pkey": True, "event_20261130_pkey": False}.items():
        error, info = OperationalError(), dict[int, bytes | None]()
        info[DiagnosticField.CONTEXT] = relation.format(index).encode()
        error.__cause__ = LockNotAvailable(info=info)
        assert idempotency.is_held(error) is is_key


def test_a_request_with_a_key_held_a_moment_ago_joins_no_group(caller: Caller) -> None:
    single, other = _single(caller), _single(caller, idempotency_key="other")
    assert not accept._is_alone(single)
    held_keys.note([IdempotencyKey(caller.producer_id, caller.mode, "k")])
    assert accept._is_alone(single)
    assert not accept._is_alone(other)


def test_keys_are_forgotten_after_their_time_and_beyond_the_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = [IdempotencyKey(1, Mode.LIVE, f"k{n}") for n in range(4)]
    monkeypatch.setattr(held_keys, "_MOST", 3)
    held_keys.note(keys)
    assert list(held_keys._held) == keys[1:]
    monkeypatch.setattr(held_keys, "_REMEMBERED_SECONDS", 0.0)
    held_keys._held.update(dict.fromkeys(keys[1:], 0.0))
    assert not held_keys.is_noted(*keys[2])
    held_keys.note(keys[:1])
    assert list(held_keys._held) == []


@pytest.mark.django_db(transaction=True)
def test_a_request_waits_for_the_lock_of_a_migration_as_long_as_its_session(
    reach: Reach, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    tries, is_second = list[object](), threading.Event()
    usual = new_rows._insert

    def insert(*given: object, **options: object) -> None:
        tries.append(options["patience"])
        if len(tries) == 3:  # the group's try, and the first try alone
            is_second.set()
        usual(*given, **options)  # type: ignore[arg-type]  # whatever the caller gave

    monkeypatch.setattr(new_rows, "_insert", insert)

    def run() -> object:
        try:
            return _one(caller)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic(), connection.cursor() as running:
            running.execute("LOCK TABLE event IN ACCESS EXCLUSIVE MODE")
            waits = pool.submit(run)
            assert is_second.wait(SECONDS)
        assert isinstance(waits.result(SECONDS), AcceptedRequest)
    assert tries[-1] is None
    assert not held_keys._held


def test_later_statements_of_a_transaction_wait_as_long_as_the_session(
    reach: Reach, caller: Caller
) -> None:
    reach(email="maria@sandbox.example")
    with transaction.atomic(), connection.cursor() as running:
        running.execute("SET LOCAL lock_timeout = '2s'")
        assert isinstance(accept.accept(caller, [_request()])[0], AcceptedRequest)
        running.execute("SHOW lock_timeout")
        assert running.fetchone() == ("2s",)
