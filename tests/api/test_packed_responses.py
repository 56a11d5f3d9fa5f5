"""A repeat gets the bytes of the first answer: from the packed form, and from rows of JSON."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from notifications.core import clock, migrations
from notifications.core.models import Contact, Delivery, Event, IdempotencyKey, Notification
from notifications.core.rules import accepted_answer
from notifications.core.rules.states import Status
from notifications.core.store.postgres import packed_responses, unapplied_migrations
from providers.contract import Channel
from tests.api.conftest import Caller

_SALE = {"user_id": "maria", "type": "SALE", "priority": "P2", "content": {"body": "Half price"}}
_USUAL = {**_SALE, "idempotency_key": "k"}
_PATH = "/v1/notifications"

pytestmark = pytest.mark.usefixtures("maria")


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    """Let the process look at the migrations, before and after the test."""
    packed_responses.forget()
    yield
    packed_responses.forget()


def _bytes(caller: Caller, body: dict[str, Any]) -> bytes:
    reply = caller.post(_PATH, body)
    assert reply.status_code == 202, reply.content
    return reply.content


def _packed() -> bytes:
    packed = IdempotencyKey.objects.get().packed_response
    assert packed is not None
    return bytes(packed)


def _applied(name: str, *, ago: dt.timedelta) -> None:
    migration = MigrationRecorder.Migration.objects.filter(app="notifications", name=name)
    assert migration.update(applied=clock.now() - ago) == 1


def test_a_repeat_of_a_usual_request_has_the_same_bytes_whatever_became_of_it(
    caller: Caller,
) -> None:
    first = _bytes(caller, _USUAL)
    assert IdempotencyKey.objects.get().response is None
    assert len(_packed()) < 70
    Delivery.objects.update(status=Status.DELIVERED)
    assert _bytes(caller, _USUAL) == first
    for model in (Event, Delivery, Notification, Contact):
        model.objects.all().delete()
    assert _bytes(caller, _USUAL) == first
    assert not Notification.objects.exists()


def test_another_body_with_the_key_is_refused(caller: Caller) -> None:
    _bytes(caller, _USUAL)
    reply = caller.post(_PATH, {**_USUAL, "priority": "P1"})
    assert (reply.status_code, reply.json()["code"]) == (422, "idempotency-key-reused")


@pytest.mark.parametrize(
    "away", [dt.timedelta(days=2), dt.timedelta(days=-2)], ids=["a send time", "a warning"]
)
def test_an_answer_with_further_fields_is_kept_as_json(caller: Caller, away: dt.timedelta) -> None:
    more = {"scheduled_at": (clock.now() + away).isoformat()}
    first = caller.post(_PATH, {**_USUAL, **more})
    assert first.status_code == 202
    kept = IdempotencyKey.objects.get()
    assert (kept.response, kept.packed_response) == (first.json(), None)
    assert caller.post(_PATH, {**_USUAL, **more}).json() == first.json()


def test_each_item_of_a_batch_is_packed(caller: Caller) -> None:
    batch = {"notifications": [{**_SALE, "idempotency_key": f"k{n}"} for n in range(30)]}
    first = caller.post(f"{_PATH}/batch", batch).json()["results"]
    again = caller.post(f"{_PATH}/batch", batch).json()["results"]
    assert [each["notification"] for each in again] == [each["notification"] for each in first]
    assert {each["result"] for each in again} == {"duplicate"}
    assert not IdempotencyKey.objects.filter(response__isnull=False).exists()


def test_a_key_with_a_packed_response_is_free_after_its_time(caller: Caller) -> None:
    _bytes(caller, _USUAL)
    with connection.cursor() as running:
        running.execute("UPDATE idempotency_key SET expires_at = now() - interval '1 second'")
    path, body = "/v1/recipients/maria/contacts", {"channel": "email", "address": "b@example.com"}
    first = caller.post(path, body, Idempotency_Key="k")
    assert first.status_code == 201
    again = caller.post(path, body, Idempotency_Key="k")
    assert (again.status_code, again.json()) == (201, first.json())


def test_for_a_day_after_an_upgrade_the_responses_are_json(caller: Caller) -> None:
    _applied(unapplied_migrations.FIRST, ago=dt.timedelta(days=90))
    _applied(packed_responses.COLUMN_ADDED_BY, ago=dt.timedelta(hours=23))
    during = _bytes(caller, _USUAL)
    assert IdempotencyKey.objects.get().response is not None
    _applied(packed_responses.COLUMN_ADDED_BY, ago=dt.timedelta(hours=25))
    packed_responses.forget()
    after = _bytes(caller, {**_USUAL, "idempotency_key": "after"})
    assert IdempotencyKey.objects.get(key="after").response is None
    again = caller.post(_PATH, _USUAL)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json() == orjson.loads(during)
    assert _bytes(caller, {**_USUAL, "idempotency_key": "after"}) == after


def test_a_row_that_a_process_of_the_release_before_inserts_is_read(caller: Caller) -> None:
    first = _bytes(caller, _USUAL)
    response = accepted_answer.as_json(accepted_answer.unpack(_packed()))
    IdempotencyKey.objects.update(packed_response=None, response=response)
    assert orjson.loads(_bytes(caller, _USUAL)) == orjson.loads(first)


def _keep_channel_of_a_later_release() -> None:
    """Replace the channel of the first delivery by a number above the known ones."""
    packed = bytearray(_packed())
    packed[28] = max(Channel) + 1
    IdempotencyKey.objects.update(packed_response=bytes(packed))


def test_a_repeat_whose_answer_is_of_a_later_release_is_asked_to_come_again(caller: Caller) -> None:
    _bytes(caller, _USUAL)
    _keep_channel_of_a_later_release()
    reply = caller.post(_PATH, _USUAL)
    assert (reply.status_code, reply.json()["code"]) == (503, "unavailable")
    assert reply.headers["Retry-After"] == "60"
    assert "another release" in reply.json()["detail"]
    assert Notification.objects.count() == 1


def test_an_answer_of_a_later_release_refuses_no_other_item_of_a_batch(caller: Caller) -> None:
    _bytes(caller, _USUAL)
    _keep_channel_of_a_later_release()
    batch = {"notifications": [_USUAL, {**_SALE, "idempotency_key": "other"}]}
    reply = caller.post(f"{_PATH}/batch", batch)
    refused, taken = reply.json()["results"]
    assert refused["problem"]["code"] == "unavailable"
    assert taken["result"] == "accepted"


def test_a_batch_with_a_key_and_an_answer_of_a_later_release_stores_nothing(caller: Caller) -> None:
    first = _bytes(caller, _USUAL)
    packed = _packed()
    _keep_channel_of_a_later_release()
    batch = {"notifications": [_USUAL, _SALE]}
    reply = caller.post(f"{_PATH}/batch", batch, Idempotency_Key="whole")
    assert (reply.status_code, reply.json()["code"]) == (503, "unavailable")
    assert Notification.objects.count() == 1
    IdempotencyKey.objects.update(packed_response=packed)
    reply = caller.post(f"{_PATH}/batch", batch, Idempotency_Key="whole")
    assert reply.json()["results"][0]["notification"] == orjson.loads(first)
    assert Notification.objects.count() == 2


def test_the_migration_that_adds_the_column_has_the_known_name() -> None:
    module = f"{migrations.__name__}.{packed_responses.COLUMN_ADDED_BY}"
    migration = __import__(module, fromlist=["Migration"]).Migration
    assert "packed_response" in [getattr(each, "name", "") for each in migration.operations]
