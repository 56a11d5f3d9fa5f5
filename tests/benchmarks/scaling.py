"""CPU of the same work with two and four processes, beside one.

    workers_cost    P3 mails from the first POST until the last is `sent`, by four workers
    ops_cost        notifications scheduled for one moment until all are queued, by four `ops`
    relay_cost      P3 mails from `queued`, without a message, until `sent`; four `ops`, one worker
    tell_cost       status webhooks called and settled, by four processes that run the sweep `tell`
    expand_cost     recipients of a bulk job expanded, by four processes that run the sweep `expand`

The CPU of all components counts, with PostgreSQL. Waits for locks, and looks for work that another
process has, raise the CPU of a row.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from threading import Event
from typing import Final

from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from tests import expander_processes
from tests.benchmarks import costs, expand, load, pipeline, rows, webhooks
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_DELIVERIES: Final = 40_000
_ROWS: Final = 100_000
_CALLS: Final = 40_000
_RECIPIENTS: Final = 200_000
_ENDPOINTS: Final = 160
"""More than four processes can call at the same time, with eight calls at an endpoint."""
_PAGE: Final = 5_000
"""Recipients of a page, as in the sweep."""
_PROCESSES: Final = 4
_SOME: Final = 2
_DELIVERING: Final = ("web", "channels", "ops", "beat")
"""With one kind of worker for P3."""
_RELEASING: Final = ("web", "ops", "beat")
_WORKERS_TARGET: Final = 1.15
_TARGET: Final = 1.11
"""A rate for each CPU second of at least 0.9."""
_POLL_SECONDS: Final = 0.05
_MICROSECONDS: Final = 1e6
_SCHEDULED_LEFT: Final = """
    SELECT 1 FROM delivery WHERE status = %s AND due_at IS NOT NULL LIMIT 1
"""
_CALLS_LEFT: Final = "SELECT 1 FROM webhook_message WHERE due_at IS NOT NULL LIMIT 1"
_pause: Final = Event()


def measure_workers(stage: Stage) -> Figure:
    """Measure the workers of a lane."""

    def cost(meter: costs.Meter, processes: int) -> tuple[float, int]:
        stage.run(_DELIVERING, copies={"channels": processes})
        pipeline.rate(stage, costs.Meter(), count=2 * load.BATCH, priority="P3")
        count = stage.size(_DELIVERIES)
        return pipeline.rate(stage, meter, count=count, priority="P3"), count

    return _compared(cost, name="workers_cost", unit="us of CPU a delivery", target=_WORKERS_TARGET)


def measure_ops(stage: Stage) -> Figure:
    """Measure the processes of the sweeps."""

    def cost(meter: costs.Meter, processes: int) -> tuple[float, int]:
        stage.run(_RELEASING, copies={"ops": processes})
        count = stage.size(_ROWS)
        return _release_rate(stage, meter, count=count), count

    found = _compared(cost, name="ops_cost", unit="us of CPU a release", target=_TARGET)
    stage.clear()
    return found


def measure_relay(stage: Stage) -> Figure:
    """Measure the relay."""

    def cost(meter: costs.Meter, processes: int) -> tuple[float, int]:
        stage.run(_DELIVERING, copies={"ops": processes})
        count = stage.size(_DELIVERIES)
        stage.clear()
        with stage.standing_still(), stage.database() as link:
            rows.write(link, count, priority=Priority.P3, status=Status.QUEUED)
        began = time.perf_counter()
        with costs.measured(stage.components(), into=meter):
            load.wait_until_sent(stage, count)
        return count / (time.perf_counter() - began), count

    return _compared(cost, name="relay_cost", unit="us of CPU a delivery", target=_TARGET)


def measure_tell(stage: Stage) -> Figure:
    """Measure the calls of status webhooks."""

    def cost(meter: costs.Meter, processes: int) -> tuple[float, int]:
        count = stage.size(_CALLS) // _ENDPOINTS * _ENDPOINTS
        webhooks.fill(stage, count, endpoints=_ENDPOINTS)
        with stage.database() as link:
            link.execute("VACUUM ANALYZE webhook_message")

            def is_done() -> bool:
                return not link.execute(_CALLS_LEFT).fetchone()

            seconds = _seconds(stage, meter, sweep="tell", processes=processes, is_done=is_done)
        return count / seconds, count

    stage.run(())
    return _compared(cost, name="tell_cost", unit="us of CPU a call", target=_TARGET)


def measure_expand(stage: Stage) -> Figure:
    """Measure the expanders of a bulk job."""

    def cost(meter: costs.Meter, processes: int) -> tuple[float, int]:
        stage.clear()
        job = expand.new_job()
        is_done = partial(expand.is_finished, job)
        seconds = _seconds(stage, meter, sweep="expand", processes=processes, is_done=is_done)
        count = expander_processes.accepted(job)
        return count / seconds, count

    stage.run(())
    with expand.people(stage, stage.size(_RECIPIENTS)):
        return _compared(cost, name="expand_cost", unit="us of CPU a recipient", target=_TARGET)


def _seconds(
    stage: Stage, meter: costs.Meter, *, sweep: str, processes: int, is_done: Callable[[], bool]
) -> float:
    """Run a sweep in so many processes until the work is done; returns the seconds."""
    url = os.environ["DATABASE_URL"]
    with expander_processes.expanders(database_url=url, page=_PAGE, sweep=sweep) as running:
        pids = running.start(processes)
        began = time.perf_counter()
        own = {f"{sweep} {number}": pid for number, pid in enumerate(pids, start=1)}
        with costs.measured({**stage.components(), **own}, into=meter):
            while not is_done():
                _pause.wait(_POLL_SECONDS)
        return time.perf_counter() - began


def _compared(
    cost: Callable[[costs.Meter, int], tuple[float, int]], *, name: str, unit: str, target: float
) -> Figure:
    meters = {processes: costs.Meter() for processes in (1, _SOME, _PROCESSES)}
    rates: dict[int, list[float]] = {processes: [] for processes in meters}
    each: dict[int, list[float]] = {processes: [] for processes in meters}
    done = dict.fromkeys(meters, 0)

    def with_(processes: int) -> float:
        meter = costs.Meter()
        rate, count = cost(meter, processes)
        meters[processes].add(meter.seconds)
        rates[processes].append(rate)
        done[processes] += count
        each[processes].append(sum(meter.seconds.values()) / count * _MICROSECONDS)
        return each[processes][-1]

    def with_some_and_all() -> float:
        with_(_SOME)
        return with_(_PROCESSES)

    found = paired(ours=with_some_and_all, theirs=lambda: with_(1))
    some = median(two / one for two, one in zip(each[_SOME], each[1], strict=True))
    notes = [
        f"{processes}: {meters[processes].each(done[processes])}; a second:"
        f" {', '.join(f'{rate:,.0f}' for rate in rates[processes])}"
        for processes in meters
    ]
    return Figure(
        name=name,
        value=found.ours,
        unit=f"{unit}, {_PROCESSES} processes",
        baseline="the same with one",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {target}x",
        met=found.ratio <= target,
        notes=(f"{_SOME} processes: {some:.2f}x", *notes),
    )


def _release_rate(stage: Stage, meter: costs.Meter, *, count: int) -> float:
    """Return the rows that are released a second."""
    rows.write_scheduled(stage, count)
    began = time.perf_counter()
    with costs.measured(stage.components(), into=meter), stage.database() as link:
        while link.execute(_SCHEDULED_LEFT, [Status.SCHEDULED]).fetchone():
            _pause.wait(_POLL_SECONDS)
    return count / (time.perf_counter() - began)
