"""Plan: what accepting a request would store. Reads what it needs in one query each for the whole list, writes nothing."""

from __future__ import annotations

import datetime as dt
import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from notifications import clock
from notifications.rules import channels, ids
from notifications.rules.channels import Reach, Target
from notifications.rules.lane import DEFAULT_TIME_TO_LIVE, Mode, Priority
from notifications.rules.problems import FieldError, Kind, Problem
from notifications.rules.request import MAX_TTL, NotificationRequest
from notifications.rules.states import Status, overall
from notifications.store import reads, vault
from notifications.store.inserts import NewDelivery, NotificationRow
from providers.contract import Channel

_FIRST_REPUBLISH: Final = dt.timedelta(seconds=2)
"""When the relay looks at what the accepting process was to publish itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: the producer behind a key, and what it may do."""

    producer_id: int
    mode: Mode
    priorities: frozenset[Priority]
    may_send_content: bool


@dataclass(slots=True, kw_only=True)
class Plan:
    """A request that can be accepted, as it would be stored and answered."""

    id: UUID
    row: NotificationRow
    deliveries: list[NewDelivery]
    response: dict[str, Any]
    key: str
    body_hash: bytes
    fields: dict[str, Any]
    """For the log of rejections, if its key turns out to be used: user and type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the whole list needs of the database, read once."""

    caller: Caller
    now: dt.datetime
    traceparent: str
    types: Mapping[str, reads.TypeRule]
    reaches: Mapping[str, Reach]
    templates: Mapping[str, reads.TemplateVersion]


class _Refusal(Exception):
    """Carries the problem out of the checks of one request."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def planned(
    caller: Caller, asked: Sequence[NotificationRequest | Problem], *, traceparent: str
) -> list[Plan | Problem]:
    """Plan each request, or say what is wrong with it, in order."""
    requests = [each for each in asked if isinstance(each, NotificationRequest)]
    known = _Known(
        caller=caller,
        now=clock.now(),
        traceparent=traceparent,
        types=reads.type_rules(),
        reaches=reads.reaches(caller.mode, {each.user_id for each in requests}),
        templates=reads.templates_by_name(
            {each.template_id for each in requests if each.template_id}
        ),
    )
    return [each if isinstance(each, Problem) else _planned(each, known) for each in asked]


def _planned(request: NotificationRequest, known: _Known) -> Plan | Problem:
    try:
        rule = _routed(request, known)
        template = _template(request, known)
        expires_at = _expiry(request, rule.priority, known.now)
        reach = known.reaches.get(request.user_id)
        if reach is None:
            detail = f"there is no recipient with this user_id in {known.caller.mode.label} mode"
            raise _Refusal(
                Problem(Kind.UNKNOWN_RECIPIENT, detail, (FieldError("/user_id", detail),))
            )
    except _Refusal as refusal:
        return refusal.problem
    notification_id = clock.new_notification_id()
    born = _deliveries(notification_id, request, rule, reach, known)
    return Plan(
        id=notification_id,
        row=_row(notification_id, request, rule, reach, template, expires_at, known),
        deliveries=born,
        response=_response(notification_id, rule.priority, born, known.now),
        key=request.idempotency_key or "",
        body_hash=body_hash(request) if request.idempotency_key else b"",
        fields={"user_id": request.user_id, "type": request.type},
    )


def _routed(request: NotificationRequest, known: _Known) -> reads.TypeRule:
    """The type's rule, with the priority that counts."""
    rule = known.types.get(request.type)
    if rule is None and request.priority is None:
        raise _invalid("/type", f"the router knows no type {request.type}; give a priority with it")
    priority = request.priority if request.priority is not None else rule.priority  # type: ignore[union-attr]
    if priority not in known.caller.priorities:
        raise _Refusal(
            Problem(Kind.FORBIDDEN, f"this producer may not send with priority {priority.name}")
        )
    return reads.TypeRule(
        priority=priority,
        category=rule.category if rule else "",
        retry_preset=rule.retry_preset if rule else "",
    )


def _template(request: NotificationRequest, known: _Known) -> reads.TemplateVersion | None:
    if request.template_id is None:
        if not known.caller.may_send_content:
            raise _Refusal(
                Problem(Kind.FORBIDDEN, "this producer may not send raw content; use a template")
            )
        return None
    template = known.templates.get(request.template_id)
    if template is None:
        raise _invalid("/template_id", f"there is no published template {request.template_id}")
    for position, channel in enumerate(request.channels):
        if channel not in template.texts:
            raise _invalid(
                f"/channels/{position}",
                f"template {request.template_id} has no text for {channel.label}",
            )
    return template


def _expiry(request: NotificationRequest, priority: Priority, now: dt.datetime) -> dt.datetime:
    ttl = (
        dt.timedelta(seconds=request.ttl_seconds)
        if request.ttl_seconds
        else DEFAULT_TIME_TO_LIVE[priority]
    )
    begins = max(request.scheduled_at or now, now)
    if begins - now + ttl > MAX_TTL:
        raise _invalid(
            "/scheduled_at", f"scheduled_at and TTL together may lie {MAX_TTL.days} days ahead"
        )
    return begins + ttl


def _deliveries(
    notification_id: UUID,
    request: NotificationRequest,
    rule: reads.TypeRule,
    reach: Reach,
    known: _Known,
) -> list[NewDelivery]:
    targets = channels.targets(
        reach,
        wanted=request.channels,
        spread=request.delivery,
        category=rule.category,
        passes_opt_outs=rule.priority is Priority.P0,
    )
    later = request.scheduled_at if (request.scheduled_at or known.now) > known.now else None
    if later is not None:
        # Resolved again at release; until then one row a channel stands for all its contacts.
        targets = list({target.channel: target for target in targets}.values())
    return [
        _delivery(ids.delivery_id(notification_id, number), target, rule.priority, reach, later, known)
        for number, target in enumerate(targets[: ids.MAX_DELIVERIES], start=1)
    ]


def _delivery(
    delivery_id: UUID,
    target: Target,
    priority: Priority,
    reach: Reach,
    later: dt.datetime | None,
    known: _Known,
) -> NewDelivery:
    status, due_at, reason = Status.QUEUED, known.now, ""
    if later is not None:
        status, due_at, reason = Status.SCHEDULED, later, "scheduled"
    elif target.stop is not None:
        status, due_at, reason = Status.SUPPRESSED, None, target.stop.value  # type: ignore[assignment]
    elif priority.is_urgent:
        due_at = known.now + _FIRST_REPUBLISH
    return NewDelivery(
        id=delivery_id,
        mode=known.caller.mode,
        priority=priority,
        channel=target.channel,
        status=status,
        reason=reason,
        due_at=due_at,
        recipient_id=reach.recipient_id,
        contact_id=None if later is not None else target.contact_id,
        is_published=status is Status.QUEUED and priority.is_urgent,
    )


def _row(
    notification_id: UUID,
    request: NotificationRequest,
    rule: reads.TypeRule,
    reach: Reach,
    template: reads.TemplateVersion | None,
    expires_at: dt.datetime,
    known: _Known,
) -> NotificationRow:
    variables, sealed = request.variables, None
    if template is not None and template.sensitive & variables.keys():
        hidden = template.sensitive & variables.keys()
        sealed = vault.seal({name: variables[name] for name in hidden})
        variables = {name: value for name, value in variables.items() if name not in hidden}
    return (
        notification_id,
        known.caller.producer_id,
        int(known.caller.mode),
        int(rule.priority),
        request.type,
        rule.category,
        rule.retry_preset,
        reach.recipient_id,
        request.user_id,
        template.id if template else None,
        request.content.model_dump_json() if request.content else None,
        _json(variables),
        sealed,
        _json(request.metadata),
        request.collapse_key or "",
        [int(channel) for channel in request.channels],
        request.delivery.value,
        request.idempotency_key or "",
        known.traceparent,
        request.scheduled_at,
        expires_at,
        known.now,
    )


def _response(
    notification_id: UUID, priority: Priority, born: Sequence[NewDelivery], now: dt.datetime
) -> dict[str, Any]:
    return {
        "notification_id": str(notification_id),
        "status": overall([Status(each.status) for each in born]).label,
        "priority": priority.name,
        "deliveries": [
            {
                "delivery_id": str(each.id),
                "channel": _LABELS[each.channel],
                "status": Status(each.status).label,
            }
            for each in born
        ],
        "created_at": _instant(now),
    }


_LABELS: Final = {channel.value: channel.label for channel in Channel}


@functools.lru_cache(maxsize=4)
def _instant(now: dt.datetime) -> str:
    return now.isoformat().replace("+00:00", "Z")


def body_hash(request: NotificationRequest) -> bytes:
    """A fingerprint of what was asked for, whatever the order of its fields; 16 bytes."""
    body = {name: value for name, value in request.__dict__.items() if name != "idempotency_key"}
    encoded = orjson.dumps(body, option=orjson.OPT_SORT_KEYS, default=_plain)
    return hashlib.blake2b(encoded, digest_size=16).digest()


def _plain(value: Any) -> Any:  # noqa: ANN401 - orjson's protocol
    return value.model_dump()


def _json(value: Mapping[str, Any]) -> str:
    return orjson.dumps(value).decode() if value else "{}"


def _invalid(pointer: str, detail: str) -> _Refusal:
    return _Refusal(Problem(Kind.INVALID, detail, (FieldError(pointer, detail),)))
