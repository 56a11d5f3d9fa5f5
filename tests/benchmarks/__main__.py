"""`python -m tests.benchmarks [NAME]`: run all benchmarks or one."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from typing import Final

from notifyproj.embedded import EmbeddedError
from notifyproj.supervisor.process import ProcessFailed
from tests.benchmarks import (
    batch_accept,
    fcm_transport,
    figures,
    gates_cost,
    history_cost,
    idle,
    p0_latency,
    pipeline,
    quiet_release,
    release,
    schedule_accuracy,
    ses_bulk,
    single_accept,
    slow_provider,
    smtp_latency,
    smtp_pool,
    stored_bytes,
    sweep_costs,
    template_cache,
    waiting_age,
)
from tests.benchmarks.figures import Figure
from tests.benchmarks.sink import NoSink
from tests.benchmarks.stage import VAR, Stage

BENCHMARKS: Final[Mapping[str, Callable[[Stage], Figure]]] = {
    # First: memory that a benchmark has used is not given back.
    "idle": idle.measure_commands,
    "idle_memory": idle.measure_memory,
    "pipeline_http": pipeline.measure_http,
    "pipeline_fcm": pipeline.measure_fcm,
    "pipeline_ses": pipeline.measure_ses,
    "fcm_transport": fcm_transport.measure,
    "provider_latency": slow_provider.measure_latency,
    "p1_behind_bulk": slow_provider.measure_urgent,
    "smtp_latency": smtp_latency.measure,
    "p0_latency": p0_latency.measure,
    "p1_age": waiting_age.measure_p1,
    "p2_age": waiting_age.measure_p2,
    "batch_accept": batch_accept.measure,
    "single_accept": single_accept.measure,
    "gates_cost": gates_cost.measure,
    "quiet_release": quiet_release.measure,
    "release": release.measure,
    "backlog_cost": sweep_costs.measure_backlog,
    "partitions_cost": sweep_costs.measure_partitions,
    "history_cost": history_cost.measure,
    "schedule_accuracy": schedule_accuracy.measure,
    "ses_bulk": ses_bulk.measure,
    "smtp_pool": smtp_pool.measure,
    "stored_bytes": stored_bytes.measure,
    "template_cache": template_cache.measure,
}


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all; returns the exit code."""
    unknown = [name for name in arguments if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark {unknown[0]!r}: there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    done: list[Figure] = []
    try:
        with Stage() as stage:
            for name in arguments or BENCHMARKS:
                print(f"{name} ...", flush=True)
                figure = BENCHMARKS[name](stage)
                figures.write(figure, folder=VAR)
                done.append(figure)
    except (EmbeddedError, NoSink, ProcessFailed) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(figures.table(done))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
