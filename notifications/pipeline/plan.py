"""Plan: what accepting a request would store.

Reads what it needs in one query each for the whole list; writes nothing, but for the ordering keys
that it meets for the first time.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from notifications import clock
from notifications.rules import channels, ids
from notifications.rules.channels import Reach, Target
from notifications.rules.lane import DEFAULT_TIME_TO_LIVE, Mode, Priority
from notifications.rules.language import variables
from notifications.rules.problems import FieldError, Kind, Problem
from notifications.rules.request import MAX_TTL, NotificationRequest, fingerprint
from notifications.rules.states import Status, overall
from notifications.rules.times.local_time import When
from notifications.store import line, reads, vault
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
    ordering_key: int | None
    """Of the line that its deliveries join."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the whole list needs of the database, read once."""

    caller: Caller
    now: dt.datetime
    traceparent: str
    types: Mapping[str, reads.TypeRule]
    reaches: Mapping[str, Reach]
    templates: Mapping[str, reads.TemplateVersion]
    ordering_keys: Mapping[str, line.Key]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """What a request was found to mean."""

    rule: reads.TypeRule
    template: reads.TemplateVersion | None
    reach: Reach
    when: When | None
    expires_at: dt.datetime


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
    types = reads.type_rules()
    known = _Known(
        caller=caller,
        now=clock.now(),
        traceparent=traceparent,
        types=types,
        reaches=reads.reaches(caller.mode, {each.user_id for each in requests}),
        templates=reads.templates_by_name({
            each.template_id for each in requests if each.template_id
        }),
        ordering_keys=_ordering_keys(caller, requests, types),
    )
    return [each if isinstance(each, Problem) else _planned(each, known) for each in asked]


def _ordering_keys(
    caller: Caller, requests: Sequence[NotificationRequest], types: Mapping[str, reads.TypeRule]
) -> Mapping[str, line.Key]:
    wanted: dict[str, Priority] = {}
    for each in requests:
        rule = types.get(each.type)
        priority = each.priority if each.priority is not None or rule is None else rule.priority
        if each.ordering_key and priority is not None:
            wanted.setdefault(each.ordering_key, priority)
    return line.keys(caller.producer_id, caller.mode, wanted) if wanted else {}


def _planned(request: NotificationRequest, known: _Known) -> Plan | Problem:
    try:
        rule = _routed(request, known)
        key_id = _line(request, rule.priority, known)
        template, reach = _template(request, known), _recipient(request, known)
        when = _when(request, reach, known.now)
        checked = _Checked(
            rule=rule,
            template=template,
            reach=reach,
            when=when,
            expires_at=_expiry(request, rule.priority, when, known.now),
        )
    except _Refusal as refusal:
        return refusal.problem
    notification_id = clock.new_notification_id()
    born = _deliveries(notification_id, request, checked, known)
    return Plan(
        id=notification_id,
        row=_row(notification_id, request, checked, known),
        deliveries=born,
        response=_response(notification_id, rule.priority, born, known.now),
        key=request.idempotency_key or "",
        body_hash=fingerprint(request) if request.idempotency_key else b"",
        ordering_key=key_id,
    )


def _routed(request: NotificationRequest, known: _Known) -> reads.TypeRule:
    """The type's rule, with the priority that counts.

    Raises:
        _Refusal: nothing says which priority, or the producer may not use it.
    """
    unknown = reads.TypeRule(priority=Priority.P3, category="", retry_preset="")
    rule = known.types.get(request.type, unknown)
    if rule is unknown and request.priority is None:
        detail = f"the router knows no type {request.type}; give a priority with it"
        raise _Refusal(_invalid("/type", detail))
    priority = rule.priority if request.priority is None else request.priority
    if priority not in known.caller.priorities:
        detail = f"this producer may not send with priority {priority.name}"
        raise _Refusal(Problem(Kind.FORBIDDEN, detail))
    return rule if priority is rule.priority else dataclasses.replace(rule, priority=priority)


def _line(request: NotificationRequest, priority: Priority, known: _Known) -> int | None:
    """The key of the line that it joins.

    Raises:
        _Refusal: the key's line is on another lane.
    """
    if request.ordering_key is None:
        return None
    key = known.ordering_keys[request.ordering_key]
    if key.priority is not priority:
        detail = f"this ordering_key is in use with priority {key.priority.name}; a key has one"
        raise _Refusal(Problem(Kind.CONFLICT, detail, (FieldError("/ordering_key", detail),)))
    return key.id


def _template(request: NotificationRequest, known: _Known) -> reads.TemplateVersion | None:
    """The version to pin; None for raw content.

    Raises:
        _Refusal: there is none, it lacks a channel or a variable, or raw content is not allowed.
    """
    if request.template_id is None:
        if not known.caller.may_send_content:
            detail = "this producer may not send raw content; use a template"
            raise _Refusal(Problem(Kind.FORBIDDEN, detail))
        return None
    template = known.templates.get(request.template_id)
    if template is None:
        detail = f"there is no published template {request.template_id}"
        raise _Refusal(_invalid("/template_id", detail))
    for position, channel in enumerate(request.channels):
        if channel not in template.texts:
            detail = f"template {request.template_id} has no text for {channel.label}"
            raise _Refusal(_invalid(f"/channels/{position}", detail))
    wrong = tuple(
        FieldError(f"/variables/{name}", detail) for name, detail in _mistakes(request, template)
    )
    if wrong:
        detail = f"{wrong[0].pointer}: {wrong[0].detail}"
        raise _Refusal(Problem(Kind.INVALID, detail, wrong))
    return template


def _mistakes(
    request: NotificationRequest, template: reads.TemplateVersion
) -> Iterable[tuple[str, str]]:
    """What is wrong with the variables: by declaration, else by what the texts cannot lack."""
    if template.declared:
        return variables.mistakes(template.declared, request.variables)
    texts = request.channels or template.texts
    needed = frozenset[str]().union(*(template.needed[channel] for channel in texts))
    missing = sorted(needed - request.variables.keys())
    return [(name, "the template needs this variable, and it is missing") for name in missing]


def _recipient(request: NotificationRequest, known: _Known) -> Reach:
    """How the recipient can be reached.

    Raises:
        _Refusal: there is no such recipient in this mode.
    """
    reach = known.reaches.get(request.user_id)
    if reach is None:
        detail = f"there is no recipient with this user_id in {known.caller.mode.label} mode"
        raise _Refusal(Problem(Kind.UNKNOWN_RECIPIENT, detail, (FieldError("/user_id", detail),)))
    return reach


def _when(request: NotificationRequest, reach: Reach, now: dt.datetime) -> When | None:
    """When it is to leave; None: now."""
    if request.send_at_local is not None:
        time = dt.time.fromisoformat(request.send_at_local)
        return When.next_by_wall_clock(time, reach.timezone, after=now)
    return When(request.scheduled_at) if request.scheduled_at is not None else None


def _expiry(
    request: NotificationRequest, priority: Priority, when: When | None, now: dt.datetime
) -> dt.datetime:
    """When its time to live ends.

    Raises:
        _Refusal: too far ahead.
    """
    ttl = DEFAULT_TIME_TO_LIVE[priority]
    if request.ttl_seconds:
        ttl = dt.timedelta(seconds=request.ttl_seconds)
    begins = max(when.at, now) if when else now
    if begins - now + ttl > MAX_TTL:
        detail = f"scheduled_at and TTL together may lie {MAX_TTL.days} days ahead"
        raise _Refusal(_invalid("/scheduled_at", detail))
    return begins + ttl


def _deliveries(
    notification_id: UUID, request: NotificationRequest, checked: _Checked, known: _Known
) -> list[NewDelivery]:
    rule = checked.rule
    targets = channels.targets(
        checked.reach,
        wanted=request.channels,
        spread=request.delivery,
        category=rule.category,
        passes_opt_outs=rule.priority is Priority.P0,
    )
    later = checked.when.at if checked.when and checked.when.at > known.now else None
    if later is not None:
        # Resolved again at release; until then one row a channel stands for all its contacts.
        targets = list({target.channel: target for target in targets}.values())
    return [
        _delivery(ids.delivery_id(notification_id, number), target, later, checked, known)
        for number, target in enumerate(targets[: ids.MAX_DELIVERIES], start=1)
    ]


def _delivery(
    delivery_id: UUID,
    target: Target,
    later: dt.datetime | None,
    checked: _Checked,
    known: _Known,
) -> NewDelivery:
    priority = checked.rule.priority
    due_at: dt.datetime | None = known.now
    status, reason = Status.QUEUED, ""
    if later is not None:
        status, due_at, reason = Status.SCHEDULED, later, "scheduled"
    elif target.stop is not None:
        status, due_at, reason = Status.SUPPRESSED, None, target.stop.value
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
        recipient_id=checked.reach.recipient_id,
        contact_id=None if later is not None else target.contact_id,
        is_published=status is Status.QUEUED and priority.is_urgent,
    )


def _row(
    notification_id: UUID, request: NotificationRequest, checked: _Checked, known: _Known
) -> NotificationRow:
    rule, template, when = checked.rule, checked.template, checked.when
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
        checked.reach.recipient_id,
        request.user_id,
        template.id if template else None,
        request.content.model_dump_json() if request.content else None,
        _json(variables),
        sealed,
        _json(request.metadata),
        request.collapse_key or "",
        request.ordering_key or "",
        [int(channel) for channel in request.channels],
        request.delivery.value,
        request.idempotency_key or "",
        known.traceparent,
        when.at if when else None,
        when.local if when else "",
        when.zone if when else "",
        checked.expires_at,
        known.now,
    )


def _response(
    notification_id: UUID, priority: Priority, born: Sequence[NewDelivery], now: dt.datetime
) -> dict[str, Any]:
    return {
        "notification_id": str(notification_id),
        "status": _overall(tuple([each.status for each in born])),
        "priority": priority.name,
        "deliveries": [
            {
                "delivery_id": str(each.id),
                "channel": _CHANNELS[each.channel],
                "status": _STATUSES[each.status],
            }
            for each in born
        ],
        "created_at": _instant(now),
    }


_CHANNELS: Final = {channel.value: channel.label for channel in Channel}
_STATUSES: Final = {status.value: status.label for status in Status}


@functools.lru_cache(maxsize=256)
def _overall(statuses: tuple[int, ...]) -> str:
    return overall([Status(each) for each in statuses]).label


@functools.lru_cache(maxsize=4)
def _instant(now: dt.datetime) -> str:
    return now.isoformat().replace("+00:00", "Z")


def _json(value: Mapping[str, Any]) -> str:
    return orjson.dumps(value).decode() if value else "{}"


def _invalid(pointer: str, detail: str) -> Problem:
    return Problem(Kind.INVALID, detail, (FieldError(pointer, detail),))
