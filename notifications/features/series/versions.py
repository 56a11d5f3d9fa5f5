"""Versions: create a series, change its draft, publish, pause, resume and archive.

An enrolment stays on the version of its entry. A published version applies to new enrolments.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction

from notifications.core import clock
from notifications.core.intake.validation import Caller
from notifications.core.models import Producer
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.store.cached import notification_types
from notifications.core.store.templates import template_cache
from notifications.features.series.models import Series, SeriesVersion
from notifications.features.series.rules import definition, program
from notifications.features.series.rules.definition import Definition, SendStep
from notifications.features.series.rules.states import SeriesState

MAX_SERIES: Final = 1_000
"""Limit for a producer and mode."""
_MOVES: Final[Mapping[SeriesState, frozenset[SeriesState]]] = {
    SeriesState.PAUSED: frozenset({SeriesState.ACTIVE, SeriesState.PAUSED}),
    SeriesState.ACTIVE: frozenset({SeriesState.PAUSED, SeriesState.ACTIVE}),
    SeriesState.ARCHIVED: frozenset(SeriesState),
}
"""New state -> the states from which an operator or a producer can change to it."""
CHANGED: Final = "somebody else has changed the draft since the page was opened"
"""The detail of a conflict with a draft of another mark."""


def caller_of(producer: Producer, mode: int) -> Caller:
    """Return a producer as the caller for its series in a mode."""
    return Caller(
        producer_id=producer.pk,
        mode=Mode(mode),
        priorities=frozenset(map(Priority, producer.priorities)),
        may_send_content=producer.may_send_content,
        is_post=True,
    )


def create(caller: Caller, name: str, content: object) -> Series | Problem:
    """Store a new series with a draft.

    Args:
        caller: the producer.
        name: unique per producer and mode.
        content: the decoded definition.
    """
    parsed = definition.parse(content)
    if isinstance(parsed, Problem):
        return parsed
    with transaction.atomic():
        # Lock the producer, so that two concurrent calls cannot exceed the limit or share a name.
        Producer.objects.select_for_update(no_key=True).get(pk=caller.producer_id)
        mine = Series.objects.filter(producer_id=caller.producer_id, mode=caller.mode)
        if mine.filter(name=name).exists():
            detail = f"there is a series with the name {name}"
            return Problem(Kind.CONFLICT, detail, (FieldError("/name", detail),))
        if mine.count() >= MAX_SERIES:
            return Problem(Kind.CONFLICT, f"this producer has {MAX_SERIES} series, the limit")
        series = Series.objects.create(producer_id=caller.producer_id, mode=caller.mode, name=name)
        SeriesVersion.objects.create(series=series, number=1, definition=content)
    return series


def save_draft(
    series: Series, content: object, *, seen: str | None = None
) -> SeriesVersion | Problem:
    """Replace the draft of a series, or begin the draft of the next version.

    Args:
        series: the series.
        content: the decoded definition.
        seen: the `mark_of` the draft that the caller has read; a draft with another mark is a
            conflict. None: any draft is replaced.
    """
    parsed = definition.parse(content)
    if isinstance(parsed, Problem):
        return parsed
    with transaction.atomic():
        locked = Series.objects.select_for_update(no_key=True).get(pk=series.pk)
        if locked.state == SeriesState.ARCHIVED:
            return Problem(Kind.CONFLICT, "the series is archived and has no new versions")
        newest = locked.versions.order_by("-number").first()
        draft = newest if newest is not None and newest.published_at is None else None
        is_repeated = draft is not None and draft.definition == content
        if seen is not None and seen != _mark(draft) and not is_repeated:
            return Problem(Kind.CONFLICT, CHANGED)
        if draft is not None:
            draft.definition = content
            draft.save(update_fields=["definition", "updated_at"])
            return draft
        number = 1 if newest is None else newest.number + 1
        return SeriesVersion.objects.create(series=locked, number=number, definition=content)


def publish(
    caller: Caller, series: Series, *, by: str, seen: str | None = None
) -> Series | Problem:
    """Publish the draft: new enrolments take the version. The first publication starts the series.

    Publishing checks the types, templates and priorities of the messages.

    Args:
        caller: the producer.
        series: the series.
        by: the operator or the key.
        seen: as of `save_draft`.
    """
    with transaction.atomic():
        locked = Series.objects.select_for_update(no_key=True).get(pk=series.pk)
        if locked.state == SeriesState.ARCHIVED:
            return Problem(Kind.CONFLICT, "the series is archived and has no new versions")
        draft = draft_of(locked)
        if seen is not None and seen != _mark(draft):
            is_repeated = seen and seen == _mark(locked.current)
            return locked if is_repeated else Problem(Kind.CONFLICT, CHANGED)
        if draft is None:
            return Problem(Kind.CONFLICT, "the series has no draft; PUT a definition first")
        parsed = definition.parse(draft.definition)
        problem = parsed if isinstance(parsed, Problem) else objection_to(caller, parsed)
        if isinstance(problem, Problem) or isinstance(parsed, Problem):
            return problem or Problem(Kind.INVALID, "the draft is invalid")
        draft.published_at, draft.published_by = clock.now(), by
        draft.listens = program.compile_definition(parsed).listens
        draft.save(update_fields=["listens", "published_at", "published_by", "updated_at"])
        locked.current = draft
        locked.trigger_event = parsed.trigger.event if parsed.trigger else ""
        fields = ["current", "trigger_event", "updated_at"]
        if locked.state == SeriesState.DRAFT:
            locked.state = SeriesState.ACTIVE
            locked.state_changed_at, locked.state_changed_by = clock.now(), by
            fields += ["state", "state_changed_at", "state_changed_by"]
        locked.save(update_fields=fields)
    return locked


def change_state(series: Series, to: SeriesState, *, by: str) -> Series | Problem:
    """Pause, resume (`ACTIVE`) or archive a series. Safe to run twice.

    A running batch ends first; no later batch of a paused series begins.
    """
    with transaction.atomic():
        locked = Series.objects.select_for_update(no_key=True).get(pk=series.pk)
        if locked.state not in _MOVES[to]:
            return Problem(Kind.CONFLICT, f"the series is {locked.state} and cannot become {to}")
        if locked.state != to:
            locked.state, locked.state_changed_at, locked.state_changed_by = to, clock.now(), by
            fields = ["state", "state_changed_at", "state_changed_by", "updated_at"]
            locked.save(update_fields=fields)
    return locked


def draft_of(series: Series) -> SeriesVersion | None:
    """Return the draft of a series; None without a draft."""
    return series.versions.filter(published_at=None).first()


def mark_of(series: Series) -> str:
    """Return a text that differs for each draft and content; empty without a draft."""
    return _mark(draft_of(series))


def _mark(version: SeriesVersion | None) -> str:
    if version is None:
        return ""
    content = json.dumps(version.definition, sort_keys=True).encode()
    return f"{version.pk}-{hashlib.blake2b(content, digest_size=16).hexdigest()}"


def content_of(version: SeriesVersion | None) -> dict[str, Any] | None:
    """Return the definition of a version as JSON."""
    return None if version is None else dict(version.definition)


def objection_to(caller: Caller, parsed: Definition) -> Problem | None:
    """Return the objection of the present types, templates and priorities to a publication."""
    sends = [
        (step, "".join(f"/{part}" for part in place))
        for step, place in definition.walk(parsed.steps, ("steps",))
        if isinstance(step, SendStep)
    ]
    templates = template_cache.by_name({step.template_id for step, _ in sends})
    errors = [
        FieldError(f"{pointer}/{name}", detail)
        for step, pointer in sends
        for name, detail in _faults(caller, step, templates.get(step.template_id))
    ]
    if not errors:
        return None
    return Problem(Kind.INVALID, f"{errors[0].pointer}: {errors[0].detail}", tuple(errors[:100]))


def _faults(
    caller: Caller, step: SendStep, template: template_cache.TemplateVersion | None
) -> list[tuple[str, str]]:
    """Return the faulty fields of a send step, with the fault."""
    faults: list[tuple[str, str]] = []
    rule = notification_types.every().get(step.type)
    priority = rule.priority if step.priority is None and rule else step.priority
    if priority is None:
        faults.append(("type", notification_types.unknown(step.type)))
    elif priority not in caller.priorities:
        faults.append(("priority", f"this producer may not send with priority {priority.name}"))
    if template is None:
        meant = template_cache.did_you_mean(step.template_id)
        detail = f"no published template has the name {step.template_id}{meant}"
        return [*faults, ("template_id", detail)]
    faults += [
        (f"channels/{number}", f"template {step.template_id} has no text for {channel.label}")
        for number, channel in enumerate(step.channels)
        if channel not in template.texts
    ]
    if template.sensitive:
        names = ", ".join(sorted(template.sensitive))
        detail = f"{names} of the template is sensitive: a series cannot keep the value for days"
        faults.append(("template_id", detail))
    return faults
