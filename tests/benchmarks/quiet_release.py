"""[quiet_release] 200,000 deliveries whose quiet hours end in one minute.

How fast they leave, whether in order, and how long an OTP takes to the provider meanwhile: compared
with the same on an idle stack. The held rows are written as a gate would have left them, on the
steps of a ramp of one minute. OTPs are timed from when the first of them has left.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from threading import Event
from typing import Final

from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from tests.benchmarks import load, p0_latency, rows
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.load import Undelivered
from tests.benchmarks.stage import Stage

_HELD: Final = 200_000
_CODES: Final = 150
_EVERY_SECONDS: Final = 0.1
"""Between two OTPs: over half of the ramp."""
_RAMP_STEPS: Final = 6
"""Of five seconds, as `rules.deferral` places what waits."""
_TARGET: Final = 2.0
_POLL_SECONDS: Final = 0.5
_BEGIN_SECONDS: Final = 30.0
_DRAIN_SECONDS: Final = 600.0
_pause: Final = Event()

_ORDER: Final = """
    SELECT extract(epoch FROM max(sent_at) - min(sent_at)), extract(epoch FROM max(ahead)),
           avg((ahead > interval '0')::int)
    FROM (SELECT d.sent_at, max(h.due_at) OVER (ORDER BY d.sent_at) - h.due_at AS ahead
          FROM delivery d JOIN bench_held h USING (id)) AS sent
"""


@dataclass(frozen=True, slots=True)
class _Release:
    """How one release went."""

    per_second: float
    overtaken_seconds: float
    """By how much, at most, something left before what was due earlier."""
    overtaken_share: float
    """Of those that left after, or at the same instant as, something of a later step."""


def measure(stage: Stage) -> Figure:
    """Measure it."""
    held = stage.size(_HELD)
    stage.run()
    p0_latency.percentiles(stage, load.singles(50, priority="P0"))
    releases: list[_Release] = []

    def idle() -> float:
        stage.clear()
        return _p99(stage)

    def releasing() -> float:
        stage.clear()
        _hold(stage, held)
        _wait_for_the_first(stage)
        p99 = _p99(stage)
        _wait_until_sent(stage, held)
        releases.append(_told(stage, held))
        stage.clear()
        return p99

    found = paired(ours=releasing, theirs=idle)
    return Figure(
        name="quiet_release",
        value=found.ours,
        unit=f"ms P0 p99 while {held:,} are released",
        baseline="ms P0 p99 idle",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_TARGET:.0f}x",
        met=found.ratio <= _TARGET,
        notes=_notes(releases),
    )


def _notes(releases: Sequence[_Release]) -> tuple[str, ...]:
    rate = median(each.per_second for each in releases)
    overtaken = max(each.overtaken_seconds for each in releases)
    share = max(each.overtaken_share for each in releases)
    return (
        f"released and sent: {rate:,.0f} a second",
        f"order: {share:.1%} left behind something of a later step, {overtaken:.0f} s at most",
        "each delivery was called for once",
    )


def _p99(stage: Stage) -> float:
    codes = load.singles(_CODES, priority="P0")
    _, p99 = p0_latency.percentiles(stage, codes, every_seconds=_EVERY_SECONDS)
    return p99


def _hold(stage: Stage, count: int) -> None:
    """Write the held rows while everything stands still, and remember when each was to leave."""
    with stage.standing_still(), stage.database() as link:
        link.execute("DROP TABLE IF EXISTS bench_held")
        # Five seconds ago: so long the sweep leaves a row to its own message.
        held = {"reason": Reason.QUIET_HOURS.value, "due": "-5 seconds", "steps": _RAMP_STEPS}
        rows.write(link, count, priority=Priority.P2, status=Status.SCHEDULED, **held)
        link.execute("CREATE UNLOGGED TABLE bench_held AS SELECT id, due_at FROM delivery")


def _wait_for_the_first(stage: Stage) -> None:
    """Return as soon as the release has begun.

    Raises:
        Undelivered: it has not, in time.
    """
    deadline = time.monotonic() + _BEGIN_SECONDS
    with stage.database() as link:
        while not link.execute("SELECT 1 FROM attempt LIMIT 1").fetchone():
            if time.monotonic() > deadline:
                raise Undelivered("none of the held rows has left")
            _pause.wait(_POLL_SECONDS)


def _wait_until_sent(stage: Stage, count: int) -> None:
    """Return as soon as all that was held is sent.

    Raises:
        Undelivered: not all of it is, in time, or something was called for twice.
    """
    deadline = time.monotonic() + _DRAIN_SECONDS
    while left := load.unsent(stage, priority=Priority.P2):
        if time.monotonic() > deadline:
            raise Undelivered(f"{left} of {count} are not sent")
        _pause.wait(_POLL_SECONDS)
    with stage.database() as link:
        [(sent, calls)] = link.execute(
            "SELECT (SELECT count(*) FROM delivery WHERE status = %s AND priority = %s),"
            " (SELECT count(*) FROM attempt JOIN bench_held ON id = delivery_id)",
            [Status.SENT, Priority.P2],
        ).fetchall()
    if (sent, calls) != (count, count):
        raise Undelivered(f"{sent} of {count} are sent, with {calls} calls")


def _told(stage: Stage, count: int) -> _Release:
    with stage.database() as link:
        [(seconds, overtaken, share)] = link.execute(_ORDER).fetchall()
        link.execute("DROP TABLE bench_held")
    return _Release(count / float(seconds), float(overtaken), float(share))
