"""A bulk job in words: its recipients, its message, its start and its rate.

    2,009 recipients whose plan is pro get the template winter_sale by email, on Tuesday 09:00 on
    each recipient's clock, at most 500 a minute.

The composer, the page of confirmation and the page of a job show the same text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.channels import Spread
from notifications.core.rules.templates import one_off
from notifications.features.bulk_jobs.rules import schedule_text
from notifications.features.bulk_jobs.rules.schedule_text import Schedule
from providers.contract import Channel

_UNITS: Final = ((1, "second"), (60, "minute"), (3_600, "hour"))
_DIGITS: Final = 6
"""Digits after the point within which a rate is a whole number."""
_METRICS: Final = {"read": "opened"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """The parts of a bulk job, or of an unfinished draft."""

    schedule: Schedule = field(default_factory=Schedule)
    has_start: bool = True
    """False: the draft has no start yet."""
    audience: str | None = None
    """`audiences.rules.wording.who`; empty: everyone; None: not chosen yet."""
    count: int | None = None
    """Recipients of the audience; None: unknown."""
    is_exact: bool = True
    """False: `count` is an estimate."""
    is_test: bool = False
    """True: recipients of test mode."""
    template_id: str = ""
    """Empty: not chosen yet."""
    variants: Sequence[Mapping[str, Any]] = ()
    """`name`, `percent` and perhaps `template_id`, as a job stores the variants."""
    winner: Mapping[str, Any] | None = None
    """`metric`, `sample_percent` and `after_seconds`."""
    holdout_percent: int = 0
    channels: Sequence[Channel] = ()
    """Empty: the order of each recipient."""
    spread: Spread = Spread.FIRST
    state: BulkJobState = BulkJobState.SCHEDULED


def describe(facts: JobFacts, *, now: dt.datetime) -> str:
    """Return a bulk job as sentences: who gets what, when and how fast; then its exceptions."""
    parts = (_start(facts, now=now), _rate(facts))
    verb = _verb(facts, is_one=facts.count in {0, 1} and facts.audience is not None)
    first = f"{_who(facts)} {verb} {_what(facts)}{_channels(facts)}, {', '.join(parts)}."
    return " ".join([first, *_exceptions(facts)])


def _verb(facts: JobFacts, *, is_one: bool = False) -> str:
    """Return the verb: the results, not the sentence, name the recipients of a message."""
    if facts.state.is_final:
        return "was to get" if is_one else "were to get"
    return "gets" if is_one else "get"


def _who(facts: JobFacts) -> str:
    """Return the subject: the number of recipients with the conditions of the audience."""
    recipient = "test recipient" if facts.is_test else "recipient"
    if facts.audience is None:
        return f"The {recipient}s of an audience (not chosen yet)"
    after = f" {facts.audience}" if facts.audience else ""
    after += "," if ", " in after else ""
    if facts.count == 0:
        return f"No {recipient}{after}"
    if facts.count is None:
        return f"The {recipient}s{after}" if after else f"All {recipient}s"
    if facts.count == 1 and not after:
        return f"The only {recipient}"
    said = f"{facts.count:,} {recipient}{'' if facts.count == 1 else 's'}{after}"
    if after:
        return said if facts.is_exact else f"About {said}"
    return f"All {said}" if facts.is_exact else f"All recipients, about {facts.count:,},"


def _what(facts: JobFacts) -> str:
    if facts.variants:
        return f"one of {len(facts.variants)} variants"
    if one_off.is_one_off(facts.template_id):
        return "a text written for this job"
    if facts.template_id:
        return f"the template {facts.template_id}"
    return "a template (not chosen yet)"


def _channels(facts: JobFacts) -> str:
    """Return the channels of a job with chosen channels, or with all channels; else nothing."""
    names = [channel.label for channel in facts.channels]
    if not names:
        return " on all channels" if facts.spread is Spread.ALL else ""
    if facts.spread is Spread.FIRST:
        return f" by {', else '.join(names)}"
    return f" by {_list(names)}"


def _start(facts: JobFacts, *, now: dt.datetime) -> str:
    match facts.schedule.send_at_local:
        case dt.datetime() as at:
            return f"on {schedule_text.wall(at, now=now)} on each recipient's clock"
        case dt.time() as at:
            return f"at the next {at:%H:%M} on each recipient's clock"
        case None:
            return _instant(facts, now=now)


def _instant(facts: JobFacts, *, now: dt.datetime) -> str:
    """Return the start of a job without a local time."""
    schedule = facts.schedule
    if not facts.has_start:
        return "at a time (not chosen yet)"
    if schedule.started_at is not None:
        return f"from {schedule_text.instant(schedule.started_at, now=now)} on"
    is_past = schedule.starts_at is not None and schedule.starts_at <= now
    if schedule.starts_at is None or (is_past and not facts.state.is_final):
        return "now"
    return f"on {schedule_text.instant(schedule.starts_at, now=now)}"


def _rate(facts: JobFacts) -> str:
    schedule = facts.schedule
    spread = ""
    if schedule.spread_seconds:
        spread = f"spread evenly over {schedule_text.duration(schedule.spread_seconds)}"
    if schedule.ceiling and schedule_text.is_limited(schedule, count=facts.count):
        limit = f"at most {per_unit(schedule.ceiling)}, the ceiling of the installation"
        return f"{spread} or longer, {limit}" if spread else limit
    if spread:
        return spread
    if schedule.rate_per_second:
        return f"at most {per_unit(schedule.rate_per_second)}"
    return "as fast as the providers take messages"


def per_unit(per_second: float) -> str:
    """Return a rate in the first unit with a whole number: `500 a minute`, else an hour."""
    for seconds, unit in _UNITS:
        number = round(float(per_second * seconds), _DIGITS)
        if number >= 1 and number.is_integer():
            return f"{int(number):,} a {unit}".replace(" a hour", " an hour")
    number = per_second * _UNITS[-1][0]
    return f"{number:,.0f} an hour" if number >= 10 else f"{number:.1f} an hour"  # noqa: PLR2004 - two digits


def _exceptions(facts: JobFacts) -> Iterator[str]:
    if facts.holdout_percent:
        who = f"{facts.holdout_percent} % of the recipients"
        yield f"{who} {_verb(facts)} no message, for comparison."
    if facts.variants:
        yield _variants(facts)
    if facts.schedule.test_group_size:
        yield schedule_text.test_group(facts.schedule)


def _variants(facts: JobFacts) -> str:
    """Return the shares of the variants without the holdout, and the rule for a winner."""
    shares = _list([_share(each, facts) for each in facts.variants])
    those = "others" if facts.holdout_percent else "recipients"
    if not facts.winner:
        return f"Of the others, {shares}." if facts.holdout_percent else f"{shares}."
    sample = f"Of a sample of {facts.winner['sample_percent']} % of the {those}, {shares}."
    metric = str(facts.winner["metric"])
    wait = schedule_text.duration(facts.winner["after_seconds"])
    best = f"the variant with the highest share of {_METRICS.get(metric, metric)} messages"
    return f"{sample} {wait} later, the other recipients {_verb(facts)} {best}."


def _share(variant: Mapping[str, Any], facts: JobFacts) -> str:
    text = one_off.described(variant.get("template_id") or facts.template_id)
    if of_text := variant.get("template_variant"):
        text = f"{text}, variant {of_text} of its texts"
    return f"{variant['percent']} % {_verb(facts)} variant {variant['name']} ({text})"


def _list(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
