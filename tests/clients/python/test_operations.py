"""Each public operation has a method, which the real service understands, sync and async."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from notifications.core.api import schema
from notifications.core.clock import now
from notify_client import Client, NotFound, PreconditionFailed
from tests.clients.python.blocking import blocking
from tests.clients.python.relay import Relay
from tests.clients.service import Service

_WITHOUT_METHOD: Final = {
    "take_client_receipts": "the app of a recipient calls it, with a token of its own",
    "take_receipts": "providers call it, with signatures of their own",
}
_RUNS: Final = ("sync", "async")
MAIL: Final[dict[str, Any]] = {
    "type": "HELLO",
    "priority": "P2",
    "channels": ["email"],
    "content": {"title": "Hello", "body": "Hello"},
}
_TEXT: Final = {"channel": "push", "locale": "en", "title": "Hi", "body": "Good evening"}


@pytest.fixture(params=_RUNS)
def run(request: pytest.FixtureRequest) -> str:
    """Which client."""
    return str(request.param)


@pytest.fixture
def client(run: str, relay: Relay, service: Service) -> Iterator[Any]:
    """Either client with a key of its own; the relay notes what it asks for."""
    key = service.own_keys[_RUNS.index(run)]
    if run == "sync":
        with Client(relay.url, key) as plain:
            yield plain
        return
    with asyncio.Runner() as runner, closing(blocking(relay.url, key, runner)) as wrapped:
        yield wrapped


def _operation(method: str, target: str) -> str:
    path = urlsplit(target).path
    found = [
        operation["operationId"]
        for template, operations in schema.document()["paths"].items()
        for verb, operation in operations.items()
        if verb == method.lower() and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
    ]
    literal = [each for each in found if "{" not in path]
    return literal[-1] if literal else ""


def _notifications(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    later = now() + dt.timedelta(days=2)
    to = {"email": f"{run}@example.com"}
    first = client.send(to=to, idempotency_key=f"{run}-first", **MAIL)
    again = client.send(to=to, idempotency_key=f"{run}-first", **MAIL)
    assert again == first
    user_id = first["recipient"]["user_id"]
    file = client.notifications.upload_attachment(b"%PDF-1.7", media_type="application/pdf")
    with_file = {**MAIL, "attachments": [{"id": file["id"], "name": "invoice.pdf"}]}
    sent = client.send(to=to, **with_file)["notification_id"]
    assert client.notifications.get(sent)["attachments"][0]["sha256"] == file["sha256"]
    batch = client.notifications.send_batch([{**MAIL, "user_id": user_id}, {"type": "X"}])
    assert batch["summary"] == {"accepted": 1, "duplicate": 0, "rejected": 1}
    planned = client.send(user_id=user_id, scheduled_at=later, **MAIL)["notification_id"]
    later += dt.timedelta(hours=1)
    moved = client.notifications.reschedule(planned, scheduled_at=later)
    assert dt.datetime.fromisoformat(moved["scheduled_at"]) == later
    assert client.notifications.cancel(planned)["status"] == "cancelled"
    assert client.notifications.get(planned)["status"] == "cancelled"
    withdrawn = client.notifications.withdraw(planned)
    assert [each["withdrawal"] for each in withdrawn["deliveries"]] == ["not_sent"]
    _cancel_jobs(client, run)
    listed = client.notifications.list(user_id=user_id, type=["HELLO"], limit=1)
    assert next(each["notification_id"] for each in listed) == planned
    assert len(list(listed)) == 4
    assert [len(page["results"]) for page in listed.pages()][:3] == [1, 1, 1]
    read = client.notifications.changes(since=now() - dt.timedelta(minutes=1), limit=1)
    assert len(read["results"]) == 1
    after = client.notifications.changes(cursor=read["next"])
    assert read["results"][0] not in after["results"]
    figures = client.analytics(metric="accepted", by=["channel"], step="total")
    assert (figures["unit"], figures["buckets"]) == ("deliveries", [])
    found = client.search(address=to["email"])
    assert {each["user_id"] for each in found} == {user_id}


def _cancel_jobs(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    job = client.notifications.cancel_many(metadata={"run": run})["id"]
    assert client.cancel_jobs.get(job)["id"] == job
    assert job in [each["id"] for each in client.cancel_jobs.list()]
    assert client.cancel_jobs.stop(job)["finished_at"]


def _switches(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    made = client.switches.set(kind="type", value=f"TYPE_{run}".upper(), reason="a test")["id"]
    assert client.switches.get(made)["id"] == made
    assert made in [each["id"] for each in client.switches.list()]
    assert client.switches.resume(made)["resumed_at"]


def _schedules(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    notification = {**MAIL, "user_id": "maria"}
    made = client.schedules.create(name=run, rrule="FREQ=DAILY", notification=notification)
    assert made["id"] in [each["id"] for each in client.schedules.list()]
    assert client.schedules.get(made["id"]) == made
    read, etag = client.schedules.get_tagged(made["id"])
    assert read == made
    assert client.schedules.get_tagged(made["id"], if_none_match=etag) is None
    assert client.schedules.change(made["id"], if_match=etag, paused=True)["paused"]
    with pytest.raises(PreconditionFailed):
        client.schedules.delete(made["id"], if_match=etag)
    assert client.schedules.delete(made["id"]) is None
    with pytest.raises(NotFound):
        client.schedules.get(made["id"])


def _recipients(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    name = f"{run} ü%2F?#"
    contact = {"channel": "email", "address": f"put-{run}@example.com"}
    client.recipients.put(name, locale="de", timezone="Europe/Berlin", contacts=[contact])
    with pytest.raises(PreconditionFailed):
        client.recipients.put(name, only_create=True, locale="fr")
    person, etag = client.recipients.get_tagged(name)
    assert person == client.recipients.get(name)
    assert client.recipients.get_tagged(name, if_none_match=etag) is None
    assert client.recipients.change(name, if_match=etag, locale="es")["locale"] == "es"
    with pytest.raises(PreconditionFailed):
        client.recipients.change(name, if_match=etag, locale="fr")
    added = client.recipients.add_contact(name, channel="sms", address="+4915112345678")
    assert client.recipients.remove_contact(name, added["id"]) is None
    hook = client.recipients.add_contact(name, channel="webhook", address="https://example.com/h")
    assert client.recipients.client_token(name, expires_in_seconds=60)["token"]
    assert client.recipients.web_push_key() is None  # the service under test has no web push
    assert client.recipients.revoke_client_tokens(name) is None
    rotated = client.recipients.rotate_signing_secret(name, hook["id"], end_overlap=True)
    fingerprints = client.recipients.signing_secrets(name, hook["id"])["secrets"]
    assert rotated["fingerprint"] in [each["fingerprint"] for each in fingerprints]
    assert [each["user_id"] for each in client.recipients.list(user_id=[name])] == [name]
    assert list(client.recipients.changes(name))
    client.recipients.put_preferences(name, channels_off=["sms"])
    wishes, etag = client.recipients.preferences_tagged(name)
    assert wishes == client.recipients.preferences(name)
    assert client.recipients.preferences(name, language="de")["language"] == "de"
    changed = client.recipients.change_preferences(name, if_match=etag, caps={"sms": "1/day"})
    assert (changed["channels_off"], changed["caps"]) == (["sms"], {"sms": "1/day"})
    job = client.recipients.erase(name)
    assert client.recipients.erasure_job(job["id"])["id"] == job["id"]


def _inbox(client: Any, service: Service, run: str) -> None:  # noqa: ANN401 - either client
    who = f"inbox-{run}"
    first, second = service.messages[who]
    page, etag = client.inbox.page_tagged(who)
    assert page == client.inbox.page(who)
    assert client.inbox.page_tagged(who, if_none_match=etag) is None
    listed = client.inbox.list(who, limit=1, category="orders")
    assert {first, second} <= {each["message_id"] for each in listed}
    _, etag = client.inbox.unread_count_tagged(who)
    assert client.inbox.unread_count_tagged(who, if_none_match=etag) is None
    assert client.inbox.mark_seen(who, first)["version"] == page["version"] + 1
    assert client.inbox.changes(who, since=page["version"])["reset"] is False
    unread = client.inbox.mark_read(who, first)["counts"]["unread"]
    assert client.inbox.mark_unread(who, first)["counts"]["unread"] == unread + 1
    assert client.inbox.record_action(who, first, "accept")["counts"]["unread"] == unread
    client.inbox.archive(who, first)
    assert [each["message_id"] for each in client.inbox.list(who, tab="archived")] == [first]
    client.inbox.unarchive(who, first)
    client.inbox.snooze(who, first, until=now() + dt.timedelta(days=1))
    client.inbox.unsnooze(who, first)
    unknown = str(uuid4())
    for many in (client.inbox.mark_many_seen, client.inbox.mark_many_read):
        assert many(who, [second, unknown])["unknown"] == [unknown]
    assert client.inbox.archive_many(who, [second])["unknown"] == []
    version = client.inbox.unread_count(who)["version"]
    for limits in ({"version": version}, {"category": "orders"}):
        client.inbox.mark_all_seen(who, **limits)
    assert client.inbox.mark_all_read(who, category="offers")["version"] >= version
    assert client.inbox.archive_all(who, category="offers")["counts"]["total"] > 0
    client.inbox.delete(who, first)
    with pytest.raises(NotFound):
        client.inbox.mark_read(who, first)


def _suppressions(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    address = f"gone-{run}@example.com"
    entry = client.suppressions.add(channel="email", address=address, note="asked")
    assert client.suppressions.get(entry["id"]) == entry
    assert [*client.suppressions.list(channel=["email"], address=address)] == [entry]
    assert address in client.suppressions.export_csv(channel=["email"])
    file = f"channel,address\nemail,csv-{run}@example.com\n".encode()
    assert client.suppressions.import_csv(file)["added"] == 1
    assert client.suppressions.undo(entry["id"], note="came back") is None
    assert client.suppressions.get(entry["id"])["undo_note"] == "came back"


def _templates(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    name = f"hello_{run}"
    assert client.templates.create(template_id=name, texts=[_TEXT])["version"] == 1
    client.templates.create(template_id=name, texts=[{**_TEXT, "body": "Good morning"}])
    _, etag = client.templates.get_tagged(name)
    assert client.templates.publish(name, 1, if_match=etag)["state"] == "published"
    with pytest.raises(PreconditionFailed):
        client.templates.publish(name, 2, if_match=etag)
    client.templates.publish(name, 2)
    assert "+" in client.templates.diff(name, old=1, new=2)["diff"]
    assert client.templates.roll_back(name, 1)["version"] == 3
    assert client.templates.get(name)["current_version"] == 3
    assert client.templates.version(name, 2)["texts"][0]["body"] == "Good morning"
    assert client.templates.preview(name, channel="push")
    files = client.templates.files(name)["files"]
    assert files["push.en.txt"].endswith("Hello\n") or files
    assert client.templates.put_files(name, files)["effect"] == "unchanged"
    assert name in [each["template_id"] for each in client.templates.list()]


def _audiences(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    name, topic = f"plan_{run}", f"news-{run}"
    assert client.attributes.define(name, kind="text")["kind"] == "text"
    assert client.attributes.get(name) in list(client.attributes.list())
    client.recipients.put(f"fan-{run}", attributes={name: "pro"})
    client.topics.subscribe(topic, f"fan-{run}")
    assert client.topics.subscribe_many(topic, [f"fan-{run}", "gone"])["errors"]
    assert client.recipients.topics(f"fan-{run}") == {"topics": [topic]}
    assert [each["user_id"] for each in client.topics.subscribers(topic)] == [f"fan-{run}"]
    assert client.topics.get(topic)["subscribers"] == 1
    assert topic in [each["topic"] for each in client.topics.list()]
    fans = {"and": [{"topic": topic}, {"attribute": name, "is": "pro"}]}
    assert client.audiences.estimate(fans)["count"] == 1
    made = client.audiences.create(name=f"fans-{run}", audience=fans)
    assert client.audiences.get(made["id"]) == made
    assert made in list(client.audiences.list())
    assert client.audiences.put(made["id"], name=f"fans-{run}", audience={"topic": topic})["words"]
    snapshot = client.audiences.take_snapshot(audience={"audience": f"fans-{run}"})["id"]
    assert client.audiences.get_snapshot(snapshot)["id"] == snapshot
    assert snapshot in [each["id"] for each in client.audiences.snapshots()]
    assert client.audiences.delete_snapshot(snapshot) is None
    lines = f"user_id,locale\nfan-{run},de\n".encode()
    imported = client.recipients.import_csv(lines, dry_run=True)
    assert imported["not_understood"] == 0
    upload = client.audiences.upload(f"user_id\nfan-{run}\n".encode(), name="a file")
    assert upload["members"] == 1
    assert client.audiences.get_upload(upload["id"]) in list(client.audiences.uploads())
    assert client.audiences.delete_upload(upload["id"]) is None
    assert client.audiences.delete(made["id"]) is None
    assert client.topics.unsubscribe_many(topic, [f"fan-{run}"])["changed"] == 1
    assert client.topics.unsubscribe(topic, f"fan-{run}") is None
    assert client.topics.delete(topic) is None


def _bulk_jobs(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    client.recipients.put(f"reader-{run}")
    job = {
        "name": f"news-{run}",
        "audience": {"user_ids": [f"reader-{run}"]},
        "type": "NEWS",
        "priority": "P3",
        "template_id": f"hello_{run}",
        "scheduled_at": now() + dt.timedelta(days=1),
    }
    assert client.bulk_jobs.dry_run(**job)["examined"] == 1
    made = client.bulk_jobs.create(**job)["id"]
    assert client.bulk_jobs.get(made)["state"] == "scheduled"
    assert made in [each["id"] for each in client.bulk_jobs.list()]
    assert client.bulk_jobs.pause(made, reason="a test")["state"] == "paused"
    assert client.bulk_jobs.resume(made)["state"] == "scheduled"
    assert client.bulk_jobs.cancel(made)["state"] == "cancelled"


def _series(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    name, user_id = f"onboarding-{run}", f"reader-{run}"
    step = {
        "step": "send",
        "name": "first",
        "type": "NEWS",
        "priority": "P3",
        "template_id": f"hello_{run}",
    }
    definition = {"steps": [{"step": "wait", "days": 1}, step]}
    assert client.series.create(name=name, definition=definition)["state"] == "draft"
    client.series.change(name, definition)
    assert client.series.publish(name)["state"] == "active"
    assert client.series.get(name) in list(client.series.list())
    enrolled = client.series.enrol(name, [{"user_id": user_id}])["results"][0]["enrolment_id"]
    assert [each["id"] for each in client.series.enrolments(name)] == [enrolled]
    assert client.series.enrolment(name, enrolled)["state"] == "running"
    assert client.series.exit(name, enrolled)["state"] == "exited"
    assert client.series.pause(name)["state"] == "paused"
    assert client.series.resume(name)["state"] == "active"
    assert client.series.archive(name)["state"] == "archived"
    event = {"name": "order_paid", "user_id": user_id}
    assert client.events.create([event])["results"][0]["result"] == "accepted"


def _operations(client: Any, service: Service, run: str) -> None:  # noqa: ANN401 - either client
    first, second, third = service.letters[_RUNS.index(run) :: 2]
    assert client.dead_letters.get(first)["id"] == first
    assert first in [each["id"] for each in client.dead_letters.list(reason=["permanent"])]
    assert client.dead_letters.discard(first)["resolution"]
    job = client.dead_letters.replay(ids=[second, third])
    assert client.dead_letters.replay_job(job["id"])["id"] == job["id"]
    assert job["id"] in [each["id"] for each in client.dead_letters.replay_jobs()]
    alert = service.alerts[_RUNS.index(run)]
    assert alert in [each["id"] for each in client.alerts.list()]
    assert client.alerts.acknowledge(alert, minutes=30, note="seen")["note"] == "seen"
    assert client.alerts.resolve(alert)["resolved_at"]
    _switches(client, run)
    assert [each["producer"] for each in client.budgets.list()] == [None]
    assert client.costs(by="country")["lines"] == []
    assert client.brand.put(name="Orders", color="#b91c1c")["is_own"]
    client.brand.delete()
    assert client.brand.get()["name"] == ""
    me = client.me()
    assert me["producer"] == "orders"
    assert client.rotate_key(overlap_hours=24)["prefix"] != me["key_prefix"]


def _webhook_endpoints(client: Any, run: str) -> None:  # noqa: ANN401 - either client
    made = client.webhook_endpoints.create(url=f"https://hooks.example.com/{run}")
    number = made["id"]
    assert number in [each["id"] for each in client.webhook_endpoints.list()]
    assert client.webhook_endpoints.change(number, state="paused")["state"] == "paused"
    assert client.webhook_endpoints.get(number)["state"] == "paused"
    rotated = client.webhook_endpoints.rotate_secret(number, overlap_hours=1)
    assert rotated["secret"] != made["secret"]
    assert client.webhook_endpoints.replay(number, since=now())["id"] == number
    assert client.webhook_endpoints.send_test(number)["message_id"]
    assert list(client.webhook_endpoints.attempts(number)) == []
    assert client.webhook_endpoints.delete(number) is None
    with pytest.raises(NotFound):
        client.webhook_endpoints.get(number)


def test_each_operation_has_a_method(client: Any, run: str, relay: Relay, service: Service) -> None:  # noqa: ANN401 - either client
    for part in (
        *(_notifications, _schedules, _recipients, _suppressions, _templates),
        _webhook_endpoints,
        *(_audiences, _bulk_jobs, _series),
    ):
        part(client, run)
    _operations(client, service, run)
    _inbox(client, service, run)
    public = {
        operation["operationId"]
        for operations in schema.document()["paths"].values()
        for operation in operations.values()
    }
    assert {_operation(each.method, each.target) for each in relay.seen} == public - set(
        _WITHOUT_METHOD
    )


def test_each_post_has_an_idempotency_key_of_its_own(
    client: Any,  # noqa: ANN401 - either client
    run: str,
    relay: Relay,
) -> None:
    for _ in range(2):
        told = client.send(to={"email": f"keys-{run}@example.com"}, **MAIL)
        client.notifications.cancel(told["notification_id"])
    keys = [each.key for each in relay.seen]
    assert all(keys)
    assert len(set(keys)) == 4


def test_both_clients_have_the_same_methods() -> None:
    def methods(module: str) -> Callable[[Any], set[str]]:
        return lambda client: {
            f"{name}.{each}"
            for name, part in {"": client, **vars(client)}.items()
            if type(part).__module__.startswith(f"notify_client.{module}")
            for each in dir(part)
            if not each.startswith("_")
        }

    with asyncio.Runner() as runner:
        pair = blocking("http://127.0.0.1", "nk_test_x", runner)._inner
    plain = Client("http://127.0.0.1", "nk_test_x")
    assert methods("_sync")(plain) == methods("_async")(pair)
    assert "notifications.send" in methods("_sync")(plain)
