"""Webhook endpoints."""

from __future__ import annotations

from typing import Unpack

from notify_client import _call
from notify_client._async.engine import AsyncEngine, AsyncPages
from notify_client.types import (
    PageQuery,
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


class AsyncWebhookEndpoints:
    """`/v1/webhook-endpoints`: URLs of the producer that learn of status changes."""

    def __init__(self, engine: AsyncEngine) -> None:
        """See `AsyncClient.webhook_endpoints`."""
        self._engine = engine

    async def create(
        self, *, idempotency_key: str | None = None, **endpoint: Unpack[WebhookEndpointRequest]
    ) -> WebhookEndpointCreated:
        """Create an endpoint. The answer has the signing secret, which is shown once."""
        target = _call.path("webhook-endpoints")
        call = _call.post(target, endpoint, idempotency_key=idempotency_key)
        return await self._engine.value(call, has="secret")

    def list(self, **query: Unpack[PageQuery]) -> AsyncPages[WebhookEndpointAnswer]:
        """List endpoints, newest first."""
        return AsyncPages(self._engine, _call.path("webhook-endpoints"), {**query})

    async def get(self, endpoint_id: int) -> WebhookEndpointAnswer:
        """An endpoint with its state."""
        return await self._engine.value(
            _call.get(_call.path("webhook-endpoints", endpoint_id)), has="id"
        )

    async def change(
        self, endpoint_id: int, **change: Unpack[WebhookEndpointChange]
    ) -> WebhookEndpointAnswer:
        """Change the given fields; `state` pauses, resumes and disables."""
        target = _call.path("webhook-endpoints", endpoint_id)
        return await self._engine.value(_call.write("PATCH", target, change), has="id")

    async def delete(self, endpoint_id: int) -> None:
        """Delete an endpoint; waiting messages are not sent."""
        target = _call.path("webhook-endpoints", endpoint_id)
        await self._engine.nothing(_call.write("DELETE", target))

    async def rotate_secret(
        self,
        endpoint_id: int,
        *,
        idempotency_key: str | None = None,
        **rotation: Unpack[WebhookSecretRotation],
    ) -> WebhookSecretRotated:
        """Create a new secret, shown once; the former one signs too for `overlap_hours`."""
        target = _call.path("webhook-endpoints", endpoint_id, "secrets")
        call = _call.post(target, rotation, idempotency_key=idempotency_key)
        return await self._engine.value(call, has="secret")

    async def replay(
        self,
        endpoint_id: int,
        *,
        idempotency_key: str | None = None,
        **replay: Unpack[WebhookReplay],
    ) -> WebhookEndpointAnswer:
        """Send the messages of all changes since an instant again, with the same ids."""
        target = _call.path("webhook-endpoints", endpoint_id, "replay")
        return await self._engine.value(
            _call.post(target, replay, idempotency_key=idempotency_key), has="id"
        )

    async def send_test(
        self, endpoint_id: int, *, idempotency_key: str | None = None
    ) -> WebhookTestSent:
        """Send a test event."""
        target = _call.path("webhook-endpoints", endpoint_id, "test")
        call = _call.post(target, {}, idempotency_key=idempotency_key)
        return await self._engine.value(call, has="message_id")

    def attempts(
        self, endpoint_id: int, **query: Unpack[PageQuery]
    ) -> AsyncPages[WebhookAttemptLine]:
        """List the calls of the last 7 days, newest first."""
        target = _call.path("webhook-endpoints", endpoint_id, "attempts")
        return AsyncPages(self._engine, target, {**query})
