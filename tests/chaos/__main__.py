"""`python -m tests.chaos [--kills N] [--seed N] [RUN ...]`: see the package."""

from __future__ import annotations

import argparse
import signal
import sys

from notifyproj.devstack.servers import EmbeddedError
from notifyproj.devstack.supervisor.process import ProcessFailed
from tests.chaos import drive, named, plans, report
from tests.chaos.frozen_servers import FROZEN_SERVERS
from tests.chaos.long_runs import LONG_RUNS
from tests.chaos.memory import Memory
from tests.chaos.plans import Plan
from tests.chaos.push_outages import PUSH_OUTAGES
from tests.chaos.reconcile import Broken, Promise, reconcile
from tests.chaos.stage import Stage

_INTERRUPTED = 130


def main() -> int:
    """Play what the command line names; returns 0 only when every promise held."""
    parser = argparse.ArgumentParser(
        prog="make chaos", description="Kill everything, lose nothing."
    )
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    short = {**named.RUNS, **FROZEN_SERVERS, **PUSH_OUTAGES}
    runs = {**short, **LONG_RUNS}
    known = f"{', '.join(short)}; long: {', '.join(LONG_RUNS)}"
    parser.add_argument("runs", nargs="*", help=f"all but the long runs, or some of {known}")
    asked = parser.parse_args()
    unknown = [name for name in asked.runs if name not in {"all", *runs}]
    if unknown:
        parser.error(f"no run {unknown[0]!r}: there are {known}")
    names = list(short) if "all" in asked.runs else asked.runs
    chosen = [runs[name](asked.seed) for name in names] or [
        plans.seeded(kills=asked.kills, seed=asked.seed)
    ]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        held = [_play(plan) for plan in chosen]
    except (EmbeddedError, ProcessFailed) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0 if all(held) else 1


def _play(plan: Plan) -> bool:
    print(
        f"{plan.name}: {len(plan.messages)} messages, {len(plan.actions)} actions ...", flush=True
    )
    with Stage(
        seed=plan.seed,
        clocks=plan.clocks,
        settings=plan.settings,
        beside=plan.beside,
        people=plan.people,
    ) as stage:
        with Memory(stage).sampled() as memory:
            facts = drive.play(plan, stage)
        account = reconcile(facts, levels=plan.levels, may_be_late=plan.may_be_late)
        for line in report.timelines(account, facts, stage):
            print(line)
        for line in report.slowest(account, facts, stage):
            print(line)
        for who in stage.stop():
            account.broken.append(Broken(promise=Promise.LEFT_RUNNING, what=who))
    print("\n".join(memory.table()))
    print("\n".join(report.table(plan, facts, account)))
    print(report.markdown(plan, facts, account), flush=True)
    return not account.broken


if __name__ == "__main__":
    sys.exit(main())
