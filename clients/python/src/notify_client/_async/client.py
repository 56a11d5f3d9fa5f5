"""The client: the entry point of the package."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import Final, Self, Unpack

from notify_client import _call
from notify_client._async.audiences import AsyncAttributes, AsyncAudiences, AsyncTopics
from notify_client._async.brand import AsyncBrand
from notify_client._async.bulk_jobs import AsyncBulkJobs
from notify_client._async.engine import AsyncEngine
from notify_client._async.inbox import AsyncInbox
from notify_client._async.notifications import AsyncNotifications, AsyncSchedules
from notify_client._async.operations import (
    AsyncAlerts,
    AsyncBudgets,
    AsyncCancelJobs,
    AsyncDeadLetters,
    AsyncSwitches,
)
from notify_client._async.recipients import AsyncRecipients, AsyncSuppressions
from notify_client._async.series import AsyncEvents, AsyncSeries
from notify_client._async.templates import AsyncTemplates
from notify_client._async.webhook_endpoints import AsyncWebhookEndpoints
from notify_client._http import AsyncHttp, Target
from notify_client._retries import Limits
from notify_client.types import (
    AnalyticsAnswer,
    CostsAnswer,
    GetAnalyticsQuery,
    GetCostsQuery,
    HitAnswer,
    KeyRotated,
    MeAnswer,
    NotificationAccepted,
    NotificationRequest,
    RotateRequest,
    SearchQuery,
)


class AsyncClient:
    """The access of a producer to the service with an API key.

    Create one client for the life of the program, so that calls share connections.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        timeout: float = 15.0,
        total_timeout: float = 60.0,
        verify: ssl.SSLContext | bool = True,
        proxy: str | None = None,
    ) -> None:
        """Create a client; the first call opens the first connection.

        Args:
            base_url: the service's URL, such as `https://notify.example.com`.
            key: `nk_live_...` or `nk_test_...`.
            timeout: seconds that one attempt of a call may take.
            total_timeout: seconds that a call may take with all its attempts and waits; 0: one
                attempt alone.
            verify: False or a context, where the service's certificate is not of a public CA.
            proxy: URL of an HTTP proxy. The environment's proxies are not used.

        Raises:
            ValueError: the URL, the key or a time is not usable.
        """
        target = Target(url=base_url, key=key, verify=verify, proxy=proxy)
        limits = Limits(attempt=timeout, total=total_timeout)
        self._url = base_url
        self._engine = AsyncEngine(AsyncHttp(target), limits)
        self.notifications: Final = AsyncNotifications(self._engine)
        self.schedules: Final = AsyncSchedules(self._engine)
        self.recipients: Final = AsyncRecipients(self._engine)
        self.attributes: Final = AsyncAttributes(self._engine)
        self.topics: Final = AsyncTopics(self._engine)
        self.audiences: Final = AsyncAudiences(self._engine)
        self.inbox: Final = AsyncInbox(self._engine)
        self.suppressions: Final = AsyncSuppressions(self._engine)
        self.templates: Final = AsyncTemplates(self._engine)
        self.brand: Final = AsyncBrand(self._engine)
        self.bulk_jobs: Final = AsyncBulkJobs(self._engine)
        self.series: Final = AsyncSeries(self._engine)
        self.events: Final = AsyncEvents(self._engine)
        self.cancel_jobs: Final = AsyncCancelJobs(self._engine)
        self.switches: Final = AsyncSwitches(self._engine)
        self.budgets: Final = AsyncBudgets(self._engine)
        self.dead_letters: Final = AsyncDeadLetters(self._engine)
        self.webhook_endpoints: Final = AsyncWebhookEndpoints(self._engine)
        self.alerts: Final = AsyncAlerts(self._engine)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close idle connections."""
        await self._engine.http.close()

    async def send(self, **notification: Unpack[NotificationRequest]) -> NotificationAccepted:
        """Send a notification: see `AsyncNotifications.send`."""
        return await self.notifications.send(**notification)

    async def me(self) -> MeAnswer:
        """Return the producer, mode, scopes and limits of the key."""
        return await self._engine.value(_call.get(_call.path("me")), has="producer")

    async def search(self, **query: Unpack[SearchQuery]) -> list[HitAnswer]:
        """Return the newest deliveries of an address, recipient, id or provider's message id."""
        page = await self._engine.value(_call.get(_call.path("search"), query), has="results")
        found: list[HitAnswer] = page["results"]
        return found

    async def analytics(self, **query: Unpack[GetAnalyticsQuery]) -> AnalyticsAnswer:
        """Return a metric over time, without `format="csv"`."""
        call = _call.get(_call.path("analytics"), query)
        return await self._engine.value(call, has="groups")

    async def costs(self, **query: Unpack[GetCostsQuery]) -> CostsAnswer:
        """Return the costs of a month, without `format="csv"`."""
        return await self._engine.value(_call.get(_call.path("costs"), query), has="lines")

    async def rotate_key(
        self, *, idempotency_key: str | None = None, **rotation: Unpack[RotateRequest]
    ) -> KeyRotated:
        """Issue a new key with the same rights. This client keeps the old key, which ends later."""
        target = _call.path("keys", "rotate")
        call = _call.post(target, rotation, idempotency_key=idempotency_key)
        return await self._engine.value(call, has="key")
