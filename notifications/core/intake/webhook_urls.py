"""The `webhook_url` of requests: the address is checked, and the producer gets the endpoint."""

from __future__ import annotations

from collections.abc import Iterable

from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.webhooks import body, endpoints
from providers.errors import ForbiddenAddress


def problem_of(url: str | None) -> Problem | None:
    """Return the problem of a URL that the service must not call."""
    if not url:
        return None
    try:
        body.check_url(url)
    except ForbiddenAddress as error:
        fault = FieldError("/webhook_url", str(error))
        return Problem(Kind.INVALID, f"/webhook_url: {error}", (fault,))
    return None


def ensure_endpoints(urls: Iterable[tuple[int, Mode, str | None]]) -> None:
    """Give each producer and mode with a URL the endpoint that signs for such URLs."""
    callers = {(producer_id, int(mode)) for producer_id, mode, url in urls if url}
    if callers:
        endpoints.ensure_of_requests(callers)
