"""What all views of the API share."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Final, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from notifications import clock
from notifications.api import throttle
from notifications.api.problems import refuse
from notifications.rules import request_faults
from notifications.rules.problems import Kind, Problem
from notifications.store.postgres import host_clock

Shape = TypeVar("Shape", bound=BaseModel)

MAX_ID: Final = 2**63 - 1
"""What a bigint holds; a larger id in a path names nothing."""
_CLOCK_AGAIN: Final = dt.timedelta(seconds=5)
"""When a caller may ask again after a refusal for the host's clock; another host may answer."""


_READS: Final = frozenset({"GET", "HEAD"})


class Door(APIView):
    """A view with a key; `rules.access` names the scope of each of its methods."""

    costs_itself: ClassVar[frozenset[str]] = frozenset()
    """The methods that charge the producer themselves; each other write costs 1."""
    needs_clock: ClassVar[bool] = True
    """Whether it is refused while this host's clock is too far from the database's."""
    # No OPTIONS: the schema describes the API, and browsers of other origins are no callers.
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]  # noqa: RUF012 - Django's

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - DRF's signature
        """Authenticate, check the scope and charge the producer, before the body is read.

        Raises:
            Refusal: this host's clock is wrong, or the producer is over its rate limit.
        """
        if self.needs_clock and not clock.is_trusted():
            refuse(Problem(Kind.UNAVAILABLE, host_clock.said(), retry_after=_CLOCK_AGAIN))
        super().initial(request, *args, **kwargs)
        if request.auth is None or request.method in self.costs_itself:
            return
        if request.method in _READS:
            throttle.peek(self, request)
        else:
            throttle.charge(self, request, cost=1)


class OpenDoor(Door):
    """A view without a key."""

    authentication_classes = ()
    permission_classes = ()


def shaped(body: object, shape: type[Shape]) -> Shape:
    """Check a decoded body.

    Raises:
        Refusal: with every place that is wrong (422).
    """
    try:
        return shape.model_validate(body)
    except ValidationError as error:
        refuse(request_faults.invalid(error, shape))


def absent(what: str) -> NoReturn:
    """There is no such thing, or it is somebody else's: the same words for both."""
    refuse(Problem(Kind.NOT_FOUND, f"there is no such {what}"))
