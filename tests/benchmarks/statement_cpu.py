"""CPU of Postgres by statement, from `log_statement_stats`.

Postgres writes the CPU time of each message of a statement (parse, bind, execute) into its log. The
log costs CPU itself, so the round that is logged is none of the compared rounds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import notifications
from tests.benchmarks.stage import Stage

_CODE: Final = Path(notifications.__file__).parent
_MOST: Final = 12
"""Statements in the text; the others are summed up."""
_STATISTICS: Final = re.compile(
    r"^\s*!\s+(?P<user>[\d.]+) s user, (?P<system>[\d.]+) s system,"
    r".*?^.*?STATEMENT:  (?P<statement>.*?)(?=^\d{4}-|\Z)",
    re.MULTILINE | re.DOTALL,
)
_PARAMETER: Final = re.compile(r"%\(\w+\)s|\$\d+")
_SPACE: Final = re.compile(r"\s+")


@dataclass(slots=True)
class StatementCpu:
    """CPU seconds by statement: the name of a file of `sql/`, or the first words."""

    seconds: dict[str, float] = field(default_factory=dict)

    def each(self, count: int) -> str:
        """As text: microseconds of CPU for each of `count` things, the dearest first."""
        dearest = sorted(self.seconds.items(), key=lambda pair: -pair[1])
        shown = [*dearest[:_MOST], ("others", sum(spent for _, spent in dearest[_MOST:]))]
        parts = [f"{name} {spent / count * 1e6:.1f}" for name, spent in shown]
        return f"Postgres us each by statement, while logged: {', '.join(parts)}"


@contextmanager
def logged(stage: Stage) -> Iterator[StatementCpu]:
    """Log the statements of the block; the result is filled after the block."""
    found = StatementCpu()
    log = stage.postgres_log
    _switch(stage, "on")
    start = log.stat().st_size
    try:
        yield found
    finally:
        _switch(stage, "off")
    with log.open(encoding="utf-8", errors="replace") as lines:
        lines.seek(start)
        found.seconds = by_name(lines.read())


def _switch(stage: Stage, state: str) -> None:
    with stage.database() as link:
        link.execute(f"ALTER SYSTEM SET log_statement_stats = {state}")
        link.execute("SELECT pg_reload_conf()")


def by_name(text: str) -> dict[str, float]:
    """Sum up the CPU seconds of a server log by statement."""
    names = {_plain(_without_comments(each)): each.stem for each in _files()}
    spent: dict[str, float] = defaultdict(float)
    for found in _STATISTICS.finditer(text):
        plain = _plain(found["statement"])
        spent[names.get(plain, plain[:40])] += float(found["user"]) + float(found["system"])
    return dict(spent)


def _files() -> list[Path]:
    """Return the statements of the core and of the features."""
    return sorted(_CODE.rglob("sql/*.sql"))


def _without_comments(path: Path) -> str:
    lines = path.read_text().splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("--"))


def _plain(statement: str) -> str:
    """Return a statement with equal parameters and equal white space."""
    return _SPACE.sub(" ", _PARAMETER.sub("?", statement)).replace("%%", "%").strip()
