"""Cross-origin answers (CORS) for calls with recipient tokens, by the origins of each producer.

    preflight_headers(origin)               an origin of any active producer, without a token
    answer_headers(origin, producer_id)     the answer to a call with a token of the producer
    answer_headers(origin, None)            a refusal before the producer is known

A browser sends a preflight without the token, so the answer depends on all producers; the call
itself is answered for origins of the token's producer only. The answers permit no cookies. The
installation's own origin is always permitted, for the pages of the service.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from typing import Final

from django.db import Error

from notifications.core import conf
from notifications.core.models import Producer
from notifications.core.rules import origins
from notifications.core.store.cached.ttl_cache import Fresh

_VARY: Final = {"Vary": "Origin"}
_EXPOSED: Final = (
    "ETag, Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"
)
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": "authorization, cache-control, content-type, idempotency-key,"
    " if-match, if-none-match, last-event-id, traceparent",
    "Access-Control-Max-Age": "7200",
}
"""Chrome keeps a preflight for at most 7200 seconds."""


def preflight_headers(origin: str) -> dict[str, str] | None:
    """Return the headers of the answer to a preflight; None: no producer permits the origin."""
    value = origins.header_value(origin, _of(None))
    if not value:
        return None
    return {**_VARY, "Access-Control-Allow-Origin": value, **_PREFLIGHT}


def answer_headers(origin: str, producer_id: int | None) -> dict[str, str]:
    """Return the headers of an answer or a problem.

    Args:
        origin: the header `Origin` of the request; empty: the request has none.
        producer_id: the producer of the token; None: the token was refused or is missing.
    """
    value = origins.header_value(origin, _of(producer_id))
    return {**_VARY, **(open_headers(value) if value else {})}


def open_headers(value: str = origins.EVERY) -> dict[str, str]:
    """Return the headers for pages that read an answer.

    Args:
        value: the permitted origin, or `*`.
    """
    return {"Access-Control-Allow-Origin": value, "Access-Control-Expose-Headers": _EXPOSED}


def is_permitted(origin: str, producer_id: int) -> bool:
    """Return True if a page of the origin may call with tokens of the producer."""
    return bool(origins.header_value(origin, _of(producer_id)))


class _Known:
    """The last origins from the database, for problems while the database is away."""

    by_producer: Mapping[int, frozenset[str]] = {}


@Fresh
def _read() -> Mapping[int, frozenset[str]]:
    """Read the origins of all active producers with origins, by producer."""
    rows = Producer.objects.filter(is_active=True).exclude(allowed_origins=[])
    return {pk: frozenset(each) for pk, each in rows.values_list("pk", "allowed_origins")}


def _of(producer_id: int | None) -> Collection[str]:
    with contextlib.suppress(Error):  # a problem about the database must reach the page
        _Known.by_producer = _read()
    own = origins.of_url(conf.current().public_url)
    if producer_id is not None:
        return _Known.by_producer.get(producer_id, frozenset()) | {own}
    return frozenset[str]().union(*_Known.by_producer.values()) | {own}


forget = _read.forget
