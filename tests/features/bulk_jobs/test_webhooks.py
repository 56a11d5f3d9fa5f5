"""Webhook endpoints of the producer learn of the changes of a bulk job."""

from __future__ import annotations

import orjson
import pytest

from notifications.core import clock
from notifications.core.api.webhook_events import BulkJobEvent, NotificationEvent
from notifications.core.intake.validation import Caller
from notifications.core.models import BulkJob, WebhookEndpoint, WebhookMessage
from notifications.core.rules.lane import Mode
from notifications.core.webhooks import calls, endpoints, fan_out
from notifications.features.bulk_jobs import changes
from notify_client import webhooks as client
from tests.features.bulk_jobs.conftest import NewJob, expand_all, new_job, wide_lanes
from tests.journey import Reach
from tests.providers.fakes import HttpFake
from tests.webhooks.conftest import _private_addresses, fake, make_fake

__all__ = ["_private_addresses", "fake", "make_fake", "new_job", "wide_lanes"]
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("outbox"),
]


def _endpoint(caller: Caller, url: str, **fields: object) -> WebhookEndpoint:
    columns = {"mode": caller.mode, "url": url, **fields}
    return WebhookEndpoint.objects.create(producer_id=caller.producer_id, **columns)


def _events(endpoint: WebhookEndpoint) -> list[str]:
    made = WebhookMessage.objects.filter(endpoint_id=endpoint.pk).order_by("occurred_at")
    return [each.removeprefix("bulk_job.") for each in made.values_list("type", flat=True)]


def test_each_change_is_one_signed_message(
    caller: Caller, new_job: NewJob, reach: Reach, fake: HttpFake
) -> None:
    endpoint = _endpoint(caller, fake.url)
    reach("u1", email="u1@sandbox.example")
    reach("u2")
    job = new_job(metadata={"campaign": 48})
    for _ in range(2):
        changes.pause(job.pk, by="key", reason="The price is wrong.")
    for _ in range(2):
        changes.resume(job.pk, by="key")
    expand_all(job)
    for _ in range(2):
        changes.cancel(job.pk, by="key")
    told = ["created", "started", "paused", "resumed", "finished", "cancelled"]
    assert _events(endpoint) == told
    calls.work_off()
    secrets = [each.text() for each in endpoints.secrets_of(endpoint, now=clock.now())]
    bodies = {}
    for request in fake.requests:
        event = client.verify(request.body, request.headers, secrets)
        bodies[event["type"]] = BulkJobEvent.model_validate_json(request.body, strict=False)
    assert bodies.keys() == {f"bulk_job.{each}" for each in told}
    paused = bodies["bulk_job.paused"].data
    assert (paused.bulk_job_id, paused.name, paused.reason) == (
        job.pk,
        job.name,
        "The price is wrong.",
    )
    assert paused.metadata == {"campaign": 48}
    progress = bodies["bulk_job.finished"].data.progress
    assert (progress.examined, progress.accepted, progress.left_out) == (2, 1, {"no_contact": 1})


def test_an_aborted_job_gives_the_reason(caller: Caller, new_job: NewJob, fake: HttpFake) -> None:
    endpoint = _endpoint(caller, fake.url, events=["bulk_job.aborted"])
    changes.abort(new_job().pk, reason="bounced: 9 % of 100 sent messages")
    assert WebhookMessage.objects.get(endpoint_id=endpoint.pk).reason.startswith("bounced: 9 %")


def test_only_endpoints_of_the_producer_and_mode_that_want_the_event_learn_of_a_job(
    caller: Caller, new_job: NewJob, fake: HttpFake
) -> None:
    wants = _endpoint(caller, fake.url, events=["bulk_job.created"])
    _endpoint(caller, f"{fake.url}/other", events=["notification.sent"])
    _endpoint(caller, f"{fake.url}/test", mode=Mode.TEST)
    _endpoint(caller, f"{fake.url}/off", state="disabled")
    _endpoint(caller, "")
    new_job()
    assert [each.endpoint_id for each in WebhookMessage.objects.all()] == [wants.pk]


def test_a_deleted_job_ends_the_message(caller: Caller, new_job: NewJob, fake: HttpFake) -> None:
    _endpoint(caller, fake.url, events=["bulk_job.created"])
    new_job()
    BulkJob.objects.all().delete()
    calls.work_off()
    assert fake.requests == []
    assert WebhookMessage.objects.get().state == "failed"


def test_a_status_change_has_the_documented_body(
    caller: Caller, new_job: NewJob, reach: Reach, fake: HttpFake
) -> None:
    _endpoint(caller, fake.url, events=["notification.accepted"])
    reach("u1", email="u1@sandbox.example")
    fan_out.work_off()
    expand_all(new_job())
    while fan_out.work_off():
        pass
    calls.work_off()
    [request] = fake.requests
    assert orjson.loads(request.body)["type"] == "notification.accepted"
    NotificationEvent.model_validate_json(request.body, strict=False)
