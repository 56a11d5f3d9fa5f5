"""`make gameday`: play promises of docs/guarantees.md on this machine, and print their table.

`python -m tests.gameday [--all] [SCENARIO ...]`: by default the scenarios of `MONTHLY`, with
`--all` each one that the table names. A scenario is played by pytest in a process of its own. The
exit status is 1 if a promise did not hold.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from notifications.core import clock
from tests.gameday.guarantees import FAILED, PAGE, ROOT, play, read, table

MONTHLY: Final = ("test_standby", "test_restore", "test_broker_switch", "test_bad_deploy")
"""Failover, restore, change of the broker, and a release that cannot work."""
_LOGS: Final = ROOT / "var" / "gameday"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what the command line names; return 0 if no promise failed."""
    known = read(PAGE.read_text())
    names = {Path(name).stem: name for each in known for name in each.scenarios}
    parser = argparse.ArgumentParser(prog="make gameday", description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    asked = parser.parse_args(arguments)
    wanted = list(names) if asked.all else asked.scenarios or list(MONTHLY)
    if unknown := sorted(set(wanted) - set(names)):
        parser.error(f"{PAGE.name} names no {', '.join(unknown)}; it names {', '.join(names)}")
    played = {names[name] for name in wanted}
    chosen = [each for each in known if played & set(each.scenarios)]
    _LOGS.mkdir(parents=True, exist_ok=True)
    results: dict[str, str] = {}
    for name in dict.fromkeys(name for each in chosen for name in each.scenarios):
        print(f"{name} ...", end=" ", flush=True)
        results[name] = play(name, logs=_LOGS)
        print(results[name], flush=True)
    print("", *table(chosen, results, day=clock.now().date()), sep="\n")
    return int(any(result.startswith(FAILED) for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
