"""`python -m tests.benchmarks [NAME[=SIZE] ...]`: run all benchmarks or these.

SIZE replaces the number of notifications of a benchmark that takes minutes (`Stage.size`).
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from typing import Final

from notifyproj.devstack.servers import EmbeddedError
from notifyproj.devstack.supervisor.process import ProcessFailed
from tests.benchmarks import (
    archive,
    audience,
    batch_accept,
    budget,
    console,
    door_slow,
    expand,
    fair,
    fallback_latency,
    fcm_transport,
    feed_rate,
    figures,
    gates_cost,
    history_cost,
    idle,
    inbox,
    live,
    mail_blocks,
    metrics_cost,
    migration_locks,
    p0_latency,
    peers,
    pipeline,
    quiet_release,
    receipts,
    release,
    rollups,
    scaling,
    schedule_accuracy,
    ses_bulk,
    single_accept,
    slow_provider,
    small,
    smtp_latency,
    smtp_pool,
    stored_bytes,
    sweep_costs,
    template_cache,
    throttle,
    waiting_age,
    webhooks,
    while_expanding,
)
from tests.benchmarks.figures import Figure
from tests.benchmarks.sink import NoSink
from tests.benchmarks.stage import VAR, Stage
from tests.benchmarks.wrk import NoWrk

BENCHMARKS: Final[Mapping[str, Callable[[Stage], Figure]]] = {
    # First: memory that a benchmark has used is not given back.
    "budget": budget.measure,
    "idle": idle.measure_commands,
    "idle_memory": idle.measure_memory,
    "small_idle": small.measure_commands,
    "small_memory": small.measure_memory,
    "pipeline_http": pipeline.measure_http,
    "pipeline_fcm": pipeline.measure_fcm,
    "pipeline_ses": pipeline.measure_ses,
    "naive_task": peers.measure_naive,
    "post_office": peers.measure_post_office,
    "fcm_transport": fcm_transport.measure,
    "provider_latency": slow_provider.measure_latency,
    "p1_behind_bulk": slow_provider.measure_urgent,
    "smtp_latency": smtp_latency.measure,
    "p0_latency": p0_latency.measure,
    "fair": fair.measure,
    "p0_while_expanding": while_expanding.measure_p0,
    "p1_while_expanding": while_expanding.measure_p1,
    "fallback_latency": fallback_latency.measure,
    "p1_age": waiting_age.measure_p1,
    "p2_age": waiting_age.measure_p2,
    "batch_accept": batch_accept.measure,
    "single_accept": single_accept.measure,
    "door_slow": door_slow.measure,
    "gates_cost": gates_cost.measure,
    "metrics_cost": metrics_cost.measure,
    "rollup_cost": rollups.measure_cost,
    "analytics_query": rollups.measure_query,
    "quiet_release": quiet_release.measure,
    "receipts": receipts.measure,
    "release": release.measure,
    "backlog_cost": sweep_costs.measure_backlog,
    "partitions_cost": sweep_costs.measure_partitions,
    "history_cost": history_cost.measure,
    "migration_locks": migration_locks.measure,
    "workers_cost": scaling.measure_workers,
    "ops_cost": scaling.measure_ops,
    "relay_cost": scaling.measure_relay,
    "tell_cost": scaling.measure_tell,
    "expand_cost": scaling.measure_expand,
    "console": console.measure,
    "schedule_accuracy": schedule_accuracy.measure,
    "throttle": throttle.measure_rate,
    "throttle_spread": throttle.measure_spread,
    "ses_bulk": ses_bulk.measure,
    "smtp_pool": smtp_pool.measure,
    "stored_bytes": stored_bytes.measure,
    "archive": archive.measure,
    "audience": audience.measure,
    "sse_fanout": live.measure_fanout,
    "sse_memory": live.measure_memory,
    "template_cache": template_cache.measure,
    "mail_blocks": mail_blocks.measure,
    "inbox_write": inbox.measure_write,
    "inbox_hits": inbox.measure_hits,
    "inbox_page": inbox.measure_page,
    "expand": expand.measure_speed,
    "expand_memory": expand.measure_memory,
    "expand_growth": expand.measure_growth,
    "expand_kills": expand.measure_kills,
    "webhook_rate": webhooks.measure_rate,
    "rollup_rate": feed_rate.measure_rollups,
    "fan_out_rate": feed_rate.measure_fan_out,
    "webhook_isolation": webhooks.measure_isolation,
}


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all; returns the exit code."""
    try:
        wanted = dict(map(_parsed, arguments or BENCHMARKS))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    done: list[Figure] = []
    try:
        with Stage() as stage:
            for name, size in wanted.items():
                print(f"{name} ...", flush=True)
                stage.wanted_size = size
                figure = BENCHMARKS[name](stage)
                figures.write(figure, folder=VAR)
                done.append(figure)
    except (EmbeddedError, NoSink, NoWrk, ProcessFailed) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(figures.table(done))
    return 0


def _parsed(argument: str) -> tuple[str, int | None]:
    """The name and the size that an argument gives.

    Raises:
        ValueError: no benchmark has this name, or the size is no number above zero.
    """
    name, has_size, size = argument.partition("=")
    if name not in BENCHMARKS:
        raise ValueError(f"no benchmark {name!r}: there are {', '.join(BENCHMARKS)}")
    if not has_size:
        return name, None
    if not size.isdecimal() or not int(size):
        raise ValueError(f"the size in {argument!r} is not a number of notifications")
    return name, int(size)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
