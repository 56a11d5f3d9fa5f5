"""`/v1/webhook-endpoints`: URLs of the producer that learn of status changes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django.db.models import QuerySet

from notifications.core import clock
from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import NumberedPageQuery
from notifications.core.api.problems import raise_problem
from notifications.core.api.resource import Resource
from notifications.core.api.webhook_schemas import (
    WebhookAttemptLine,
    WebhookEndpointAnswer,
    WebhookEndpointChange,
    WebhookEndpointCreated,
    WebhookEndpointRequest,
    WebhookReplay,
    WebhookSecretRotated,
    WebhookSecretRotation,
    WebhookTestSent,
)
from notifications.core.models import WebhookAttempt, WebhookEndpoint, WebhookMessage
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.scopes import Scope
from notifications.core.rules.webhook_events import EndpointState
from notifications.core.store.postgres import audit
from notifications.core.webhooks import body, endpoints
from providers.errors import ForbiddenAddress

_CHANGERS: Final = Access(Scope.WEBHOOKS_WRITE, BOTH, "change_webhookendpoint")
_ENDPOINT: Final = {"endpoint_id": 65}
_URL: Final = "https://hooks.example.com/notifications"


def _own(call: Call) -> QuerySet[WebhookEndpoint]:
    return WebhookEndpoint.objects.filter(producer_id=call.key.producer_id, mode=call.key.mode)


def _fields(endpoint: WebhookEndpoint) -> Mapping[str, Any]:
    names = WebhookEndpointAnswer.model_fields
    return {name: getattr(endpoint, name) for name in names} | {"url": endpoint.url or None}


def _to_answer(endpoint: WebhookEndpoint) -> WebhookEndpointAnswer:
    return WebhookEndpointAnswer(**_fields(endpoint))


ENDPOINTS: Final = Resource(
    noun="webhook endpoint",
    path="v1/webhook-endpoints/<int:endpoint_id>",
    rows=_own,
    answer=WebhookEndpointAnswer,
    to_answer=_to_answer,
    tag="Webhooks",
)
ATTEMPTS: Final = Resource(
    noun="attempt",
    path=f"{ENDPOINTS.path}/attempts",
    rows=lambda call: WebhookAttempt.objects.filter(endpoint_id=ENDPOINTS.find(call).pk),
    answer=WebhookAttemptLine,
    tag=ENDPOINTS.tag,
)


@operation(
    "POST v1/webhook-endpoints",
    "Create a webhook endpoint",
    Access(Scope.WEBHOOKS_WRITE, BOTH, "add_webhookendpoint"),
    WebhookEndpointRequest,
    answers={201: WebhookEndpointCreated},
    tag=ENDPOINTS.tag,
    shows_secret=True,
    examples={
        "minimal": Example("All events", body={"url": _URL}),
        "usual": Example(
            "Two events, short retries; a repeat gets the same secret",
            headers={"Idempotency-Key": "webhook-orders-2026-11"},
            body={
                "url": "https://hooks.example.com/notifications",
                "events": ["notification.delivered", "notification.failed"],
                "preset": "brief",
            },
        ),
    },
)
def create_webhook_endpoint(call: Call, wanted: WebhookEndpointRequest) -> WebhookEndpointCreated:
    """Create an endpoint for the status changes of the key's producer and mode.

    The response shows the signing secret once. A producer has at most 20 endpoints in a mode.
    """
    _check_url(wanted.url)
    if endpoints.is_full(call.key.producer_id, call.key.mode):
        said = f"a producer has at most {endpoints.MOST} webhook endpoints"
        raise_problem(Problem(Kind.CONFLICT, said))
    with call.changes() as made:
        endpoint = WebhookEndpoint.objects.create(
            producer_id=call.key.producer_id,
            mode=call.key.mode,
            url=wanted.url,
            events=sorted(set(wanted.events)),
            preset=wanted.preset.value,
        )
        made.append(endpoint)
    secret = endpoints.secrets_of(endpoint, now=clock.now())[0].text()
    return WebhookEndpointCreated(**_fields(endpoint), secret=secret)


@ENDPOINTS.list(
    "List webhook endpoints, newest first",
    Access(Scope.WEBHOOKS_READ, BOTH, "view_webhookendpoint"),
    NumberedPageQuery,
    examples={
        "minimal": Example("The endpoints of the producer"),
        "usual": Example("Ten endpoints after a page", query={"limit": 10, "cursor": 4711}),
    },
)
def list_webhook_endpoints(call: Call, _query: NumberedPageQuery) -> QuerySet[WebhookEndpoint]:
    """List the endpoints of the key's producer and mode."""
    return _own(call)


@ENDPOINTS.read(
    "Read a webhook endpoint",
    Access(Scope.WEBHOOKS_READ, BOTH, "view_webhookendpoint"),
    examples={
        "minimal": Example("An endpoint", path=_ENDPOINT),
        "test": Example("The state and the failures", path={"endpoint_id": 65}),
    },
)
def get_webhook_endpoint(_call: Call, endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """Return an endpoint with its state and its failures."""
    return endpoint


@ENDPOINTS.change(
    "PATCH",
    "Change, pause, resume or disable a webhook endpoint",
    _CHANGERS,
    WebhookEndpointChange,
    locks=True,
    examples={
        "minimal": Example("Resume a paused endpoint", path=_ENDPOINT, body={"state": "active"}),
        "usual": Example(
            "Another URL and filter",
            path={"endpoint_id": 65},
            body={"url": f"{_URL}/v2", "events": ["notification.failed"]},
        ),
    },
)
def change_webhook_endpoint(
    _call: Call, endpoint: WebhookEndpoint, wanted: WebhookEndpointChange
) -> None:
    """Change an endpoint.

    An endpoint whose calls fail for an hour is paused, and an endpoint that answers 410 is
    disabled; `"state": "active"` lets messages leave again.
    """
    if wanted.url is not None:
        _check_url(wanted.url)
        if not endpoint.url:
            said = "the endpoint of webhook_url in requests has no URL of its own"
            raise_problem(Problem(Kind.CONFLICT, said, (FieldError("/url", said),)))
    _change(endpoint, wanted)


@ENDPOINTS.change(
    "DELETE",
    "Delete a webhook endpoint",
    Access(Scope.WEBHOOKS_WRITE, BOTH, "delete_webhookendpoint"),
    answers={204: None},
    locks=True,
    examples={
        "minimal": Example("Delete an endpoint", path=_ENDPOINT),
        "usual": Example("Waiting messages are not sent", path={"endpoint_id": 65}),
    },
)
def delete_webhook_endpoint(_call: Call, endpoint: WebhookEndpoint) -> None:
    """Delete an endpoint; waiting messages are not sent.

    409 for the endpoint of `webhook_url` in requests: disable that endpoint instead.
    """
    if not endpoint.url:
        said = "the endpoint of webhook_url in requests cannot be deleted; disable it"
        raise_problem(Problem(Kind.CONFLICT, said))
    endpoints.remove(endpoint)


@ENDPOINTS.change(
    "POST /secrets",
    "Rotate the signing secret of a webhook endpoint",
    _CHANGERS,
    WebhookSecretRotation,
    answers={201: WebhookSecretRotated},
    locks=True,
    shows_secret=True,
    examples={
        "minimal": Example("Both secrets sign for a day", path=_ENDPOINT, body={}),
        "usual": Example(
            "The former secret ends at once",
            path={"endpoint_id": 65},
            headers={"Idempotency-Key": "webhook-rotation-2026-11"},
            body={"overlap_hours": 0},
        ),
    },
)
def rotate_webhook_secret(
    _call: Call, endpoint: WebhookEndpoint, wanted: WebhookSecretRotation
) -> WebhookSecretRotated:
    """Create a new secret; the response shows the secret once.

    The previous secret signs too for `overlap_hours`: update the receiver within this time. A
    secret before the previous one ends at once.
    """
    secret = endpoints.rotate(endpoint, overlap=dt.timedelta(hours=wanted.overlap_hours))
    return WebhookSecretRotated(
        secret=secret.text(), previous_secret_until=endpoint.previous_secret_until
    )


@ENDPOINTS.change(
    "POST /replay",
    "Send the messages since an instant again",
    _CHANGERS,
    WebhookReplay,
    answers={202: WebhookEndpointAnswer},
    locks=True,
    examples={
        "minimal": Example(
            "The messages since an instant", path=_ENDPOINT, body={"since": "2026-11-20T00:00:00Z"}
        ),
        "usual": Example(
            "After an outage of the receiver",
            path={"endpoint_id": 65},
            headers={"Idempotency-Key": "outage-2026-11-20"},
            body={"since": "2026-11-20T18:30:00+01:00"},
        ),
    },
)
def replay_webhooks(_call: Call, endpoint: WebhookEndpoint, wanted: WebhookReplay) -> None:
    """Send the messages of all status changes since an instant again, also those never made.

    A repeated message has the same `webhook-id`, so a receiver that keeps the ids drops it. A
    further call replaces a replay that runs. 409 for a disabled endpoint.
    """
    _refuse_disabled(endpoint)
    endpoints.replay(endpoint.pk, since=wanted.since)


@ENDPOINTS.change(
    "POST /test",
    "Send a test event to a webhook endpoint",
    _CHANGERS,
    answers={202: WebhookTestSent},
    examples={
        "minimal": Example("A test event", path=_ENDPOINT),
        "usual": Example(
            "A repeat sends no further event",
            path={"endpoint_id": 65},
            headers={"Idempotency-Key": "webhook-test-1"},
        ),
    },
)
def test_webhook_endpoint(call: Call, endpoint: WebhookEndpoint) -> WebhookTestSent:
    """Send an event of the type `webhook.test`; the list of attempts has the result.

    409 for a disabled endpoint, and for the endpoint of `webhook_url` in requests.
    """
    _refuse_disabled(endpoint)
    if not endpoint.url:
        said = "the endpoint of webhook_url in requests has no URL to test"
        raise_problem(Problem(Kind.CONFLICT, said))
    message = endpoints.send_test(endpoint)
    audit.record(call.by, call.operation, endpoint, after={"message_id": str(message.pk)})
    return WebhookTestSent(message_id=message.pk)


def _to_lines(attempts: Sequence[WebhookAttempt]) -> Iterable[WebhookAttemptLine]:
    messages = WebhookMessage.objects.in_bulk({each.message_id for each in attempts})
    return [_to_line(each, messages.get(each.message_id)) for each in attempts]


@ATTEMPTS.list(
    "List the calls of a webhook endpoint, newest first",
    Access(Scope.WEBHOOKS_READ, BOTH, "view_webhookattempt"),
    NumberedPageQuery,
    to_lines=_to_lines,
    examples={
        "minimal": Example("The latest calls", path=_ENDPOINT),
        "usual": Example(
            "Ten calls after a page", path={"endpoint_id": 65}, query={"limit": 10, "cursor": 4711}
        ),
    },
)
def list_webhook_attempts(call: Call, _query: NumberedPageQuery) -> QuerySet[WebhookAttempt]:
    """List the calls of the last 7 days."""
    return ATTEMPTS.rows(call)


def _change(endpoint: WebhookEndpoint, wanted: WebhookEndpointChange) -> None:
    changes: dict[str, Any] = wanted.model_dump(
        mode="json", exclude={"state"}, exclude_none=True, exclude_unset=True
    )
    if "events" in changes:
        changes["events"] = sorted(set(changes["events"]))
    if changes:
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**changes)
    match wanted.state:
        case "active":
            endpoints.resume(endpoint.pk)
        case "paused":
            endpoints.pause(endpoint.pk, reason="Paused by the producer.")
        case "disabled":
            endpoints.disable(endpoint.pk, reason="Disabled by the producer.")
        case None:
            pass


def _check_url(url: str) -> None:
    """Refuse a URL that the service must not call.

    Raises:
        ProblemError: the URL is not allowed (422).
    """
    try:
        body.check_url(url)
    except ForbiddenAddress as error:
        raise_problem(Problem(Kind.INVALID, f"/url: {error}", (FieldError("/url", str(error)),)))


def _refuse_disabled(endpoint: WebhookEndpoint) -> None:
    if endpoint.state == EndpointState.DISABLED:
        said = "the endpoint is disabled: set the state to active first"
        raise_problem(Problem(Kind.CONFLICT, said))


def _to_line(attempt: WebhookAttempt, message: WebhookMessage | None) -> WebhookAttemptLine:
    return WebhookAttemptLine(
        id=attempt.pk,
        message_id=attempt.message_id,
        type=message.type if message else "",
        notification_id=message.notification_id if message else None,
        delivery_id=message.delivery_id if message else None,
        bulk_job_id=message.bulk_job_id if message else None,
        number=attempt.number,
        started_at=attempt.started_at,
        latency_ms=attempt.latency_ms,
        http_status=attempt.http_status,
        error=attempt.error,
        response=attempt.response,
        message_state=message.state if message else "",
    )
