"""Writes the tables of `docs/operations.md`: `python -m tests.architecture.operations_page`.

The tables stand between `<!-- begin NAME -->` and `<!-- end NAME -->`; the text around the tables
is written by hand.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

import django
from prometheus_client.metrics_core import Metric as Family

from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.reasons import Reason
from tests.architecture import log_events

_METRIC_HEADER: Final = ("metric", "type", "labels", "meaning")
PAGE: Final = log_events.ROOT / "docs" / "operations.md"


def tables() -> Mapping[str, str]:
    """Return each table, by the name of its place in the page."""
    return {
        "reasons": _table(("reason", "meaning"), ((f"`{each}`", each.sentence) for each in Reason)),
        "alerts": _table(
            ("alert", "title", "severity", "meaning"),
            (
                (f"[`{each}`](#{each})", each.label, each.severity.value, each.sentence)
                for each in AlertKind
            ),
        ),
        "metrics": _metrics(),
        "instruments": _instruments(),
        "worker gauges": _worker_gauges(),
        "log events": _log_events(),
        "sweeps": _sweeps(),
    }


def text(page: str) -> str:
    """Return the page with every table as it has to be."""
    for name, table in tables().items():
        begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"{PAGE.name} needs one place for the table {name!r}")
        before, _, rest = page.partition(begin)
        page = before + begin + table + end + rest.partition(end)[2]
    return page


def _metrics() -> str:
    from notifications.core.api.metrics import Metric  # noqa: PLC0415 - after Django is set up

    families = [(each.family(), each.labels) for each in Metric]
    return _table(_METRIC_HEADER, (_metric(*each) for each in families))


def _instruments() -> str:
    from notifications.core.telemetry.instruments import INSTRUMENTS  # noqa: PLC0415 - after Django is set up

    families = [(each.describe(), each._labelnames) for each in INSTRUMENTS]
    return _table(_METRIC_HEADER, (_metric(family, labels) for [family], labels in families))


def _worker_gauges() -> str:
    from notifications.core.tasks.metrics import WorkerGauges  # noqa: PLC0415 - after Django is set up

    families = WorkerGauges(1).collect()
    return _table(
        _METRIC_HEADER, (_metric(each, list(each.samples[0].labels)) for each in families)
    )


def _metric(family: Family, labels: Iterable[str]) -> tuple[str, ...]:
    name = family.name + ("_total" if family.type == "counter" else "")
    return f"`{name}`", family.type, ", ".join(labels), family.documentation


def _log_events() -> str:
    return _table(
        ("event", "level", "fields", "meaning", "written by"),
        (
            (
                f"`{event}`",
                ", ".join(sorted(written.levels)),
                ", ".join(sorted(written.fields)),
                log_events.MEANINGS.get(event, ""),
                ", ".join(f"`{module}`" for module in sorted(written.modules)),
            )
            for event, written in log_events.collect().items()
        ),
    )


def _sweeps() -> str:
    from notifications.core.sweeps import SWEEPS  # noqa: PLC0415 - after Django is set up

    return _table(
        ("sweep", "interval in seconds", "while it is off"),
        (
            (f"`{each.name}`", f"{each.every.total_seconds():.0f}", each.stops)
            for each in sorted(SWEEPS.values(), key=lambda each: each.name)
        ),
    )


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    django.setup()
    PAGE.write_text(text(PAGE.read_text()))
