"""Results on the page of a bulk job: sentences, and plots that need no script.

A plot is a table with bars that the server draws as SVG: a reader without a picture has the
numbers, and the policy for styles of the page stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import BulkJobState, Total
from notifications.features.bulk_jobs.figures import JobFigures
from notifications.features.bulk_jobs.rules import left_out, results
from notifications.features.bulk_jobs.rules.figures import VariantFigures
from notifications.features.bulk_jobs.rules.results import Outcome, VariantShare

_VERBS: Final = {Total.DELIVERED: "delivered", Total.READ: "opened", Total.CLICKED: "clicked"}
"""Metric -> participle, in the order of the plots."""
_ENDS: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Shares at which the axis of a plot can end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar of a plot; positions are percent of the width."""

    label: str
    count: int
    share: str
    width: str
    low: str = ""
    """Begin of the interval; empty: no interval."""
    high: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot of bars below each other."""

    title: str
    note: str
    """Meaning of the width and of the line."""
    bars: Sequence[Bar]


def sentences(job: BulkJob, found: JobFigures) -> list[str]:
    """Return the results of a job in words, with the comparison of its variants."""
    return list(_sentences(job, found))


def _sentences(job: BulkJob, found: JobFigures) -> Iterator[str]:
    is_over = BulkJobState(job.state).is_final
    yield results.recipients(
        examined=found.examined,
        accepted=found.accepted,
        left_out=found.left_out,
        is_over=is_over,
    )
    yield from results.messages(_outcome(found.whole))
    compared = list(_compare_variants(job, found))
    for total, shares in compared:
        yield results.variants(shares, verb=_VERBS[total])
    if compared and job.winner:
        yield "The figures of the winner include the recipients after the sample."


def plots(job: BulkJob, found: JobFigures) -> list[Plot]:
    """Return the plot of the recipients, and a plot of the variants for each metric."""
    drawn = [_recipients(job, found)] if found.examined else []
    compared = _compare_variants(job, found)
    return drawn + [_variants(shares, verb=_VERBS[total]) for total, shares in compared]


def _metrics(job: BulkJob) -> set[Total]:
    """Return the metrics of a comparison: opened, clicked, and that of the rule for a winner."""
    rule = job.winner_rule
    return {Total.READ, Total.CLICKED, *([Total(rule["metric"])] if rule else [])}


def _compare_variants(
    job: BulkJob, found: JobFigures
) -> Iterator[tuple[Total, list[VariantShare]]]:
    """Yield each metric with the shares of the variants; a metric of no message is left out."""
    names = [str(each["name"]) for each in job.variants]
    if len(names) < 2:  # noqa: PLR2004 - a comparison needs two
        return
    metrics = _metrics(job)
    for total in (each for each in _VERBS if each in metrics):
        shares = [_share(name, found.variants.get(name, VariantFigures()), total) for name in names]
        if any(each.count for each in shares):
            yield total, shares


def _share(name: str, variant: VariantFigures, total: Total) -> VariantShare:
    sent = variant.total(Total.SENT)
    return VariantShare(name, min(variant.total(total), sent), sent)


def _outcome(whole: VariantFigures) -> Outcome:
    return Outcome(
        accepted=whole.total(Total.ACCEPTED),
        sent=whole.total(Total.SENT),
        delivered=whole.total(Total.DELIVERED),
        opened=whole.total(Total.READ),
        clicked=whole.total(Total.CLICKED),
        failed=whole.total(Total.FAILED),
        bounced=whole.total(Total.BOUNCED),
        complained=whole.total(Total.COMPLAINED),
    )


def _recipients(job: BulkJob, found: JobFigures) -> Plot:
    """Return the plot of recipients with a message, without one, and not examined yet."""
    rows = [("With a message", found.accepted)]
    rows += [(left_out.sentence(reason), count) for reason, count in found.left_out.items()]
    rest = (found.estimate or 0) - found.examined
    if rest > 0 and not BulkJobState(job.state).is_final:
        rows.append(("Not examined yet, about", rest))
    whole = sum(count for _, count in rows)
    bars = [
        Bar(
            label=label,
            count=count,
            share=results.percent(count, whole),
            width=_position(count / whole if whole else 0),
        )
        for label, count in rows
    ]
    return Plot("Recipients", f"The whole width is {whole:,} recipients.", bars)


def _variants(shares: Sequence[VariantShare], *, verb: str) -> Plot:
    """Return the plot of a metric, with the 95 % interval of each variant."""
    highest = max(each.interval[1] for each in shares if each.whole)
    end = next(each for each in _ENDS if each >= highest)
    bars = [
        Bar(
            label=f"Variant {each.name}",
            count=each.count,
            share=results.percent(each.count, each.whole),
            width=_position(each.part / end),
            low=_position(each.interval[0] / end) if each.whole else "",
            high=_position(each.interval[1] / end) if each.whole else "",
        )
        for each in shares
    ]
    width = f"The whole width is {end * 100:g} %; the line is the 95 % interval."
    return Plot(f"{verb.capitalize()} by variant", f"Share of the sent messages. {width}", bars)


def _position(part: float) -> str:
    """Return a part of the width in percent, at most the whole width."""
    return f"{100 * min(max(part, 0), 1):.2f}"
