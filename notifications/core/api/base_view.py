"""The base classes of the API's views, and helpers for request bodies."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Final, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from notifications.core.api import throttle
from notifications.core.api.problems import raise_problem
from notifications.core.rules import request_faults
from notifications.core.rules.problems import Kind, Problem
from notifications.core.store.postgres import host_clock
from notifications.core.store.postgres.api_keys import KnownKey

Shape = TypeVar("Shape", bound=BaseModel)

MAX_ID: Final = 2**63 - 1
"""The largest bigint. A larger id in a path matches no row."""
_CLOCK_AGAIN: Final = dt.timedelta(seconds=5)
"""Retry-After of a 503 caused by the host's clock; another host may answer the retry."""


_READS: Final = frozenset({"GET", "HEAD"})


class BaseView(APIView):
    """A view which requires an API key. `rules.access` has the scope of every method."""

    self_charging: ClassVar[frozenset[str]] = frozenset()
    """HTTP methods whose view charges the producer. Every other writing method costs 1."""
    needs_clock: ClassVar[bool] = True
    """Answer 503 while the host's clock differs too much from the database's clock."""
    # No OPTIONS: the OpenAPI document describes the API, and `cors` answers preflights.
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]  # noqa: RUF012 - Django's

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - DRF's signature
        """Authenticate, check the scope and charge the producer before the body is read.

        Raises:
            ProblemError: the host's clock is wrong, the producer is over the rate limit, or the
                path names what cannot exist.
        """
        if self.needs_clock and (said := host_clock.confirmed_fault()):
            raise_problem(Problem(Kind.UNAVAILABLE, said, retry_after=_CLOCK_AGAIN))
        super().initial(request, *args, **kwargs)
        if any("\0" in each for each in kwargs.values() if isinstance(each, str)):
            raise_not_found("object")  # PostgreSQL stores no NUL, and refuses the query
        if not isinstance(request.auth, KnownKey) or request.method in self.self_charging:
            return
        if request.method in _READS:
            throttle.peek(self, request)
        else:
            throttle.charge(self, request, cost=1)

    def finalize_response(
        self,
        request: Request,
        response: Any,  # noqa: ANN401 - DRF's signature
        *args: Any,  # noqa: ANN401 - DRF's signature
        **kwargs: Any,  # noqa: ANN401 - DRF's signature
    ) -> Any:  # noqa: ANN401 - DRF's signature
        """Finalize the response; its end frees the decoded body without garbage collection.

        In the contexts of DRF, request and response refer to themselves. A batch creates thousands
        of objects, and their collection stops the process for more than a tenth of a second.
        """
        final = super().finalize_response(request, response, *args, **kwargs)
        if isinstance(final, Response):
            final.add_post_render_callback(_drop_contexts)
        return final


class OpenView(BaseView):
    """A view without authentication."""

    authentication_classes = ()
    permission_classes = ()


def _drop_contexts(response: Response) -> None:
    """Drop the contexts of a rendered response, through which DRF makes reference cycles."""
    context = vars(response).pop("renderer_context")
    context["request"].parser_context = {}


def parse_body(body: object, shape: type[Shape]) -> Shape:
    """Validate a decoded request body.

    Raises:
        ProblemError: the body is invalid (422); `errors` has every invalid field.
    """
    try:
        return shape.model_validate(body)
    except ValidationError as error:
        raise_problem(request_faults.invalid(error, shape))


def raise_not_found(what: str) -> NoReturn:
    """Answer 404. An unknown object and another producer's object get the same text."""
    raise_problem(Problem(Kind.NOT_FOUND, f"unknown {what}"))
