"""`/v1/webhook-endpoints`: URLs of the producer that learn of status changes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api import schema
from notifications.core.api.authentication import actor_of, key_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import (
    NumberedPageQuery,
    newest_page,
    newest_rows,
    page,
    parse_query,
)
from notifications.core.api.problems import raise_problem
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
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.webhook_events import EndpointState
from notifications.core.store.postgres import audit
from notifications.core.webhooks import body, endpoints
from providers.errors import ForbiddenAddress

_TAGS: Final = ["Webhooks"]


class WebhookEndpointListView(BaseView):
    """`/v1/webhook-endpoints`: create and list endpoints."""

    @extend_schema(
        operation_id="create_webhook_endpoint",
        summary="Create a webhook endpoint",
        request=WebhookEndpointRequest,
        responses={201: WebhookEndpointCreated},
        tags=_TAGS,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create an endpoint for the status changes of the key's producer and mode.

        The response shows the signing secret once. A producer has at most 20 endpoints in a mode.
        """
        wanted, key = parse_body(request.data, WebhookEndpointRequest), key_of(request)
        _check_url(wanted.url)
        if endpoints.is_full(key.producer_id, key.mode):
            said = f"a producer has at most {endpoints.MOST} webhook endpoints"
            raise_problem(Problem(Kind.CONFLICT, said))
        with audit.changes(actor_of(request), "create_webhook_endpoint") as made:
            endpoint = WebhookEndpoint.objects.create(
                producer_id=key.producer_id,
                mode=key.mode,
                url=wanted.url,
                events=sorted(set(wanted.events)),
                preset=wanted.preset.value,
            )
            made.append(endpoint)
        secret = endpoints.secrets_of(endpoint, now=clock.now())[0].text()
        told = WebhookEndpointCreated(**_fields(endpoint), secret=secret)
        return _secret_response(told.to_json())

    @extend_schema(
        operation_id="list_webhook_endpoints",
        summary="List webhook endpoints, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(WebhookEndpointAnswer)},
        tags=_TAGS,
    )
    def get(self, request: Request) -> Response:
        """List the endpoints of the key's producer and mode."""
        query = parse_query(request, NumberedPageQuery)
        return newest_page(request, query, _endpoints(request), _to_answer)


class WebhookEndpointDetailView(BaseView):
    """`/v1/webhook-endpoints/{endpoint_id}`: read, change and delete an endpoint."""

    @extend_schema(
        operation_id="get_webhook_endpoint",
        summary="Read a webhook endpoint",
        responses={200: WebhookEndpointAnswer},
        tags=_TAGS,
    )
    def get(self, request: Request, endpoint_id: int) -> Response:
        """Return an endpoint with its state and its failures."""
        return Response(_to_answer(_get_endpoint(request, endpoint_id)))

    @extend_schema(
        operation_id="change_webhook_endpoint",
        summary="Change, pause, resume or disable a webhook endpoint",
        request=WebhookEndpointChange,
        responses={200: WebhookEndpointAnswer},
        tags=_TAGS,
    )
    def patch(self, request: Request, endpoint_id: int) -> Response:
        """Change an endpoint.

        An endpoint whose calls fail for an hour is paused, and an endpoint that answers 410 is
        disabled; `"state": "active"` lets messages leave again.
        """
        wanted = parse_body(request.data, WebhookEndpointChange)
        if wanted.url is not None:
            _check_url(wanted.url)
        with transaction.atomic():
            endpoint = _get_endpoint(request, endpoint_id, lock=True)
            if wanted.url is not None and not endpoint.url:
                _refuse_url_of_requests()
            mine = _endpoints(request).filter(pk=endpoint.pk)
            with audit.changes(actor_of(request), "change_webhook_endpoint", mine):
                _change(endpoint, wanted)
        return Response(_to_answer(_get_endpoint(request, endpoint_id)))

    @extend_schema(
        operation_id="delete_webhook_endpoint",
        summary="Delete a webhook endpoint",
        responses={204: None},
        tags=_TAGS,
    )
    def delete(self, request: Request, endpoint_id: int) -> Response:
        """Delete an endpoint; waiting messages are not sent.

        409 for the endpoint of `webhook_url` in requests: disable that endpoint instead.
        """
        with transaction.atomic():
            endpoint = _get_endpoint(request, endpoint_id, lock=True)
            if not endpoint.url:
                said = "the endpoint of webhook_url in requests cannot be deleted; disable it"
                raise_problem(Problem(Kind.CONFLICT, said))
            mine = _endpoints(request).filter(pk=endpoint.pk)
            with audit.changes(actor_of(request), "delete_webhook_endpoint", mine):
                endpoints.remove(endpoint)
        return Response(status=204)


class WebhookSecretView(BaseView):
    """`/v1/webhook-endpoints/{endpoint_id}/secrets`: rotate the signing secret."""

    @extend_schema(
        operation_id="rotate_webhook_secret",
        summary="Rotate the signing secret of a webhook endpoint",
        request=WebhookSecretRotation,
        responses={201: WebhookSecretRotated},
        tags=_TAGS,
    )
    @idempotent
    def post(self, request: Request, endpoint_id: int) -> Response:
        """Create a new secret; the response shows the secret once.

        The previous secret signs too for `overlap_hours`: update the receiver within this time. A
        secret before the previous one ends at once.
        """
        wanted = parse_body(request.data, WebhookSecretRotation)
        with transaction.atomic():
            endpoint = _get_endpoint(request, endpoint_id, lock=True)
            mine = _endpoints(request).filter(pk=endpoint.pk)
            with audit.changes(actor_of(request), "rotate_webhook_secret", mine):
                overlap = dt.timedelta(hours=wanted.overlap_hours)
                secret = endpoints.rotate(endpoint, overlap=overlap)
        told = {"secret": secret.text(), "previous_secret_until": endpoint.previous_secret_until}
        return _secret_response(WebhookSecretRotated.model_validate(told).to_json())


class WebhookReplayView(BaseView):
    """`/v1/webhook-endpoints/{endpoint_id}/replay`: send messages again."""

    @extend_schema(
        operation_id="replay_webhooks",
        summary="Send the messages since an instant again",
        request=WebhookReplay,
        responses={202: WebhookEndpointAnswer},
        tags=_TAGS,
    )
    @idempotent
    def post(self, request: Request, endpoint_id: int) -> Response:
        """Send the messages of all status changes since an instant again, also those never made.

        A repeated message has the same `webhook-id`, so a receiver that keeps the ids drops it. A
        further call replaces a replay that runs. 409 for a disabled endpoint.
        """
        wanted = parse_body(request.data, WebhookReplay)
        with transaction.atomic():
            endpoint = _get_endpoint(request, endpoint_id, lock=True)
            _refuse_disabled(endpoint)
            mine = _endpoints(request).filter(pk=endpoint.pk)
            with audit.changes(actor_of(request), "replay_webhooks", mine):
                endpoints.replay(endpoint.pk, since=wanted.since)
        return Response(_to_answer(_get_endpoint(request, endpoint_id)), status=202)


class WebhookTestView(BaseView):
    """`/v1/webhook-endpoints/{endpoint_id}/test`: send a test event."""

    @extend_schema(
        operation_id="test_webhook_endpoint",
        summary="Send a test event to a webhook endpoint",
        request=None,
        responses={202: WebhookTestSent},
        tags=_TAGS,
    )
    @idempotent
    def post(self, request: Request, endpoint_id: int) -> Response:
        """Send an event of the type `webhook.test`; the list of attempts has the result.

        409 for a disabled endpoint, and for the endpoint of `webhook_url` in requests.
        """
        endpoint = _get_endpoint(request, endpoint_id)
        _refuse_disabled(endpoint)
        if not endpoint.url:
            said = "the endpoint of webhook_url in requests has no URL to test"
            raise_problem(Problem(Kind.CONFLICT, said))
        with transaction.atomic():
            message = endpoints.send_test(endpoint)
            sent = {"message_id": str(message.pk)}
            audit.record(actor_of(request), "test_webhook_endpoint", endpoint, after=sent)
        return Response(WebhookTestSent(message_id=message.pk).to_json(), status=202)


class WebhookAttemptListView(BaseView):
    """`/v1/webhook-endpoints/{endpoint_id}/attempts`: list calls."""

    @extend_schema(
        operation_id="list_webhook_attempts",
        summary="List the calls of a webhook endpoint, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(WebhookAttemptLine)},
        tags=_TAGS,
    )
    def get(self, request: Request, endpoint_id: int) -> Response:
        """List the calls of the last 7 days."""
        query, endpoint = (
            parse_query(request, NumberedPageQuery),
            _get_endpoint(request, endpoint_id),
        )
        found = WebhookAttempt.objects.filter(endpoint_id=endpoint.pk)
        shown, following = newest_rows(query, found)
        messages = WebhookMessage.objects.in_bulk({each.message_id for each in shown})
        lines = [_to_line(each, messages.get(each.message_id)) for each in shown]
        return page(request, lines, following=following)


def _endpoints(request: Request) -> QuerySet[WebhookEndpoint]:
    key = key_of(request)
    return WebhookEndpoint.objects.filter(producer_id=key.producer_id, mode=key.mode)


def _get_endpoint(request: Request, endpoint_id: int, *, lock: bool = False) -> WebhookEndpoint:
    found = _endpoints(request).filter(pk=min(endpoint_id, MAX_ID))
    endpoint = (found.select_for_update(of=("self",)) if lock else found).first()
    if endpoint is None:
        raise_not_found("webhook endpoint")
    return endpoint


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


def _refuse_url_of_requests() -> None:
    said = "the endpoint of webhook_url in requests has no URL of its own"
    raise_problem(Problem(Kind.CONFLICT, said, (FieldError("/url", said),)))


def _fields(endpoint: WebhookEndpoint) -> Mapping[str, Any]:
    names = WebhookEndpointAnswer.model_fields
    return {name: getattr(endpoint, name) for name in names} | {"url": endpoint.url or None}


def _to_answer(endpoint: WebhookEndpoint) -> dict[str, Any]:
    return WebhookEndpointAnswer(**_fields(endpoint)).to_json()


def _secret_response(told: dict[str, Any]) -> Response:
    return Response(told, status=201, headers={"Cache-Control": "no-store"})


def _to_line(attempt: WebhookAttempt, message: WebhookMessage | None) -> dict[str, Any]:
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
    ).to_json()
