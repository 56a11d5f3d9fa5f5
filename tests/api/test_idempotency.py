"""The same idempotency key and body get the same answer, on every POST, whatever changed since."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection, transaction
from django.urls import URLPattern

from notifications.core.api import schema
from notifications.core.api.urls import urlpatterns
from notifications.core.models import (
    Contact,
    IdempotencyKey,
    Notification,
    NotificationType,
    Producer,
    Recipient,
    ReplayJob,
    Schedule,
    Suppression,
    Template,
)
from notifications.core.rules.lane import Priority
from notifications.core.rules.templates import contents
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import api_keys, idempotency
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.api.conftest import Caller

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

_SALE = {"user_id": "maria", "type": "SALE", "priority": "P2", "content": {"body": "Half price"}}
_WORDS = [{"channel": "email", "title": "Ready", "body": "Your {{ dish }}"}]
_OUTSIDE = {
    "/v1/receipts/{provider}",
    "/v1/receipts/client",
    "/v1/recipients/{user_id}/client-tokens",
    "/v1/templates/{template_id}/preview",
    "/v1/bulk-jobs/dry-run",
    "/v1/attachments",
    "/v1/audience-uploads",
    "/v1/recipient-imports",
}
"""POST without a producer's key, those that store nothing, and the uploads of files."""


def _publish(body: str) -> None:
    words = contents.words(Channel.EMAIL, "en", title="Ready", body=body)
    versions.publish(versions.draft("ready", contents.content([words]), by="t"), by="t")


def _newer_template() -> None:
    _publish("Your {{ dish }} at {{ pickup }}")


def _other_priority() -> None:
    NotificationType.objects.update(priority=Priority.P3)
    notification_types.forget()


def _fewer_priorities() -> None:
    Producer.objects.update(priorities=[Priority.P0])
    api_keys.forget()


def _no_content() -> None:
    Producer.objects.update(may_send_content=False)
    api_keys.forget()


def _renamed_recipient() -> None:
    Recipient.objects.update(user_id="marie")


@pytest.mark.parametrize(
    ("change", "body"),
    [
        (_newer_template, {"template_id": "ready", "variables": {"dish": "soup"}}),
        (_other_priority, {"type": "ORDER", "priority": None}),
        (_fewer_priorities, {}),
        (_no_content, {}),
        (_renamed_recipient, {}),
    ],
)
@pytest.mark.usefixtures("maria")
def test_a_repeat_gets_the_first_answer_whatever_changed_since(
    caller: Caller, change: Callable[[], None], body: dict[str, Any]
) -> None:
    _publish("Your {{ dish }}")
    NotificationType.objects.create(name="ORDER", priority=Priority.P1)
    notification_types.forget()
    said = {**_SALE, **body, "idempotency_key": "k"}
    if "template_id" in body:
        del said["content"]
    batch = {"notifications": [{**said, "idempotency_key": "item"}, {"type": 1}]}
    first = caller.post("/v1/notifications", said)
    items = caller.post("/v1/notifications/batch", batch)
    whole = caller.post("/v1/notifications/batch", batch, Idempotency_Key="whole")
    assert (first.status_code, items.status_code, whole.status_code) == (202, 202, 202)
    change()
    again = caller.post("/v1/notifications", said)
    assert (again.status_code, again.json()) == (202, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    [item, _] = caller.post("/v1/notifications/batch", batch).json()["results"]
    accepted = items.json()["results"][0]["notification"]
    assert item == {"result": "duplicate", "notification": accepted}
    whole_again = caller.post("/v1/notifications/batch", batch, Idempotency_Key="whole")
    assert whole_again.json() == whole.json()
    assert whole_again.headers["Idempotent-Replayed"] == "true"
    assert Notification.objects.count() == 2


@pytest.mark.usefixtures("maria")
def test_a_header_key_on_a_batch_leaves_the_items_their_own_keys(caller: Caller) -> None:
    batch = {"notifications": [{**_SALE, "idempotency_key": "item-1"}, _SALE]}
    first = caller.post("/v1/notifications/batch", batch, Idempotency_Key="call-a").json()
    other = caller.post("/v1/notifications/batch", batch, Idempotency_Key="call-b").json()
    again = caller.post("/v1/notifications/batch", batch, Idempotency_Key="call-b").json()
    assert [each["result"] for each in first["results"]] == ["accepted", "accepted"]
    assert [each["result"] for each in other["results"]] == ["duplicate", "accepted"]
    assert other["results"][0]["notification"] == first["results"][0]["notification"]
    assert again == other
    assert Notification.objects.count() == 3


def _takes_post(found: URLPattern) -> bool:
    marks = str(found.pattern).startswith("v1/inbox/")  # a repeated mark changes nothing
    return not marks and hasattr(getattr(found.callback, "view_class", None), "post")


def test_every_post_of_a_producer_documents_the_header() -> None:
    posts = {
        path: operations["post"]
        for path, operations in schema.document()["paths"].items()
        if "post" in operations and path not in _OUTSIDE and not path.startswith("/v1/inbox/")
    }
    assert len(posts) == sum(map(_takes_post, urlpatterns)) - len(_OUTSIDE)
    without = [
        path
        for path, operation in posts.items()
        if "Idempotency-Key" not in {each["name"] for each in operation.get("parameters", [])}
    ]
    assert without == []


_SCHEDULE = {"name": "daily", "rrule": "FREQ=DAILY;BYHOUR=9", "notification": _SALE}
_POSTS: dict[str, tuple[object, Callable[[], int]]] = {
    "/v1/schedules": (_SCHEDULE, Schedule.objects.count),
    "/v1/templates": ({"template_id": "new", "texts": _WORDS}, Template.objects.count),
    "/v1/recipients/maria/contacts": (
        {"channel": "sms", "address": "+4915112345678"},
        Contact.objects.count,
    ),
    "/v1/suppressions": (
        {"channel": "email", "address": "no@example.com"},
        Suppression.objects.count,
    ),
    "/v1/dead-letters/replay": ({"reason": "permanent"}, ReplayJob.objects.count),
}


@pytest.mark.parametrize("path", _POSTS)
@pytest.mark.usefixtures("maria")
def test_a_repeated_post_changes_nothing_and_says_the_same(caller: Caller, path: str) -> None:
    body, count = _POSTS[path]
    first = caller.post(path, body, Idempotency_Key="k")
    assert first.status_code in {200, 201, 202}, first.content
    stored = count()
    again = caller.post(path, body, Idempotency_Key="k")
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    assert count() == stored
    other = caller.post(path, {}, Idempotency_Key="k")
    assert other.json()["code"] == "idempotency-key-reused"


def test_a_key_of_one_path_is_no_key_of_another(caller: Caller) -> None:
    body = {"template_id": "new", "texts": _WORDS}
    assert caller.post("/v1/templates", body, Idempotency_Key="k").status_code == 201
    other = caller.post("/v1/schedules", body, Idempotency_Key="k")
    assert other.json()["code"] == "idempotency-key-reused"


def test_a_refused_post_leaves_its_key_free(caller: Caller, maria: Recipient) -> None:
    path = "/v1/recipients/lisa/contacts"
    body = {"channel": "email", "address": "lisa@example.com"}
    assert caller.post(path, body, Idempotency_Key="k").status_code == 404
    assert not IdempotencyKey.objects.exists()
    Recipient.objects.filter(pk=maria.pk).update(user_id="lisa")
    assert caller.post(path, body, Idempotency_Key="k").status_code == 201


@pytest.mark.usefixtures("maria")
def test_a_kept_answer_shows_no_address(caller: Caller) -> None:
    path = "/v1/recipients/maria/contacts"
    body = {"channel": "email", "address": "second@example.com"}
    caller.post(path, body, Idempotency_Key="k")
    assert "second@example.com" not in str(IdempotencyKey.objects.get().response)


@pytest.mark.usefixtures("maria")
def test_a_key_past_its_time_is_free_again(caller: Caller) -> None:
    path = "/v1/recipients/maria/contacts"
    body = {"channel": "email", "address": "second@example.com"}
    caller.post(path, body, Idempotency_Key="k")
    with connection.cursor() as running:
        running.execute("UPDATE idempotency_key SET expires_at = now() - interval '1 second'")
    answer = caller.post(path, {**body, "primary": True}, Idempotency_Key="k")
    assert answer.status_code == 201
    assert "Idempotent-Replayed" not in answer.headers


@pytest.mark.parametrize("path", ["/v1/notifications", "/v1/schedules"])
@pytest.mark.usefixtures("maria")
def test_keys_of_the_service_itself_are_reserved(caller: Caller, path: str) -> None:
    assert caller.post(path, _SALE, Idempotency_Key="$replay-1").status_code == 422
    body = caller.post("/v1/notifications", {**_SALE, "idempotency_key": "$replay-1"})
    assert body.json()["errors"][0]["pointer"] == "/idempotency_key"


@pytest.mark.django_db(transaction=True)
def test_a_call_whose_key_is_taken_by_a_running_one_is_told_to_come_back(
    caller: Caller,
) -> None:
    body = {"template_id": "new", "texts": _WORDS}
    answers: list[Reply] = []

    def post() -> None:
        try:
            with connection.cursor() as running:
                running.execute("SET lock_timeout = 0")  # the session waits without end
            answers.append(caller.post("/v1/templates", body, Idempotency_Key="k"))
        finally:
            connection.close()

    with transaction.atomic():
        key = idempotency.IdempotencyKey(caller.producer.pk, caller.mode, "k")
        assert idempotency.take(key, b"x" * 16, patience=dt.timedelta(seconds=1)) is None
        other = threading.Thread(target=post)
        other.start()
        other.join()
    assert [each.status_code for each in answers] == [409]
    assert answers[0].headers["Retry-After"] == "1"
    assert not Template.objects.exists()
