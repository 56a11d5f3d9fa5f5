"""What a benchmark answers, and where the answer goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final

PAIRS: Final = 3
"""Interleaved pairs of a run; the median of three shrugs off one disturbed pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number, what it is compared with, and what it should be."""

    name: str
    value: float
    unit: str
    baseline: str = ""
    """What it is compared with; empty where there is nothing to compare."""
    baseline_value: float | None = None
    ratio: float | None = None
    """The median of the pairs' ratios: not the ratio of the two values beside it."""
    target: str = ""
    """In words; empty for a number that is only reported."""
    met: bool | None = None
    notes: tuple[str, ...] = ()
    """Lines to print below it: where the time goes, what was checked."""


@dataclass(frozen=True, slots=True)
class Paired:
    """What interleaved pairs gave: medians of both sides, and of the ratios ours / theirs."""

    ours: float
    theirs: float
    ratio: float


def paired(*, ours: Callable[[], float], theirs: Callable[[], float]) -> Paired:
    """Measure both sides in turn, PAIRS times; each callable returns its own number."""
    pairs = [(theirs(), ours()) for _ in range(PAIRS)]
    return Paired(
        ours=median(mine for _, mine in pairs),
        theirs=median(other for other, _ in pairs),
        ratio=median(mine / other for other, mine in pairs),
    )


def write(figure: Figure, *, folder: Path) -> None:
    """Keep a figure as `<folder>/<name>.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in asdict(figure).items() if name not in {"met", "notes"}}
    (folder / f"{figure.name}.json").write_text(json.dumps(kept, indent=2) + "\n")


def table(figures: Sequence[Figure]) -> str:
    """All figures as a table, with their notes below."""
    head = ("name", "value", "baseline", "ratio", "target", "")
    rows = [head, *(_cells(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for figure in figures:
        if figure.notes:
            lines += ["", figure.name, *(f"  {note}" for note in figure.notes)]
    return "\n".join(lines)


def _cells(figure: Figure) -> tuple[str, ...]:
    against = f"{_round(figure.baseline_value)} {figure.baseline}" if figure.baseline else ""
    verdict = {None: "", True: "met", False: "MISSED"}[figure.met]
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    value = f"{_round(figure.value)} {figure.unit}"
    return figure.name, value, against, ratio, figure.target, verdict


def _round(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"
