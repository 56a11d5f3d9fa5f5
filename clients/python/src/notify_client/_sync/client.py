"""The client: the entry point of the package."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import Final, Self, Unpack

from notify_client import _call
from notify_client._http import Http, Target
from notify_client._retries import Limits
from notify_client._sync.audiences import Attributes, Audiences, Topics
from notify_client._sync.brand import Brand
from notify_client._sync.bulk_jobs import BulkJobs
from notify_client._sync.engine import Engine
from notify_client._sync.inbox import Inbox
from notify_client._sync.notifications import Notifications, Schedules
from notify_client._sync.operations import (
    Alerts,
    Budgets,
    CancelJobs,
    DeadLetters,
    Switches,
)
from notify_client._sync.recipients import Recipients, Suppressions
from notify_client._sync.series import Events, Series
from notify_client._sync.templates import Templates
from notify_client._sync.webhook_endpoints import WebhookEndpoints
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


class Client:
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
        self._engine = Engine(Http(target), limits)
        self.notifications: Final = Notifications(self._engine)
        self.schedules: Final = Schedules(self._engine)
        self.recipients: Final = Recipients(self._engine)
        self.attributes: Final = Attributes(self._engine)
        self.topics: Final = Topics(self._engine)
        self.audiences: Final = Audiences(self._engine)
        self.inbox: Final = Inbox(self._engine)
        self.suppressions: Final = Suppressions(self._engine)
        self.templates: Final = Templates(self._engine)
        self.brand: Final = Brand(self._engine)
        self.bulk_jobs: Final = BulkJobs(self._engine)
        self.series: Final = Series(self._engine)
        self.events: Final = Events(self._engine)
        self.cancel_jobs: Final = CancelJobs(self._engine)
        self.switches: Final = Switches(self._engine)
        self.budgets: Final = Budgets(self._engine)
        self.dead_letters: Final = DeadLetters(self._engine)
        self.webhook_endpoints: Final = WebhookEndpoints(self._engine)
        self.alerts: Final = Alerts(self._engine)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections."""
        self._engine.http.close()

    def send(self, **notification: Unpack[NotificationRequest]) -> NotificationAccepted:
        """Send a notification: see `Notifications.send`."""
        return self.notifications.send(**notification)

    def me(self) -> MeAnswer:
        """Return the producer, mode, scopes and limits of the key."""
        return self._engine.value(_call.get(_call.path("me")), has="producer")

    def search(self, **query: Unpack[SearchQuery]) -> list[HitAnswer]:
        """Return the newest deliveries of an address, recipient, id or provider's message id."""
        page = self._engine.value(_call.get(_call.path("search"), query), has="results")
        found: list[HitAnswer] = page["results"]
        return found

    def analytics(self, **query: Unpack[GetAnalyticsQuery]) -> AnalyticsAnswer:
        """Return a metric over time, without `format="csv"`."""
        call = _call.get(_call.path("analytics"), query)
        return self._engine.value(call, has="groups")

    def costs(self, **query: Unpack[GetCostsQuery]) -> CostsAnswer:
        """Return the costs of a month, without `format="csv"`."""
        return self._engine.value(_call.get(_call.path("costs"), query), has="lines")

    def rotate_key(
        self, *, idempotency_key: str | None = None, **rotation: Unpack[RotateRequest]
    ) -> KeyRotated:
        """Issue a new key with the same rights. This client keeps the old key, which ends later."""
        target = _call.path("keys", "rotate")
        call = _call.post(target, rotation, idempotency_key=idempotency_key)
        return self._engine.value(call, has="key")
