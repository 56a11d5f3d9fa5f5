"""Plan: the rows and the response of a valid request."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from notifications.core import clock
from notifications.core.intake import attachments, sms, validation
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
from notifications.core.rules.times.local_time import NO_ZONE, When
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


def plan_request(ask: IntakeRequest, lookups: Lookups) -> Plan | Problem:
    """Plan a request; returns a Problem for an invalid request."""
    checked = validation.validate(ask, lookups)
    if isinstance(checked, Problem):
        return checked
    caller, request = ask.caller, ask.request
    notification_id = clock.new_notification_id()
    resolved = _resolve(request, checked)
    new_deliveries = _deliveries(notification_id, ask, checked, resolved.targets, lookups)
    if caller.is_post and (refused := _refusal(ask, checked, new_deliveries)):
        return refused
    answer = AcceptedAnswer(
        notification_id,
        checked.rule.priority,
        [(each.channel, each.status) for each in new_deliveries],
        lookups.now,
        _reasons(resolved.skipped) if resolved.skipped else (),
    )
    more = _send_time_fields(checked.when) | _explanations(ask, checked, resolved, now=lookups.now)
    name = request.idempotency_key
    return Plan(
        id=notification_id,
        user_id=ask.user_id,
        row=_row(notification_id, ask, checked, lookups),
        deliveries=new_deliveries,
        response=accepted_answer.as_json(answer) | more,
        packed_response=accepted_answer.pack(answer) if name and not more else None,
        mode=caller.mode,
        key=IdempotencyKey(caller.producer_id, caller.mode, name) if name else None,
        fingerprint=Fingerprint(canonical(request)) if name else None,
        ordering_key=checked.ordering_key,
        producer_id=caller.producer_id,
        is_post=caller.is_post,
        files=_files(request, checked) if request.attachments else (),
        sms_number=_sms_number(ask, checked, new_deliveries),
    )


def _refusal(
    ask: IntakeRequest, checked: ValidRequest, new_deliveries: Sequence[NewDelivery]
) -> Problem | None:
    """Return the problem of a post: the country of an SMS."""
    has_sms = any(
        each.channel is Channel.SMS and each.status != Status.SUPPRESSED for each in new_deliveries
    )
    if not has_sms or ask.caller.mode is not Mode.LIVE:
        return None
    pointer = "/to" if ask.request.to else "/user_id"
    return sms.country_problem(ask.caller.producer_id, checked.reach.number, pointer=pointer)


def _sms_number(
    ask: IntakeRequest, checked: ValidRequest, new_deliveries: Sequence[NewDelivery]
) -> str:
    is_counted = (
        ask.caller.is_post
        and ask.caller.mode is Mode.LIVE
        and checked.rule.priority.is_urgent
        and any(
            each.channel is Channel.SMS and each.status == Status.QUEUED for each in new_deliveries
        )
    )
    return checked.reach.number if is_counted else ""


def ordering_places(plans: Sequence[Plan]) -> list[tuple[int, int, UUID]]:
    """List queue positions of new deliveries with an ordering key, except scheduled deliveries."""
    return [
        (plan.ordering_key, delivery.channel, delivery.id)
        for plan in plans
        if plan.ordering_key is not None
        for delivery in plan.deliveries
        if delivery.status == Status.QUEUED
    ]


def _resolve(request: NotificationRequest, checked: ValidRequest) -> Resolved:
    rule = checked.rule
    return channels.resolve(
        checked.reach,
        wanted=request.channels_in_order,
        spread=request.delivery,
        topics=rule.topics(request.type),
        priority=rule.priority,
    )


def _deliveries(
    notification_id: UUID,
    ask: IntakeRequest,
    checked: ValidRequest,
    targets: Sequence[Target],
    lookups: Lookups,
) -> list[NewDelivery]:
    later = checked.when.at if checked.when and checked.when.at > lookups.now else None
    if later is not None:
        # The release resolves the contacts again; until then a row represents each channel.
        targets = list({target.channel: target for target in targets}.values())
    return [
        _delivery(
            ids.delivery_id(notification_id, number),
            ask.caller,
            target,
            later,
            checked,
            lookups,
        )
        for number, target in enumerate(targets[: ids.MAX_DELIVERIES], start=1)
    ]


def _delivery(
    delivery_id: UUID,
    caller: Caller,
    target: Target,
    later: dt.datetime | None,
    checked: ValidRequest,
    lookups: Lookups,
) -> NewDelivery:
    priority = checked.rule.priority
    due_at: dt.datetime | None = lookups.now
    status, reason = Status.QUEUED, ""
    if later is not None:
        status, due_at, reason = Status.SCHEDULED, later, Reason.SCHEDULED
    elif target.stop is not None:
        status, due_at, reason = Status.SUPPRESSED, None, target.stop
    elif priority.is_urgent:
        due_at = lookups.now + publish.FIRST_REPUBLISH
    return NewDelivery(
        id=delivery_id,
        mode=caller.mode,
        priority=priority,
        channel=target.channel,
        status=status,
        reason=reason,
        due_at=due_at,
        recipient_id=checked.reach.recipient_id,
        contact_id=None if later is not None else target.contact_id,
        falls_back=bool(checked.chain),
        is_published=status is Status.QUEUED and priority.is_urgent,
        producer_id=caller.producer_id,
    )


def _row(
    notification_id: UUID, ask: IntakeRequest, checked: ValidRequest, lookups: Lookups
) -> NotificationRow:
    caller, request, traceparent, _ = ask
    rule, template, when = checked.rule, checked.template, checked.when
    sensitive = template.sensitive if template is not None else frozenset[str]()
    variables, sealed = seal(request.variables.reveal(), sensitive)
    return (
        notification_id,
        caller.producer_id,
        int(caller.mode),
        int(rule.priority),
        request.type,
        rule.category,
        rule.retry_preset,
        checked.reach.recipient_id,
        ask.user_id,
        template.id if template else None,
        request.content.model_dump_json() if request.content else None,
        _json(variables),
        sealed,
        _json(request.metadata),
        _inbox(request),
        _attachments(ask, template, lookups),
        request.collapse_key or "",
        request.ordering_key or "",
        request.webhook_url or "",
        SmallIntegers([int(each) for each in checked.chain or request.channels_in_order]),
        str(request.delivery),
        bool(checked.chain),
        request.idempotency_key or "",
        traceparent,
        when.at if when else None,
        when.local if when else "",
        when.zone if when else "",
        checked.expires_at,
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
    return _json(options) if options else None


def _send_time_fields(when: When | None) -> dict[str, Any]:
    """Return the delivery time, with the timezone of a local time."""
    if when is None:
        return {}
    fields: dict[str, Any] = {"scheduled_at": accepted_answer.instant(when.at)}
    if when.local:
        fields |= {"timezone": when.zone or NO_ZONE, "timezone_known": bool(when.zone)}
    return fields


def _json(value: Mapping[str, Any]) -> str:
    return orjson.dumps(value).decode() if value else "{}"


def _reasons(skipped: Sequence[tuple[Channel, Reason | None]]) -> list[tuple[int, str]]:
    """Return the channels without a delivery, with the reasons."""
    return [
        (channel.value, _NOT_NEEDED if stop is None else stop.value) for channel, stop in skipped
    ]


def _explanations(
    ask: IntakeRequest, checked: ValidRequest, resolved: Resolved, *, now: dt.datetime
) -> dict[str, Any]:
    """Return the additional response fields; empty for most requests.

    warnings   accepted input with a possibly unintended effect
    recipient  of a request with addresses: the user id, and if the recipient is new
    """
    fields: dict[str, Any] = {}
    if warnings := [
        *validation.unknown_variables(ask.request, checked.template),
        *_late_warnings(ask.request, now),
        *(_file_warnings(resolved) if ask.request.attachments else ()),
    ]:
        fields["warnings"] = [{"pointer": each.pointer, "detail": each.detail} for each in warnings]
    if ask.recipient is not None:
        fields["recipient"] = {"user_id": ask.recipient.user_id, "registered": ask.recipient.is_new}
    return fields


def _files(request: NotificationRequest, checked: ValidRequest) -> list[FileUse]:
    return [FileUse(each.id, checked.reach.recipient_id) for each in request.attachments]


def _file_warnings(resolved: Resolved) -> list[FieldError]:
    return attachments.warnings(each.channel for each in resolved.targets)


def _late_warnings(request: NotificationRequest, now: dt.datetime) -> list[FieldError]:
    if request.scheduled_at is None or request.scheduled_at >= now - _LATE:
        return []
    return [FieldError("/scheduled_at", "lies in the past: the notification leaves at once")]
