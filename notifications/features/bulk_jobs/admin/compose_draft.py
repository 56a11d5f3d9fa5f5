"""A draft of the composer, examined: size of the audience, previews, schedule and checks.

    form ──> examine ──> Draft: request or faults, estimate, previews, checks

Each part of a draft is examined by itself, so that the size of the audience is shown before the
template is chosen. The parts come from the modules that also serve the API: `rules.request`,
`create`, `features.audiences.rows` and `rules.templates.previews`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from notifications.core import clock, conf
from notifications.core.intake.validation import Caller
from notifications.core.models import Producer
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Problem
from notifications.features.audiences import expressions
from notifications.features.audiences.rows import estimates
from notifications.features.audiences.rows.estimates import Estimate
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.audiences.rules.nodes import Expression
from notifications.features.bulk_jobs import create
from notifications.features.bulk_jobs.admin import compose_checks
from notifications.features.bulk_jobs.admin.compose_checks import AudienceSample, Check
from notifications.features.bulk_jobs.admin.compose_form import CHOSEN, HOUR, MINUTE, ComposeForm
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.bulk_jobs.rules import request as requests
from notifications.features.bulk_jobs.rules import schedule_text
from notifications.features.bulk_jobs.rules.request import BulkJobRequest
from notifications.features.bulk_jobs.rules.schedule_text import Schedule

LARGE: Final = 10_000
"""Recipients above which the sender writes the name of the job."""


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
        return [name for name in CHOSEN if not self.form[name].value()]

    @property
    def is_ready(self) -> bool:
        """True if the job can be sent."""
        has_fault = any(check.level == "fault" for check in self.checks)
        return self.request is not None and not self.errors and not has_fault

    def schedule(self) -> str:
        """Return the schedule in words."""
        if not self.value.get("start"):
            return "The start is not chosen yet."
        count = self.estimate.count if self.estimate else None
        return schedule_text.sentences(_schedule(self.value), count=count, now=clock.now())


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
    sample = AudienceSample.of(draft.expression, mode=draft.mode)
    checks = compose_checks.run(draft.value, draft.estimate, sample, mode=draft.mode)
    draft.checks = [*_faults(draft), *checks]
    return draft


def _examine_audience(draft: Draft) -> None:
    if "audience" not in draft.value:
        return
    try:
        draft.expression = expressions.check(draft.value["audience"], mode=draft.mode)
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


def _faults(draft: Draft) -> Iterator[Check]:
    """Yield a check for the missing choices, and one for each other field with a fault."""
    missing = draft.missing
    if missing:
        yield Check("fault", " ".join(CHOSEN[name] for name in missing))
    for name in draft.errors:
        if name == "audience" and name not in missing:
            yield Check("fault", "The audience has a fault.")
        elif name in draft.form.fields and name not in missing:
            yield Check("fault", f"{draft.form[name].label}: {draft.errors[name]}")


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
