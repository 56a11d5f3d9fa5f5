"""The host's clock, compared with Postgres's at boot, each minute, and when the clock jumps.

`clock.now()` is Postgres's time in every process that called `start`. A process on a host with a
wrong clock stops work (`clock.is_trusted`), logs the difference, raises an alert with the host's
name, and continues after the correction. If Postgres is away at boot, or refuses the sign-in, work
begins after the first comparison (`wait_compared`), and the process is not ready until then.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import socket
import threading
from collections.abc import Callable
from typing import Final

import structlog
from django.db import Error, connection

from notifications.core import clock, conf
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts, db

_EVERY: Final = dt.timedelta(minutes=1)
"""Between two comparisons; quartz drifts by less than 0.01 s in a minute."""
_AGAIN: Final = dt.timedelta(seconds=5)
"""Between two comparisons while the clock is not trusted."""
_LOOK: Final = dt.timedelta(seconds=1)
"""Between two looks at the host's clock, which need no server."""
_WAIT: Final = dt.timedelta(milliseconds=200)
"""Between two looks at the first comparison."""
_SLOWEST: Final = 0.5
"""Seconds; a slower answer is too inexact."""

_log = structlog.get_logger(__name__)


def host_name() -> str:
    """Return this machine's name for alerts and log lines."""
    return socket.gethostname()


def compare() -> bool:
    """Compare with Postgres's clock; False if the answer was too slow.

    Raises:
        django.db.Error: Postgres is away; the last comparison still counts.
    """
    with db.cursor() as running:
        asked = clock.steady()
        running.execute("SELECT clock_timestamp() AS now")
        row = running.fetchone()
        answered = clock.steady()
    if row is None or answered - asked > _SLOWEST:
        return False
    clock.compare(row["now"], at=(asked + answered) / 2)
    return True


def fault() -> str:
    """Describe the fault of this host's clock; empty while the clock is trusted."""
    if clock.is_trusted():
        return ""
    seconds = clock.skew().total_seconds()
    if not seconds:
        return (
            f"the clock of {host_name()} could not be compared with the database's yet: the"
            " database is away, refuses the sign-in or is slow; the log has clock_not_compared"
        )
    way = "ahead of" if seconds > 0 else "behind"
    return f"the clock of {host_name()} is {abs(seconds):.1f} s {way} the database's: set it (NTP)"


def confirmed_fault() -> str:
    """Compare with Postgres's clock again if this host's clock is not trusted; return the fault.

    The clocks of a host and of its database jump together if both run on a virtual machine that
    was paused. The last comparison is then wrong, and the host's clock is right.
    """
    if not clock.is_trusted() and clock.is_compared():
        with contextlib.suppress(Error):
            compare()
    return fault()


def wait_compared(*, check_stop: Callable[[], object] = lambda: None) -> None:
    """Return after the first comparison of this process's `Watch`, at once without a watch.

    A worker and beat wait here at their start: without a database a worker would take messages
    from workers that have one. `check_stop` is called between two looks, and raises to end the
    wait.
    """
    pause = threading.Event()
    while not clock.is_compared():
        check_stop()
        pause.wait(_WAIT.total_seconds())


class Watch:
    """Watches the host's clock in a thread of this process.

    Args:
        on_change: called in that thread with whether the clock is trusted now.
    """

    def __init__(self, *, on_change: Callable[[bool], None] = lambda _trusted: None) -> None:
        self._on_change = on_change
        self._trusted = True
        self._told = True  # an alert of a process before this one may still be open
        self._next = 0.0

    def start(self) -> None:
        """Compare once, then keep looking; from now on the process needs a trusted clock."""
        clock.watch(limit=conf.current().max_clock_skew)
        self.look()
        connection.close()  # the caller may fork or never ask again
        threading.Thread(target=self._keep_looking, name="host-clock", daemon=True).start()

    def look(self) -> None:
        """Compare the clocks once an interval, and report a change. Raises no error."""
        if clock.is_trusted() is self._trusted and clock.steady() < self._next:
            return
        self._compare()
        trusted = clock.is_trusted()
        if trusted is not self._trusted:
            self._trusted = trusted
            self._log_change()
            self._on_change(trusted)
        if not trusted or self._told:
            self._alert()

    def _compare(self) -> None:
        try:
            fine = compare()
            if not fine:
                _log.warning("clock_not_compared", cause=f"an answer took over {_SLOWEST:g} s")
        except Error as error:
            _log.warning("clock_not_compared", cause=str(error.__cause__ or error)[:200])
            fine = False
        wait = _EVERY if fine and clock.is_trusted() else _AGAIN
        self._next = clock.steady() + wait.total_seconds()

    def _log_change(self) -> None:
        if self._trusted:
            _log.warning("clock_right_again", host=host_name())
        else:
            _log.error("clock_off", host=host_name(), detail=fault())

    def _alert(self) -> None:
        """Raise the alert while the clock is off; resolve it once afterwards."""
        try:
            if self._trusted:
                alerts.resolve(AlertKind.CLOCK_SKEW, host_name())
            else:
                alerts.raise_once(AlertKind.CLOCK_SKEW, host_name(), fault())
            self._told = not self._trusted
        except Error:
            connection.close()  # the log has it; the next look tells it again

    def _keep_looking(self) -> None:
        pause = threading.Event()
        while not pause.wait(_LOOK.total_seconds()):
            self.look()
            connection.close()
