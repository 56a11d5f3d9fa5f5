"""Threads for checks of the process at an interval, with stored results."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable

import structlog
from django.db import Error, connections

_log = structlog.get_logger(__name__)


def keep_looking(look: Callable[[], None], *, name: str, every: dt.timedelta) -> None:
    """Look at the interval in a thread of this name, until the process ends.

    While PostgreSQL is away a look is logged, and the next look follows at the interval.
    """
    threading.Thread(target=_keep_looking, args=(look, name, every), name=name, daemon=True).start()


def _keep_looking(look: Callable[[], None], name: str, every: dt.timedelta) -> None:
    pause = threading.Event()
    while not pause.wait(every.total_seconds()):
        try:
            look()
        except Error as error:
            _log.warning("look_not_stored", look=name, cause=str(error.__cause__ or error)[:200])
        finally:
            connections.close_all()
