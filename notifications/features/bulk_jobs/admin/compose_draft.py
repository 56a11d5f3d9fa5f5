"""A draft of the composer, examined: size of the audience, previews, schedule and checks.

    form ──> examine ──> Draft: request or faults, estimate, previews, checks

Each part of a draft is examined by itself, so that the size of the audience is shown before the
template is chosen. The parts come from the modules that also serve the API: `rules.request`,
`create`, `features.audiences.rows` and `rules.templates.previews`.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from notifications.core import clock, conf
from notifications.core.admin.preview_panel import Panel
from notifications.core.delivery import routing
from notifications.core.intake.validation import Caller
from notifications.core.models import BulkJob, Producer, Recipient, Template
from notifications.core.rules import attachments
from notifications.core.rules.attachments import Attachment
from notifications.core.rules.brand import Brand
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.language import locales
from notifications.core.rules.problems import Problem
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.templates import one_off, previews
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.cached import brands
from notifications.core.store.templates import versions
from notifications.features.audiences import expressions
from notifications.features.audiences.rows import estimates, members
from notifications.features.audiences.rows.estimates import Estimate
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.audiences.rules.nodes import And, Expression, UserIds
from notifications.features.bulk_jobs import create
from notifications.features.bulk_jobs.admin import compose_checks, compose_form, compose_text
from notifications.features.bulk_jobs.admin.compose_checks import AudienceSample, Check
from notifications.features.bulk_jobs.admin.compose_form import (
    CHOSEN,
    HOUR,
    LIMITS,
    MINUTE,
    PERCENT,
    VARIANT_PARTS,
    VARIANTS,
    ComposeForm,
)
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.bulk_jobs.rules import request as requests
from notifications.features.bulk_jobs.rules import schedule_text
from notifications.features.bulk_jobs.rules.request import BulkJobRequest
from notifications.features.bulk_jobs.rules.schedule_text import Schedule
from providers.contract import Channel

LARGE: Final = 10_000
"""Recipients above which the sender writes the name of the job."""

_DIGITS: Final = 6
"""Digits after the point of a number of hours, a rate or a percentage."""


@dataclass(slots=True, kw_only=True)
class Draft:
    """The parts of a draft that could be examined."""

    form: ComposeForm
    mode: Mode
    errors: dict[str, str] = field(default_factory=dict)
    """Field of the form -> sentences."""
    request: BulkJobRequest | None = None
    """None: a field has a fault."""
    expression: Expression | None = None
    audience: Mapping[str, Any] | None = None
    """The expression with the saved audiences, as read before the count; None: a field has a fault.
    """
    audience_faults: list[tuple[str, str]] = field(default_factory=list)
    """JSON pointer within the audience expression, and the sentence."""
    estimate: Estimate | None = None
    checks: list[Check] = field(default_factory=list)

    @property
    def value(self) -> Mapping[str, Any]:
        """The values of the fields without a fault."""
        return self.form.cleaned_data

    @property
    def must_be_confirmed(self) -> bool:
        """True if the sender confirms the job on a page of its own."""
        return self.mode is Mode.LIVE

    @property
    def must_be_named(self) -> bool:
        """True if the sender confirms with the name of the job."""
        is_large = self.estimate is not None and self.estimate.count > LARGE
        return is_large and self.must_be_confirmed

    @property
    def missing(self) -> list[str]:
        """The fields without a choice of the sender."""
        given = {"template_id"} if self.form.writes_text else set()
        return [name for name in CHOSEN if name not in given and not self.form[name].value()]

    @property
    def is_ready(self) -> bool:
        """True if the job can be sent."""
        has_fault = any(check.level == "fault" for check in self.checks)
        return self.request is not None and not self.errors and not has_fault

    @property
    def schedule(self) -> Schedule:
        """The chosen times and rate."""
        return _schedule(self.value)

    def schedule_words(self) -> str:
        """Return the schedule in words."""
        if not self.value.get("start"):
            return "The start is not chosen yet."
        count = self.estimate.count if self.estimate else None
        return schedule_text.sentences(self.schedule, count=count, now=clock.now())


def caller_of(producer: Producer, mode: Mode, *, by: str) -> Caller:
    """Return the producer as the caller of `create`."""
    return Caller(
        producer_id=producer.pk,
        mode=mode,
        priorities=frozenset(map(Priority, producer.priorities)),
        may_send_content=False,
        by=by,
    )


def examine(form: ComposeForm) -> Draft:
    """Examine a bound form."""
    form.is_valid()
    mode = form.cleaned_data.get("mode", Mode.LIVE)
    draft = Draft(form=form, mode=mode)
    draft.errors = {name: " ".join(map(str, each)) for name, each in form.errors.items()}
    _examine_audience(draft)
    _examine_request(draft)
    objections = compose_text.objections(draft.value)
    draft.errors = {**objections, **draft.errors}
    sample = AudienceSample.of(draft.expression, mode=draft.mode)
    checks = compose_checks.run(draft.value, draft.estimate, sample, mode=draft.mode)
    draft.checks = [*_faults(draft, objections), *checks]
    return draft


def _examine_audience(draft: Draft) -> None:
    if "audience" not in draft.value:
        return
    try:
        draft.expression = expressions.check(draft.value["audience"], mode=draft.mode)
        draft.audience = create.resolved(draft.value["audience"], mode=draft.mode)
        draft.estimate = estimates.estimate(draft.expression, mode=draft.mode)
    except ExpressionError as error:
        draft.expression = None
        draft.audience_faults = [(error.error.pointer, error.error.detail)]
        draft.errors.setdefault("audience", str(error))


def _examine_request(draft: Draft) -> None:
    parsed = requests.parse(draft.form.body())
    if isinstance(parsed, Problem):
        found = draft.form.fields_of(parsed.errors)
        draft.errors = {**found, **draft.errors}
        return
    producer: Producer | None = draft.value.get("producer")
    if producer is None:
        return
    caller = caller_of(producer, draft.mode, by="")
    try:
        create.type_rule(caller, parsed)
        create.current_templates(parsed)
    except BulkJobRefused as error:
        draft.errors = {**draft.form.fields_of(error.problem.errors), **draft.errors}
    else:
        draft.request = parsed


def _faults(draft: Draft, objections: Mapping[str, str]) -> Iterator[Check]:
    """Yield a check for the missing choices, and a check for every other field with a fault.

    Args:
        draft: the draft with its errors.
        objections: field -> objections to a written text, which name the place in the text.
    """
    missing = draft.missing
    if missing:
        yield Check("fault", " ".join(CHOSEN[name] for name in missing))
    for name in draft.errors:
        if name == "audience" and name not in missing:
            yield Check("fault", "The audience has a fault.")
        elif name in draft.form.fields and name not in missing:
            said = draft.errors[name]
            named = said if said == objections.get(name) else f"{draft.form[name].label}: {said}"
            yield Check("fault", named)


def _schedule(value: Mapping[str, Any]) -> Schedule:
    at: dt.datetime | None = value.get("at")
    start, pace = value.get("start"), value.get("pace")
    number: float | None = value.get("pace_number")
    minutes: float | None = value.get("test_group_minutes")
    return Schedule(
        starts_at=at if start == "utc" else None,
        send_at_local=at.replace(tzinfo=None) if at and start == "local" else None,
        rate_per_second=number / HOUR if number and pace == "rate" else None,
        spread_seconds=round(number * HOUR) if number and pace == "spread" else None,
        ceiling=conf.current().bulk_job_rate,
        test_group_size=value.get("test_group_size") or 0,
        test_group_seconds=round((minutes or 0) * MINUTE),
    )


def values_of_copy(job: BulkJob) -> dict[str, Any]:
    """Return field of the form -> value; the start time and encrypted variables are left out."""
    return {
        "name": job.name,
        "producer": job.producer_id,
        "mode": job.mode,
        "audience": _json(job.audience),
        "type": job.type,
        "priority": Priority(job.priority).name,
        **compose_text.values_of(job),
        "variables": _json(job.variables),
        "channels": [Channel(each).label for each in job.channels],
        "delivery": job.spread,
        "unique_by": job.unique_by,
        "ttl_hours": _in_units(job.ttl_seconds, HOUR),
        "weight": job.weight,
        "holdout_percent": job.holdout_percent or None,
        "metadata": _json(job.metadata),
        **_pace(job),
        **_variants(job),
        **_limits(job),
    }


def _pace(job: BulkJob) -> dict[str, Any]:
    if job.rate_per_second:
        return {"pace": "rate", "pace_number": _plain(job.rate_per_second * HOUR)}
    if job.spread_seconds:
        return {"pace": "spread", "pace_number": _in_units(job.spread_seconds, HOUR)}
    return {}


def _variants(job: BulkJob) -> dict[str, Any]:
    parts = {each: "template_id" if each == "template" else each for each in VARIANT_PARTS}
    found: dict[str, Any] = {
        f"variant_{letter}_{part}": each.get(name, "")
        for letter, each in zip(VARIANTS, job.variants, strict=False)
        for part, name in parts.items()
    }
    for name in compose_form.TEMPLATE_FIELDS:
        if found.get(name) == one_off.name_of(job.pk):
            found[name] = ""  # the text of the job
    if rule := job.winner_rule:
        found |= {
            "winner_metric": rule["metric"],
            "winner_sample": rule["sample_percent"],
            "winner_minutes": _in_units(rule["after_seconds"], MINUTE),
        }
    return found


def _limits(job: BulkJob) -> dict[str, Any]:
    limits: Mapping[str, Any] = job.abort_limits
    found: dict[str, Any] = {
        f"abort_{name}": _plain(limits[name] * PERCENT)
        for name in LIMITS
        if limits.get(name) is not None
    }
    if found:
        found["abort_minimum"] = limits.get("minimum")
    if job.test_group_size:
        found["test_group_size"] = job.test_group_size
        found["test_group_minutes"] = _in_units(job.test_group_seconds, MINUTE)
    return found


def _in_units(seconds: int | None, unit: int) -> float | int | None:
    return None if seconds is None else _plain(seconds / unit)


def _plain(number: float) -> float | int:
    """Return a number as people write it: `5` instead of `5.0`."""
    rounded = round(number, _DIGITS)
    return int(rounded) if rounded.is_integer() else rounded


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) if value else ""


def previews_context(draft: Draft, *, may_see_recipients: bool) -> dict[str, Any]:
    """Return the previews, and a sentence about the chosen recipient.

    Args:
        draft: the examined draft; an unknown recipient becomes an error of the draft.
        may_see_recipients: without the right, a typed user id is not looked up.
    """
    variables: dict[str, Any] = dict(draft.value.get("variables") or {})
    locale = str(draft.value.get("preview_locale") or "")
    user_id = str(draft.value.get("preview_user") or "").strip()
    told = ""
    if user_id and may_see_recipients:
        person = Recipient.objects.filter(mode=draft.mode, user_id=user_id).first()
        if person is None:
            draft.errors["preview_user"] = f"no recipient of {draft.mode.label} mode has this id"
        else:
            locale = locale or person.locale
            own = _preview_variables(draft, person)
            told = f"{user_id}, locale {person.locale or 'unknown'}."
            if own is None:
                told += " This recipient is not in the audience."
            variables |= own or {}
    found = [
        (version, variant, _preview_panels(draft, version, variant, locale, variables))
        for name, variant in compose_form.texts_shown(draft.value)
        if (version := _version(draft, name))
    ]
    return {"versions": found, "told": told}


def _version(draft: Draft, name: str) -> Template | None:
    """Return the current version of a template; a row that is not stored for a written text."""
    if compose_text.CONTENT in draft.value and name == draft.value["template_id"]:
        return Template(template_id=name, **draft.value[compose_text.CONTENT].settings)
    return versions.current(name)


def _preview_variables(draft: Draft, person: Recipient) -> Mapping[str, Any] | None:
    """Return the columns of uploads; None if the recipient is not in the audience."""
    if draft.expression is None:
        return None
    alone = And((draft.expression, UserIds((person.user_id,))))
    found = members.page(alone, mode=draft.mode, after=person.pk - 1, until=person.pk, limit=1)
    return (found[0].variables or {}) if found else None


def _preview_panels(
    draft: Draft, version: Template, variant: str, locale: str, variables: Mapping[str, Any]
) -> list[Panel]:
    masked = {**variables, **dict.fromkeys(version.sensitive_variables, MASK)}
    producer: Producer | None = draft.value.get("producer")
    brand = brands.of(producer.pk if producer else None)
    words = _words(draft, version, variant, locale)
    files = attachments.of_template(version.attachments)
    return [_preview_panel(each, masked, brand, files) for each in words]


def _words(draft: Draft, version: Template, variant: str, locale: str) -> list[TextSource]:
    """Return the texts for a locale; without a locale every language of a written text."""
    is_written = version.pk is None
    texts: Sequence[TextSource] = (
        compose_text.preview_texts(draft.value)
        if is_written
        else versions.content_of(version).texts
    )
    wanted = [Channel(each) for each in draft.value.get("channels") or ()]
    there = sorted({text.channel for text in texts})
    shown = [each for each in wanted if each in there] or there
    if is_written and not locale:
        return [text for each in shown for text in texts if text.channel is each]
    locale, default = locale or locales.DEFAULT, version.default_locale
    found = (
        previews.chosen(texts, each, locale, default=default, variant=variant) for each in shown
    )
    return [each for each in found if each is not None]


def _preview_panel(
    words: TextSource,
    variables: Mapping[str, Any],
    brand: Brand,
    files: Sequence[Attachment],
) -> Panel:
    schemes = conf.current().inbox_url_schemes
    made = previews.preview(
        words,
        variables,
        url_schemes=schemes,
        brand=brand,
        chat_schemes=routing.chat_schemes(),
    )
    return Panel(words=words, instead="", preview=made, files=files)
