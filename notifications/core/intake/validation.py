"""Validation: check requests against recipients, templates, types and permissions.

A single round trip reads the data for the whole list. New ordering keys are the only rows written.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from notifications.core import clock, conf
from notifications.core.intake import attachments, sms, urls, variable_checks
from notifications.core.rules.attachments import FileKey
from notifications.core.rules.channels import DEFAULT_ORDER, RecipientContacts
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import MAX_TTL, NotificationRequest
from notifications.core.rules.times.local_time import When
from notifications.core.store.cached import notification_types
from notifications.core.store.cached.notification_types import TypeRule
from notifications.core.store.postgres import db, idempotency, ordering_queues, reads
from notifications.core.store.postgres.arrays import SmallIntegers
from notifications.core.store.templates import template_cache
from notifications.core.store.templates.template_cache import TemplateVersion
from notifications.core.webhooks import endpoints
from providers.contract import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The producer of an API key, with the key's permissions."""

    producer_id: int
    mode: Mode
    priorities: frozenset[Priority]
    may_send_content: bool
    may_register: bool = False
    """True if requests may register a recipient by address."""
    is_post: bool = False
    """True for posts of producers and steps of series: new P3 are refused while the lag of their
    lane is too high, and new P0 and P1 SMS above a ceiling of SMS pumping protection."""
    by: str = ""
    """Name of the API key in the audit log; empty for requests of the service."""


class IntakeRequest(NamedTuple):
    """A request with its caller."""

    caller: Caller
    request: NotificationRequest
    traceparent: str = ""
    """W3C trace context of the call."""
    recipient: AddressedRecipient | None = None
    """The recipient of a request with addresses."""

    @property
    def user_id(self) -> str:
        """The recipient's user id; empty before registration."""
        return self.recipient.user_id if self.recipient else self.request.user_id or ""

    @property
    def files(self) -> list[FileKey]:
        """The uploaded files that the request names, in order."""
        return attachments.keys_of(self.caller.producer_id, self.caller.mode, self.request)


class AddressedRecipient(NamedTuple):
    """The recipient of a request with addresses."""

    user_id: str
    is_new: bool
    """True if the request registered the recipient."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    """The database rows that a list of requests refers to, read once."""

    now: dt.datetime
    types: Mapping[str, TypeRule]
    reaches: Mapping[tuple[Mode, str], RecipientContacts]
    """By mode and user id."""
    templates: Mapping[str, TemplateVersion]
    ordering_keys: Mapping[idempotency.IdempotencyKey, ordering_queues.OrderingKeyRow]
    answered: dict[idempotency.IdempotencyKey, idempotency.IdempotencyRecord]
    """Stored responses to used idempotency keys of the list."""
    files: attachments.Files
    shapes: dict[tuple[object, ...], Shape | Problem] = dataclasses.field(default_factory=dict)
    """The shapes of the requests validated so far, or the problem of a shape."""


class Shape(NamedTuple):
    """The common part of requests that differ in recipient, variables and content only.

    A batch has few shapes, and the checks of a shape run once a list.
    """

    rule: TypeRule
    """The rule of the type, with the request's own priority if given."""
    ordering_key: int | None
    """Id of the ordering key, if any."""
    template: TemplateVersion | None
    """The template version to pin; None: raw content."""
    channels: Sequence[Channel]
    """The channels that the request names, in order."""
    channel_numbers: SmallIntegers
    """The same as a column of the row."""
    topics: tuple[str, ...]
    """The topics by which a recipient may decline the notification."""
    needed: frozenset[str] | None
    """The variables that each request must have; None: the template declares its variables."""
    ttl: dt.timedelta
    """Time to live."""


class ValidRequest(NamedTuple):
    """A valid request with its resolved shape, recipient and times."""

    shape: Shape
    reach: RecipientContacts
    when: When | None
    """The requested delivery time; None: now."""
    expires_at: dt.datetime
    chain: Sequence[Channel] = ()
    """The channels of the fallback chain in order; empty without a chain."""


_UNKNOWN: Final = TypeRule(priority=Priority.P3, category="", retry_preset="")
"""Rule of an unknown type; such a request needs a priority."""


class _Refusal(Exception):
    """Carries the problem of a failed check."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def look_up(
    asks: Sequence[IntakeRequest], *, also: Iterable[idempotency.IdempotencyKey] = ()
) -> Lookups:
    """Read the data for validating a list. `also`: further idempotency keys to look up."""
    types = notification_types.every()
    people: dict[Mode, set[str]] = {}
    keys = set(also)
    for ask in asks:
        caller, request = ask.caller, ask.request
        people.setdefault(caller.mode, set()).add(ask.user_id)
        if request.idempotency_key:
            keys.add(
                idempotency.IdempotencyKey(caller.producer_id, caller.mode, request.idempotency_key)
            )
    _ensure_endpoints(asks)
    queries: list[db.Query[Any]] = [reads.reaches_query(*each) for each in people.items()]
    if keys:
        queries.append(idempotency.first_answers(keys))
    found = db.fetch_all(queries) if queries else []
    answered = found.pop() if keys else []
    reaches = {
        (mode, reach.user_id): reach
        for mode, those in zip(people, found, strict=True)
        for reach in those
    }
    return Lookups(
        now=clock.now(),
        types=types,
        reaches=reaches,
        templates=template_cache.by_name({
            each.request.template_id for each in asks if each.request.template_id
        }),
        ordering_keys=_ordering_keys(asks, types),
        answered={each.key: each for each in answered},
        files=_files(asks, reaches),
    )


def _files(
    asks: Sequence[IntakeRequest], reaches: Mapping[tuple[Mode, str], RecipientContacts]
) -> attachments.Files:
    """Return the files that the requests name, and keep the files."""
    naming = [each for each in asks if each.request.attachments]
    if not naming:
        return {}
    found = (reaches.get((each.caller.mode, each.user_id)) for each in naming)
    return attachments.look_up(
        [key for each in naming for key in each.files],
        recipients={each.recipient_id for each in found if each is not None},
    )


def validate(ask: IntakeRequest, lookups: Lookups) -> ValidRequest | Problem:
    """Return the validated request, or the first problem."""
    caller, request, now = ask.caller, ask.request, lookups.now
    shape = _shape(request, caller, lookups)
    if isinstance(shape, Problem):
        return shape
    if shape.template is not None:
        given = request.variables.reveal()
        is_complete = shape.needed is not None and shape.needed <= given.keys()
        if not is_complete and (
            problem := variable_checks.problem(shape.template, shape.channels, given)
        ):
            return problem
    reach = lookups.reaches.get((caller.mode, ask.user_id))
    if reach is None or (request.to is not None and not caller.may_register):
        return _recipient_problem(ask)
    if problem := _content_problem(ask, shape, reach, lookups):
        return problem
    when = _when(request, reach, now)
    begins = max(when.at, now) if when else now
    if begins - now + shape.ttl > MAX_TTL:
        detail = f"scheduled_at and TTL together may lie {MAX_TTL.days} days ahead"
        return _invalid("/scheduled_at", detail)
    chain = _chain(shape, reach) if request.fallback_chain else ()
    return ValidRequest(shape, reach, when, begins + shape.ttl, chain)


def _shape(request: NotificationRequest, caller: Caller, lookups: Lookups) -> Shape | Problem:
    """Return the shape of a request, or the first problem of the shape."""
    named = request.channels or (() if request.to is None else request.to.addresses)
    # All that `_new_shape` reads.
    key = (
        *(caller.producer_id, caller.mode, caller.priorities, caller.may_send_content),
        *(request.type, request.priority, request.template_id, tuple(named)),
        *(not request.channels, request.ordering_key, request.ttl_seconds),
    )
    found = lookups.shapes.get(key)
    if found is None:
        found = lookups.shapes[key] = _new_shape(request, caller, lookups)
    return found


def _new_shape(request: NotificationRequest, caller: Caller, lookups: Lookups) -> Shape | Problem:
    try:
        rule = _type_rule(request, caller, lookups)
        ordering_key = _ordering_key(request, caller, rule.priority, lookups)
        template = _template(request, caller, lookups)
    except _Refusal as refusal:
        return refusal.problem
    channels, ttl = request.channels_in_order, conf.current().times_to_live[rule.priority]
    return Shape(
        rule,
        ordering_key,
        template,
        channels,
        SmallIntegers(map(int, channels)),
        rule.topics(request.type),
        variable_checks.needed(template, channels or template.texts) if template else None,
        dt.timedelta(seconds=request.ttl_seconds) if request.ttl_seconds else ttl,
    )


def _ordering_keys(
    asks: Sequence[IntakeRequest], types: Mapping[str, TypeRule]
) -> Mapping[idempotency.IdempotencyKey, ordering_queues.OrderingKeyRow]:
    wanted: dict[tuple[int, Mode], dict[str, Priority]] = {}
    for caller, each, *_ in asks:
        if not each.ordering_key:
            continue
        rule = types.get(each.type)
        priority = each.priority if each.priority is not None or rule is None else rule.priority
        if priority is not None:
            of = wanted.setdefault((caller.producer_id, caller.mode), {})
            of.setdefault(each.ordering_key, priority)
    return {
        idempotency.IdempotencyKey(*whose, name): key
        for whose, names in wanted.items()
        for name, key in ordering_queues.keys(*whose, names).items()
    }


def _type_rule(request: NotificationRequest, caller: Caller, lookups: Lookups) -> TypeRule:
    """Return the type's rule, with the request's own priority if given.

    Raises:
        _Refusal: the priority is missing, or the producer may not use it.
    """
    rule = lookups.types.get(request.type, _UNKNOWN)
    if rule is _UNKNOWN and request.priority is None:
        raise _Refusal(_invalid("/type", notification_types.unknown(request.type)))
    priority = rule.priority if request.priority is None else request.priority
    if priority not in caller.priorities:
        may = ", ".join(sorted(each.name for each in caller.priorities)) or "none"
        detail = f"this producer may not send with priority {priority.name}; it may use {may}"
        raise _Refusal(Problem(Kind.FORBIDDEN, detail, (FieldError("/priority", detail),)))
    return rule if priority is rule.priority else dataclasses.replace(rule, priority=priority)


def _ordering_key(
    request: NotificationRequest, caller: Caller, priority: Priority, lookups: Lookups
) -> int | None:
    """Return the id of the ordering key.

    Raises:
        _Refusal: the key is in use with another priority.
    """
    if request.ordering_key is None:
        return None
    whose = idempotency.IdempotencyKey(caller.producer_id, caller.mode, request.ordering_key)
    key = lookups.ordering_keys[whose]
    if key.priority is not priority:
        detail = f"this ordering_key is in use with priority {key.priority.name}; a key has one"
        raise _Refusal(Problem(Kind.CONFLICT, detail, (FieldError("/ordering_key", detail),)))
    return key.id


def _template(
    request: NotificationRequest, caller: Caller, lookups: Lookups
) -> TemplateVersion | None:
    """Return the template version to pin; None for raw content.

    Raises:
        _Refusal: the template is missing or lacks a channel, or the producer may not send raw
            content.
    """
    if request.template_id is None:
        if not caller.may_send_content:
            detail = "this producer may not send raw content; use a template"
            raise _Refusal(Problem(Kind.FORBIDDEN, detail, (FieldError("/content", detail),)))
        return None
    template = lookups.templates.get(request.template_id)
    if template is None:
        meant = template_cache.did_you_mean(request.template_id)
        detail = f"no published template has the name {request.template_id}{meant}"
        raise _Refusal(_invalid("/template_id", detail))
    for position, channel in enumerate(request.channels_in_order):
        if channel not in template.texts:
            detail = f"template {request.template_id} has no text for {channel.label}"
            pointer = f"/channels/{position}" if request.channels else "/to"
            raise _Refusal(_invalid(pointer, detail))
    return template


def _recipient_problem(ask: IntakeRequest) -> Problem:
    """Return the problem of a recipient that is unknown, or that the caller may not register."""
    if ask.request.to is not None and not ask.caller.may_register:
        detail = "the key lacks the scope notifications:to, which `to` needs; send user_id"
        return Problem(Kind.FORBIDDEN, detail, (FieldError("/to", detail),))
    detail = (
        f"unknown user_id in {ask.caller.mode.label} mode; create the recipient with"
        " PUT /v1/recipients/{user_id} and a key of the same mode, or send `to` with an"
        " address instead of user_id"
    )
    return Problem(Kind.UNKNOWN_RECIPIENT, detail, (FieldError("/user_id", detail),))


def _content_problem(
    ask: IntakeRequest, shape: Shape, reach: RecipientContacts, lookups: Lookups
) -> Problem | None:
    """Return the first problem of SMS, URLs and attachments."""
    request, template = ask.request, shape.template
    problem = None
    if Channel.SMS in reach.contacts:
        producer_id = ask.caller.producer_id
        problem = sms.size_problem(request, template, reach, producer_id=producer_id)
    if request.webhook_url and problem is None:
        problem = urls.webhook_problem(request.webhook_url)
    if request.content is not None and problem is None:
        problem = urls.content_problem(request.content)
    if request.attachments and problem is None:
        problem = attachments.problem(request, ask.files, lookups.files, template)
    return problem


def _chain(shape: Shape, reach: RecipientContacts) -> Sequence[Channel]:
    """Return the channels of the fallback chain for which the template has a text."""
    template = shape.template
    order = dict.fromkeys(shape.channels or reach.channel_order or DEFAULT_ORDER)
    usable = [each for each in order if template is None or each in template.texts]
    return usable if len(usable) > 1 else ()


def _when(request: NotificationRequest, reach: RecipientContacts, now: dt.datetime) -> When | None:
    if request.send_at_local is not None:
        time = dt.time.fromisoformat(request.send_at_local)
        return When.next_by_wall_clock(time, reach.timezone, after=now)
    return When(request.scheduled_at) if request.scheduled_at is not None else None


def _invalid(pointer: str, detail: str) -> Problem:
    return Problem(Kind.INVALID, detail, (FieldError(pointer, detail),))


def _ensure_endpoints(asks: Sequence[IntakeRequest]) -> None:
    """Give each producer and mode with a URL the endpoint that signs for such URLs."""
    callers = {
        (caller.producer_id, int(caller.mode)) for caller, each, *_ in asks if each.webhook_url
    }
    if callers:
        endpoints.ensure_of_requests(callers)
