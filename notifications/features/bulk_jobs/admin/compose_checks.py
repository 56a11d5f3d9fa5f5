"""The checks before a bulk job is sent, and the sample of the audience that some checks read.

A fault prevents the job; a warning and a note do not.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.template.defaultfilters import filesizeformat

from notifications.core import clock, conf
from notifications.core.delivery import routing
from notifications.core.models import Producer, Recipient
from notifications.core.rules import attachments
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.language import locales
from notifications.core.rules.switches import MessageSource
from notifications.core.store.cached import brands, switches
from notifications.core.store.postgres import time_limit
from notifications.core.store.postgres.time_limit import TooSlow
from notifications.core.store.rate_limits import breaker_status
from notifications.core.store.templates import template_cache
from notifications.core.store.templates.template_cache import TemplateVersion
from notifications.features.audiences.rows import members
from notifications.features.audiences.rows.estimates import Estimate
from notifications.features.audiences.rules.nodes import Expression
from notifications.features.bulk_jobs import mail_checks, variant_checks
from notifications.features.bulk_jobs.admin import compose_form, compose_text
from providers.contract import Channel

SAMPLED: Final = 500
"""Recipients of the audience whose locales are compared with the template."""
_SAMPLING_MILLISECONDS: Final = 300
_FIRST_CLOCK: Final = dt.timedelta(hours=14)
"""The first clocks of the world show a time 14 h before UTC."""
_SYMBOLS: Final = {"ok": "check_circle", "warning": "warning", "fault": "error"}


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check."""

    level: str
    """ok, warning or fault."""
    text: str

    @property
    def symbol(self) -> str:
        """Return the name of the Material symbol."""
        return _SYMBOLS[self.level]


@dataclass(frozen=True, slots=True)
class AudienceSample:
    """The first recipients of an audience."""

    locales: Counter[str]

    @classmethod
    def of(cls, expression: Expression | None, *, mode: Mode) -> AudienceSample:
        """Return the locales of the first recipients of the audience; none after a time limit.

        The recipients of a rare condition can lie far apart among millions.

        Raises:
            django.db.OperationalError: the database is away.
        """
        if expression is None:
            return cls(Counter())
        try:
            with time_limit.each_statement(milliseconds=_SAMPLING_MILLISECONDS):
                ids = _first_members(expression, mode)
        except TooSlow:
            ids = []
        rows = Recipient.objects.filter(pk__in=ids).values_list("locale", flat=True)
        return cls(Counter(locales.normalize(each or locales.DEFAULT) for each in rows))


def _first_members(expression: Expression, mode: Mode) -> list[int]:
    first, last = members.bounds(expression, mode=mode)
    found = members.page(expression, mode=mode, after=first - 1, until=last, limit=SAMPLED)
    return [each.recipient_id for each in found]


def run(
    value: Mapping[str, Any],
    estimate: Estimate | None,
    sample: AudienceSample,
    *,
    mode: Mode,
) -> list[Check]:
    """Return the results of all checks for which the form has the values."""
    versions = _versions(value)
    used = _channels(value, versions)
    checks = [*_audience(estimate), *_written(value)]
    for version in versions:
        checks += _texts(version, used, sample)
        if fault := variant_checks.base_texts_fault(version, used):
            checks.append(Check("warning", fault))
        checks += _unsubscribe(version, used, type_=str(value.get("type") or ""))
        checks += _attachments(version, used, mode)
    for channel in used:
        checks += _sender(channel, value, mode)
    checks += _night(value)
    checks += _past(value)
    if conf.current().dry_run:
        checks.append(Check("warning", "Dry run: this installation sends nothing."))
    return checks


def _versions(value: Mapping[str, Any]) -> list[TemplateVersion]:
    pairs = compose_form.texts_shown(value)
    found = template_cache.by_name({name for name, _ in pairs})
    return [
        version
        for name, variant in pairs
        if name in found and (version := found[name].of_variant(variant))
    ]


def _channels(value: Mapping[str, Any], versions: Sequence[TemplateVersion]) -> list[Channel]:
    """Return the channels of the job, else those of the texts."""
    wanted = [Channel(each) for each in value.get("channels") or ()]
    return wanted or sorted({channel for version in versions for channel in version.texts})


def _audience(estimate: Estimate | None) -> Iterator[Check]:
    if estimate is None:
        return  # `compose_draft` tells the fault
    if estimate.count:
        plural = "" if estimate.count == 1 else "s"
        yield Check("ok", f"The audience has {estimate.count:,} recipient{plural}.")
    else:
        yield Check("fault", "The audience is empty.")


def _written(value: Mapping[str, Any]) -> Iterator[Check]:
    """Warn of a text that is written in the form like of a template before its publication."""
    producer: Producer | None = value.get("producer")
    brand = brands.of(producer.pk if producer else None)
    yield from (Check("warning", each) for each in compose_text.warnings(value, brand=brand))


def _texts(
    version: TemplateVersion, used: Sequence[Channel], sample: AudienceSample
) -> Iterator[Check]:
    """Compare the languages of the texts with the locales of the sample."""
    name = version.label
    without = [each.label for each in used if each not in version.texts]
    if without:
        yield Check("warning", f"{name} has no text for {', '.join(without)}.")
    foreign = _foreign(version, used, sample)
    for (locale, instead), count in foreign.most_common(5):
        share = f"{count} of {sample.locales.total()} sampled recipients"
        yield Check("warning", f"{name}: {share} have the locale {locale} and get {instead}.")
    state = "is published" if version.id else "is written"
    if not sample.locales:
        yield Check("ok", f"{name} {state}. The recipients' locales are not compared.")
    elif not without and not foreign:
        yield Check("ok", f"{name} {state}, with a text for each sampled recipient's locale.")


def _foreign(
    version: TemplateVersion, used: Sequence[Channel], sample: AudienceSample
) -> Counter[tuple[str, str]]:
    """Return the locales that get another language, such as `en (push, sms)`, with recipients."""
    foreign: Counter[tuple[str, str]] = Counter()
    for locale, count in sample.locales.items():
        found: dict[str, list[str]] = defaultdict(list)
        for channel in (each for each in used if each in version.texts):
            there = tuple(version.texts[channel])
            chosen = locales.choose(there, locale, default=version.default_locale)
            if chosen is not None and locales.language_of(chosen) != locales.language_of(locale):
                found[chosen].append(channel.label)
        for chosen, channels in found.items():
            foreign[locale, f"{chosen} ({', '.join(channels)})"] = count
    return foreign


def _unsubscribe(
    version: TemplateVersion, used: Sequence[Channel], *, type_: str
) -> Iterator[Check]:
    if Channel.EMAIL not in used or Channel.EMAIL not in version.texts:
        return
    if fault := mail_checks.unsubscribe_fault(version, type_=type_):
        yield Check("warning", fault)
    else:
        yield Check("ok", f"{version.label}: each mail has an unsubscribe link.")


def _attachments(version: TemplateVersion, used: Sequence[Channel], mode: Mode) -> Iterator[Check]:
    if Channel.EMAIL not in used or not version.attachments:
        return
    if fault := mail_checks.files_fault(version, mode=mode):
        yield Check("warning", fault)
    else:
        size = filesizeformat(attachments.size_of(version.attachments))
        names = ", ".join(each.name for each in version.attachments)
        yield Check("ok", f"{version.label}: each mail has {names} ({size}).")


def _sender(channel: Channel, value: Mapping[str, Any], mode: Mode) -> Iterator[Check]:
    """Check for a provider of the messages."""
    priority = Priority[value["priority"]] if value.get("priority") else Priority.P3
    lane = Lane(mode, priority, channel)
    board, now = switches.current(), clock.now()
    producer: Producer | None = value.get("producer")
    source = MessageSource(producer.pk if producer else 0, str(value.get("type") or ""), None)
    if switch := board.of_message(source, lane, now=now):
        yield Check("warning", f"{channel.label} waits: {switch.detail}.")
        return
    if mode is Mode.TEST:
        return
    names = [each.name for each in routing.live_providers(channel)]
    if not names:
        yield Check("fault", f"No provider serves {channel.label}.")
        return
    standings = breaker_status.of_pairs((name, channel) for name in names)
    if all(standing.is_open for standing in standings.values()):
        yield Check(
            "warning", f"{channel.label} waits: the calls of {', '.join(names)} are paused."
        )
    else:
        yield Check("ok", f"{channel.label} is sent by {', '.join(names)}.")


def _night(value: Mapping[str, Any]) -> Iterator[Check]:
    """Compare the start with the producer's day; quiet hours of recipients hold messages anyway."""
    producer: Producer | None = value.get("producer")
    at: dt.datetime | None = value.get("at")
    held = "Recipients in quiet hours get the message when the quiet hours end."
    if value.get("start") != "local" or at is None or producer is None:
        yield Check("ok", held)
    elif producer.day_begins <= at.time() < producer.day_ends:
        yield Check("ok", f"The start is during the day. {held}")
    else:
        day = f"{producer.day_begins:%H:%M} to {producer.day_ends:%H:%M}"
        yield Check("warning", f"{at:%H:%M} is outside of the producer's day ({day}). {held}")


def _past(value: Mapping[str, Any]) -> Iterator[Check]:
    """Compare the start with the present."""
    at: dt.datetime | None = value.get("at")
    if at is None or at > clock.now() + _FIRST_CLOCK:
        return
    if value.get("start") == "utc" and at <= clock.now():
        yield Check("warning", "The start time is past: the job starts now.")
    if value.get("start") == "local":
        detail = "recipients there get the message at this time of the next day."
        yield Check("warning", f"The start time is past on some clocks: {detail}")
