"""Plan: the rows and the response of a valid request."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from notifications.core.intake import attachments, sms, validation, variable_checks
from notifications.core.intake.validation import Caller, IntakeRequest, Lookups, ValidRequest
from notifications.core.rules import accepted_answer, channels, ids
from notifications.core.rules.accepted_answer import AcceptedAnswer
from notifications.core.rules.attachments import FileUse
from notifications.core.rules.channels import Resolved, Target
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import FieldError, Problem
from notifications.core.rules.reasons import Reason
from notifications.core.rules.request import NotificationRequest, canonical
from notifications.core.rules.sensitive import Sensitive
from notifications.core.rules.states import Status
from notifications.core.rules.times.local_time import NO_ZONE
from notifications.core.store.postgres import publish, secret_variables
from notifications.core.store.postgres.arrays import SmallIntegers
from notifications.core.store.postgres.idempotency import IdempotencyKey
from notifications.core.store.postgres.inserts import NewDelivery, NotificationRow
from notifications.core.store.postgres.secret_variables import Fingerprint
from notifications.core.store.templates.template_cache import TemplateVersion
from providers.contract import Channel

_NOT_NEEDED: Final = "not_needed"
"""Reason of a usable channel after the chosen channel."""
_LATE: Final = dt.timedelta(minutes=5)
"""`scheduled_at` may lie this far in the past without a warning: clocks differ, calls are
repeated."""


@dataclass(slots=True, kw_only=True)
class Plan:
    """The rows and the response of an acceptable request."""

    id: UUID
    user_id: str
    row: NotificationRow
    deliveries: list[NewDelivery]
    response: dict[str, Any]
    packed_response: bytes | None
    """The response as an idempotency key keeps it; None without a key, or with further fields."""
    mode: Mode
    key: IdempotencyKey | None
    fingerprint: Fingerprint | None
    """Fingerprint of the body; None without an idempotency key."""
    ordering_key: int | None
    """Id of the ordering key, if any."""
    producer_id: int
    is_post: bool = False
    """True for a post of a producer and a step of a series."""
    files: Sequence[FileUse] = ()
    """The uploaded files for the recipient."""
    sms_number: str = ""
    """Number of a live P0 or P1 SMS of a post that leaves now; empty: no such SMS."""


def plan_request(ask: IntakeRequest, lookups: Lookups, notification_id: UUID) -> Plan | Problem:
    """Plan a request under a new id; returns a Problem for an invalid request."""
    if isinstance(checked := validation.validate(ask, lookups), Problem):
        return checked
    caller, request, shape = ask.caller, ask.request, checked.shape
    resolved = channels.resolve(
        checked.reach,
        wanted=shape.channels,
        spread=request.delivery,
        topics=shape.topics,
        priority=shape.rule.priority,
    )
    new_deliveries = _deliveries(notification_id, caller, checked, resolved.targets, lookups.now)
    has_number = caller.is_post and caller.mode is Mode.LIVE and checked.reach.number
    if has_number and (refused := _country_problem(ask, checked, new_deliveries)):
        return refused
    answer = AcceptedAnswer(
        notification_id,
        shape.rule.priority,
        [(each.channel, each.status) for each in new_deliveries],
        lookups.now,
        _reasons(resolved.skipped) if resolved.skipped else (),
    )
    response, name = accepted_answer.as_json(answer), request.idempotency_key
    more = _further_fields(ask, checked, resolved, now=lookups.now)
    return Plan(
        id=notification_id,
        user_id=checked.reach.user_id,
        row=_row(notification_id, ask, checked, lookups),
        deliveries=new_deliveries,
        response=response | more if more else response,
        packed_response=accepted_answer.pack(answer) if name and not more else None,
        mode=caller.mode,
        key=IdempotencyKey(caller.producer_id, caller.mode, name) if name else None,
        fingerprint=Fingerprint(canonical(request)) if name else None,
        ordering_key=shape.ordering_key,
        producer_id=caller.producer_id,
        is_post=caller.is_post,
        files=_files(request, checked) if request.attachments else (),
        sms_number=_sms_number(checked, new_deliveries) if has_number else "",
    )


def _country_problem(
    ask: IntakeRequest, checked: ValidRequest, new_deliveries: Sequence[NewDelivery]
) -> Problem | None:
    """Return the problem of the country of an SMS."""
    if not any(
        each.channel is Channel.SMS and each.status != Status.SUPPRESSED for each in new_deliveries
    ):
        return None
    pointer = "/to" if ask.request.to else "/user_id"
    return sms.country_problem(ask.caller.producer_id, checked.reach.number, pointer=pointer)


def _sms_number(checked: ValidRequest, new_deliveries: Sequence[NewDelivery]) -> str:
    """Return the number of a P0 or P1 SMS that leaves now; empty without such an SMS."""
    leaves_now = checked.shape.rule.priority.is_urgent and any(
        each.channel is Channel.SMS and each.status == Status.QUEUED for each in new_deliveries
    )
    return checked.reach.number if leaves_now else ""


def ordering_places(plans: Sequence[Plan]) -> list[tuple[int, int, UUID]]:
    """List queue positions of new deliveries with an ordering key, except scheduled deliveries."""
    return [
        (plan.ordering_key, delivery.channel, delivery.id)
        for plan in plans
        if plan.ordering_key is not None
        for delivery in plan.deliveries
        if delivery.status == Status.QUEUED
    ]


def _deliveries(
    notification_id: UUID,
    caller: Caller,
    checked: ValidRequest,
    targets: Sequence[Target],
    now: dt.datetime,
) -> list[NewDelivery]:
    later = checked.when.at if checked.when and checked.when.at > now else None
    if later is not None:
        # The release resolves the contacts again; until then a row represents each channel.
        channels_once = {target.channel: target for target in targets}
        targets = [Target(channel, None) for channel in channels_once]
    priority = checked.shape.rule.priority
    soon = now + publish.FIRST_REPUBLISH if priority.is_urgent else now
    born = []
    for number, (channel, contact_id, stop) in enumerate(targets[: ids.MAX_DELIVERIES], start=1):
        due: dt.datetime | None = soon
        status, reason = Status.QUEUED, ""
        if later is not None:
            status, due, reason = Status.SCHEDULED, later, Reason.SCHEDULED
        elif stop is not None:
            status, due, reason = Status.SUPPRESSED, None, stop
        born.append(
            NewDelivery(
                ids.delivery_id(notification_id, number),
                caller.mode,
                priority,
                channel,
                status,
                due,
                reason,
                checked.reach.recipient_id,
                contact_id,
                falls_back=bool(checked.chain),
                is_published=status is Status.QUEUED and priority.is_urgent,
                producer_id=caller.producer_id,
            )
        )
    return born


def _row(
    notification_id: UUID, ask: IntakeRequest, checked: ValidRequest, lookups: Lookups
) -> NotificationRow:
    caller, request, traceparent, _ = ask
    shape, reach, when, expires_at, chain = checked
    rule, template, variables, sealed = shape.rule, shape.template, request.variables.reveal(), None
    if template is not None and template.sensitive:
        variables, sealed = seal(variables, template.sensitive)
    return (
        notification_id,
        caller.producer_id,
        int(caller.mode),
        int(rule.priority),
        request.type,
        rule.category,
        rule.retry_preset,
        reach.recipient_id,
        reach.user_id,
        template.id if template else None,
        request.content.model_dump_json() if request.content else None,
        orjson.dumps(variables).decode(),
        sealed,
        orjson.dumps(request.metadata).decode(),
        _inbox(request),
        _attachments(ask, template, lookups),
        request.collapse_key or "",
        request.ordering_key or "",
        request.webhook_url or "",
        SmallIntegers(map(int, chain)) if chain else shape.channel_numbers,
        str(request.delivery),
        bool(chain),
        request.idempotency_key or "",
        traceparent,
        when.at if when else None,
        when.local if when else "",
        when.zone if when else "",
        expires_at,
        lookups.now,
    )


def _attachments(
    ask: IntakeRequest, template: TemplateVersion | None, lookups: Lookups
) -> str | None:
    """Return the attachments of the request and of the template as JSON; None without any."""
    request = ask.request
    if not request.attachments and (template is None or not template.attachments):
        return None
    others = template.attachments_on(request.channels_in_order) if template else ()
    return attachments.column(request, ask.files, lookups.files, others)


def seal(
    variables: dict[str, Any], sensitive: frozenset[str]
) -> tuple[dict[str, Any], bytes | None]:
    """Return the variables without the sensitive variables, and the sensitive ones encrypted.

    Args:
        variables: name -> value.
        sensitive: names of sensitive variables; a name without a value is ignored.
    """
    hidden = sensitive & variables.keys()
    if not hidden:
        return variables, None
    sealed = secret_variables.encrypt(Sensitive({name: variables[name] for name in hidden}))
    return {name: value for name, value in variables.items() if name not in hidden}, sealed


def _inbox(request: NotificationRequest) -> str | None:
    """Return the options of the in-app message as JSON; None without options."""
    options: dict[str, Any] = {}
    if request.inbox_expires_in_seconds is not None:
        options["expires_in"] = request.inbox_expires_in_seconds
    if request.inbox_data:
        options["data"] = request.inbox_data
    return orjson.dumps(options).decode() if options else None


def _reasons(skipped: Sequence[tuple[Channel, Reason | None]]) -> list[tuple[int, str]]:
    """Return the channels without a delivery, with the reasons."""
    return [
        (channel.value, _NOT_NEEDED if stop is None else stop.value) for channel, stop in skipped
    ]


def _further_fields(
    ask: IntakeRequest, checked: ValidRequest, resolved: Resolved, *, now: dt.datetime
) -> dict[str, Any]:
    """Return the further response fields; empty for most requests.

    scheduled_at, timezone, timezone_known    the delivery time, with the timezone of a local time
    warnings                                  accepted input with a possibly unintended effect
    recipient                                 of a request with addresses: the user id, and if the
                                              recipient is new
    """
    request, template, when = ask.request, checked.shape.template, checked.when
    fields: dict[str, Any] = {}
    if when is not None:
        fields["scheduled_at"] = accepted_answer.instant(when.at)
        if when.local:
            fields |= {"timezone": when.zone or NO_ZONE, "timezone_known": bool(when.zone)}
    warnings = variable_checks.unknown(template, request.variables.reveal()) if template else []
    if request.scheduled_at is not None and request.scheduled_at < now - _LATE:
        said = "lies in the past: the notification leaves at once"
        warnings.append(FieldError("/scheduled_at", said))
    if request.attachments:
        warnings += attachments.warnings(each.channel for each in resolved.targets)
    if warnings:
        fields["warnings"] = [{"pointer": each.pointer, "detail": each.detail} for each in warnings]
    if ask.recipient is not None:
        fields["recipient"] = {"user_id": ask.recipient.user_id, "registered": ask.recipient.is_new}
    return fields


def _files(request: NotificationRequest, checked: ValidRequest) -> list[FileUse]:
    return [FileUse(each.id, checked.reach.recipient_id) for each in request.attachments]
