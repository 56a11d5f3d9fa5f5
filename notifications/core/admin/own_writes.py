"""Reads from the read replica for pages, except after a change of the operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.http import HttpRequest

from notifications.core.rules import replica_lag
from notifications.core.store.postgres import replica

Answer = TypeVar("Answer")


def read(request: HttpRequest, work: Callable[[], Answer]) -> Answer:
    """Return what `work` reads: from the primary with the cookie of `rules.replica_lag`.

    Raises:
        django.db.Error: as `replica.read`.
    """
    return work() if replica_lag.COOKIE in request.COOKIES else replica.read(work)
