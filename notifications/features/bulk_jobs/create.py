"""Create: check a request for a bulk job and store one row.

The recipients are not read, so the call takes the same time for any number of recipients. The
category, the template versions and the expressions of saved audiences are pinned: a later edit
changes no message of the job. Sensitive variables of the templates are encrypted until the job ends
(`page` decrypts the variables, `progress.finish` and `changes.end_cancelled` remove them).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from notifications.core import clock
from notifications.core.intake import plan, variable_checks
from notifications.core.intake.validation import Caller
from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import FieldError, Kind, Problem, Refused
from notifications.core.rules.templates import one_off
from notifications.core.rules.webhook_events import StatusEvent
from notifications.core.store.cached import notification_types
from notifications.core.store.cached.notification_types import TypeRule
from notifications.core.store.postgres import webhook_messages
from notifications.core.store.templates import template_cache
from notifications.core.store.templates.template_cache import TemplateVersion
from notifications.features.audiences.rows import resolve
from notifications.features.audiences.rules import canonical, parse
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.bulk_jobs.rules import request as requests
from notifications.features.bulk_jobs.rules import zones
from notifications.features.bulk_jobs.rules.request import BulkJobRequest


class BulkJobRefused(Refused):
    """The job cannot be created or changed; `problem` has the reason."""


def create(
    caller: Caller, request: BulkJobRequest, *, by: str, job_id: UUID | None = None
) -> BulkJob:
    """Store a job; its expansion begins at the start time.

    Args:
        caller: the producer, with the permissions of the key.
        request: the checked body.
        by: the operator, or the API key.
        job_id: a new UUIDv7; None: the job gets an id. With an id, a repeated call stores no second
            job.

    Raises:
        BulkJobRefused: the type, a template, a variable or the priority is wrong.
        django.db.IntegrityError: a job has the id.
    """
    job = build(caller, request, by=by)
    job.id = job_id or job.id
    with transaction.atomic():
        job.save(force_insert=True)
        webhook_messages.tell_bulk_job(job.pk, StatusEvent.BULK_JOB_CREATED)
    return job


def build(caller: Caller, request: BulkJobRequest, *, by: str) -> BulkJob:
    """Return a job that is not stored, for `create` and for a dry run; as `create`.

    Raises:
        BulkJobRefused: the type, a template, a variable, the priority or a time is wrong.
    """
    rule = type_rule(caller, request)
    templates = current_templates(request)
    audience = resolve_audience(request, mode=caller.mode)
    sensitive = frozenset[str]().union(*(each.sensitive for each in templates.values()))
    variables, secrets = plan.seal(request.variables, sensitive)
    now = clock.now()
    if zones.has_passed(request.send_at_local or "", now=now):
        detail = "the time has passed in every timezone"
        raise BulkJobRefused(_invalid("/send_at_local", detail))
    return BulkJob(
        producer_id=caller.producer_id,
        mode=caller.mode,
        name=request.name,
        state=BulkJobState.SCHEDULED,
        state_changed_at=now,
        audience=audience,
        type=request.type,
        category=rule.category,
        priority=rule.priority,
        template_id=request.template_id,
        template=templates[request.template_id].id,
        variables=variables,
        secrets=secrets,
        channels=[int(channel) for channel in request.channels],
        spread=request.delivery.value,
        unique_by=request.unique_by.value,
        ttl_seconds=request.ttl_seconds,
        metadata=request.metadata,
        starts_at=max(request.scheduled_at or now, now),
        created_at=now,
        created_by=by[:150],
        **_pace(request),
        **_comparison(request, templates),
    )


def _pace(request: BulkJobRequest) -> dict[str, Any]:
    return {
        "send_at_local": request.send_at_local or "",
        "rate_per_second": request.rate_per_second,
        "spread_seconds": request.spread_seconds,
        "weight": request.weight,
        "test_group_size": request.test_group.size if request.test_group else 0,
        "test_group_seconds": request.test_group.wait_seconds if request.test_group else 0,
        "abort_limits": request.abort_limits.model_dump(exclude_none=True)
        if request.abort_limits
        else {},
    }


def _comparison(
    request: BulkJobRequest, templates: Mapping[str, TemplateVersion]
) -> dict[str, Any]:
    variants = [
        {
            "name": each.name,
            "template_id": each.template_id or request.template_id,
            "template": templates[each.template_id or request.template_id].id,
            "template_variant": each.template_variant or "",
            "percent": each.percent,
        }
        for each in request.variants
    ]
    return {
        "variants": variants,
        "holdout_percent": request.holdout_percent,
        "winner_rule": request.winner.model_dump(mode="json") if request.winner else None,
    }


def resolve_audience(request: BulkJobRequest, *, mode: Mode) -> dict[str, Any]:
    """Return `resolved` of a request.

    Raises:
        BulkJobRefused: the expression is wrong, or a name does not exist.
    """
    try:
        return resolved(request.audience, mode=mode)
    except ExpressionError as error:
        raise BulkJobRefused(error.problem(within="/audience")) from error


def resolved(audience: object, *, mode: Mode) -> dict[str, Any]:
    """Return an audience with the present expressions of saved audiences, as JSON.

    Raises:
        ExpressionError: the expression is wrong, or a name does not exist.
    """
    return canonical.to_json(resolve.resolve(parse.parse(audience), mode=mode).stored)


def type_rule(caller: Caller, request: BulkJobRequest) -> TypeRule:
    """Return the rule of the type, with the priority of the request if given.

    P0 and P1 are refused: rows of a bulk job in these lanes would delay one-time passwords.

    Raises:
        BulkJobRefused: the type is unknown, or the priority is refused.
    """
    rule = notification_types.every().get(request.type)
    if rule is None and request.priority is None:
        raise BulkJobRefused(_invalid("/type", notification_types.unknown(request.type)))
    priority = request.priority
    if priority is None:
        priority = rule.priority if rule else Priority.P3
    if priority not in requests.PRIORITIES:
        detail = f"{requests.priority_fault(priority)}; add a priority to the request"
        raise BulkJobRefused(_invalid("/priority", detail))
    if priority not in caller.priorities:
        detail = f"this producer may not send with priority {priority.name}"
        problem = Problem(Kind.FORBIDDEN, detail, (FieldError("/priority", detail),))
        raise BulkJobRefused(problem)
    if rule is None:
        return TypeRule(priority=priority, category="", retry_preset="")
    return TypeRule(priority=priority, category=rule.category, retry_preset=rule.retry_preset)


def current_templates(request: BulkJobRequest) -> dict[str, TemplateVersion]:
    """Return the current versions of the templates of a request, by name.

    Raises:
        BulkJobRefused: a template or a variant of its texts is unknown, a text for a channel or a
            variable is missing.
    """
    pointers = {request.template_id: "/template_id"} | {
        each.template_id: f"/variants/{position}/template_id"
        for position, each in enumerate(request.variants)
        if each.template_id
    }
    found = template_cache.by_name(set(pointers))
    for name, pointer in pointers.items():
        template = found.get(name)
        if template is None:
            meant = template_cache.did_you_mean(name)
            detail = f"no published template has the name {name}{meant}"
            raise BulkJobRefused(_invalid(pointer, detail))
        _check_template(request, template)
    for position, each in enumerate(request.variants):
        if each.template_variant:
            template = found[each.template_id or request.template_id]
            _check_variant(request, template, each.template_variant, position)
    return found


def _check_variant(
    request: BulkJobRequest, template: TemplateVersion, variant: str, position: int
) -> None:
    """Check the texts of a variant.

    Raises:
        BulkJobRefused: the variant is unknown, or a variable is missing.
    """
    of_variant = template.of_variant(variant)
    if of_variant is None:
        there = ", ".join(template.variants) or "none"
        text = one_off.described(template.template_id)
        detail = f"{text} has no variant {variant}; published: {there}"
        raise BulkJobRefused(_invalid(f"/variants/{position}/template_variant", detail))
    _check_template(request, of_variant)


def _check_template(request: BulkJobRequest, template: TemplateVersion) -> None:
    """Check the texts and the variables of a template.

    Raises:
        BulkJobRefused: a text or a variable is missing.
    """
    for position, channel in enumerate(request.channels):
        if channel not in template.texts:
            text = one_off.described(template.template_id)
            detail = f"{text} has no text for {channel.label}"
            raise BulkJobRefused(_invalid(f"/channels/{position}", detail))
    if has_upload(request.audience):
        return  # the columns of the upload are variables, checked for each recipient
    wanted = request.channels or list(template.texts)
    wrong = [
        FieldError(f"/variables/{name}", detail)
        for name, detail in variable_checks.mistakes(template, wanted, request.variables)
    ]
    if wrong:
        detail = f"{wrong[0].pointer}: {wrong[0].detail}"
        raise BulkJobRefused(Problem(Kind.INVALID, detail, tuple(wrong)))


def has_upload(expression: object) -> bool:
    """Return True if an audience expression names an upload, also inside a saved audience."""
    if isinstance(expression, Mapping):
        names_one = "upload" in expression or "audience" in expression
        return names_one or any(has_upload(each) for each in expression.values())
    return isinstance(expression, list) and any(has_upload(each) for each in expression)


def _invalid(pointer: str, detail: str) -> Problem:
    return Problem(Kind.INVALID, detail, (FieldError(pointer, detail),))
