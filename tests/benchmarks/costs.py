"""What a run costs: CPU seconds and memory of each component, processes and their children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import psutil

_MEBIBYTE: Final = 1024 * 1024


@dataclass(slots=True)
class Meter:
    """CPU seconds by component, filled when the measured block ends."""

    seconds: dict[str, float] = field(default_factory=dict)

    def add(self, other: Mapping[str, float]) -> None:
        """Sum up several blocks."""
        for name, spent in other.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def each(self, count: int) -> str:
        """As text: microseconds of CPU for each of `count` things, the dearest first."""
        dearest = sorted(self.seconds.items(), key=lambda pair: -pair[1])
        parts = [f"{name} {spent / count * 1e6:.0f}" for name, spent in dearest]
        total = sum(self.seconds.values()) / count * 1e6
        return f"CPU us each: {', '.join(parts)}; all {total:.0f}"


@contextmanager
def measured(components: Mapping[str, int], *, into: Meter) -> Iterator[None]:
    """Add what these process trees (name -> root pid) burn during the block to a meter."""
    before = {name: _cpu_seconds(pid) for name, pid in components.items()}
    yield
    into.add({name: _cpu_seconds(pid) - before[name] for name, pid in components.items()})


def memory(components: Mapping[str, int]) -> dict[str, float]:
    """Proportional memory (PSS: shared pages are split among their users) by component, in MiB."""
    return {name: sum(map(_size, _tree(pid))) / _MEBIBYTE for name, pid in components.items()}


def _cpu_seconds(pid: int) -> float:
    # Children that have ended are in their parent's own account.
    return sum(map(_of_process, _tree(pid)))


def _of_process(process: psutil.Process) -> float:
    try:
        return sum(process.cpu_times()[:4])
    except psutil.NoSuchProcess:
        return 0.0  # a session of Postgres that ended since it was listed


def _size(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.NoSuchProcess:
        return 0  # as above


def _tree(pid: int) -> list[psutil.Process]:
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]
