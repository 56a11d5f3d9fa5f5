"""Deprecation headers for operations of the API.

    @extend_schema(...)
    @add_deprecation(since=..., until=...)
    def get(self, request): ...

All responses of the operation then have `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link`
to the API's documentation; the OpenAPI document marks the operation as deprecated. A deprecated
operation works for at least six months after `since`.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable
from typing import Concatenate, Final, ParamSpec, TypeVar

from django.utils.http import http_date
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

View = TypeVar("View", bound=APIView)
Arguments = ParamSpec("Arguments")
Operation = Callable[Concatenate[View, Request, Arguments], Response]

SERVED_FOR: Final = dt.timedelta(days=183)
"""The minimum time between the announcement and the end of an operation."""
_DOCS: Final = "/v1/docs"


def add_deprecation(
    *, since: dt.datetime, until: dt.datetime
) -> Callable[[Operation[View, Arguments]], Operation[View, Arguments]]:
    """Add the deprecation headers to all responses of an operation, errors included.

    Args:
        since: time of the announcement.
        until: end of the operation.

    Raises:
        ValueError: the time between `since` and `until` is shorter than SERVED_FOR.
    """
    if until - since < SERVED_FOR:
        msg = f"an operation is served for {SERVED_FOR.days} days after the notice"
        raise ValueError(msg)
    headers = {
        "Deprecation": f"@{int(since.timestamp())}",
        "Sunset": http_date(until.timestamp()),
        "Link": f'<{_DOCS}>; rel="deprecation"',
    }

    def decorate(operation: Operation[View, Arguments]) -> Operation[View, Arguments]:
        @functools.wraps(operation)
        def with_headers(
            view: View, request: Request, /, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> Response:
            view.headers.update(headers)
            return operation(view, request, *args, **kwargs)

        marked: Operation[View, Arguments] = extend_schema(deprecated=True)(with_headers)
        return marked

    return decorate
