"""Deprecation: how an operation of the API tells its callers that it will end.

    @extend_schema(...)
    @deprecated(since=..., until=...)
    def get(self, request): ...

Each answer then has `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link` to the API's page;
the OpenAPI document marks the operation. It is served for at least six months after `since`.
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
"""The least time between the notice and the end."""
_DOCS: Final = "/v1/docs"


def deprecated(
    *, since: dt.datetime, until: dt.datetime
) -> Callable[[Operation[View, Arguments]], Operation[View, Arguments]]:
    """Announce the end of an operation on each of its answers, refusals included.

    Args:
        since: when it was announced.
        until: when it ends.

    Raises:
        ValueError: that is less than SERVED_FOR.
    """
    if until - since < SERVED_FOR:
        msg = f"an operation is served for {SERVED_FOR.days} days after the notice"
        raise ValueError(msg)
    headers = {
        "Deprecation": f"@{int(since.timestamp())}",
        "Sunset": http_date(until.timestamp()),
        "Link": f'<{_DOCS}>; rel="deprecation"',
    }

    def decorated(operation: Operation[View, Arguments]) -> Operation[View, Arguments]:
        @functools.wraps(operation)
        def announced(
            view: View, request: Request, /, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> Response:
            view.headers.update(headers)
            return operation(view, request, *args, **kwargs)

        marked: Operation[View, Arguments] = extend_schema(deprecated=True)(announced)
        return marked

    return decorated
