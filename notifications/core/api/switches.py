"""`/v1/switches`: kill switches, which hold deliveries of all producers."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Final

from django.db.models import Q, QuerySet
from pydantic import Field

from notifications.core import clock
from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call
from notifications.core.api.pagination import NumberedPageQuery
from notifications.core.api.problems import raise_problem
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import ChannelWord, RequestModel, ResponseModel
from notifications.core.models import Switch
from notifications.core.operations import switches
from notifications.core.rules.access import LIVE
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import Instant, Text
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.scopes import Scope
from notifications.core.rules.switches import SwitchKind


class SwitchQuery(NumberedPageQuery):
    """Filters of the list of switches. The default is the switches that hold deliveries now."""

    ended: bool = False
    """`true` lists resumed and expired switches instead of active switches."""


class SwitchRequest(RequestModel):
    """A switch to set."""

    kind: SwitchKind
    """The property of deliveries that the switch compares."""
    value: Annotated[Text, Field(min_length=1, max_length=64)]
    """Name of the producer, type, template, channel, provider or lane, such as `p3.email`."""
    channel: AskedChannel | None = None
    """Only for the kind `provider`: the channel. Absent: every channel of the provider."""
    reason: Annotated[Text, Field(min_length=1, max_length=200)]
    """The reason, for operators; each held delivery shows it."""
    expires_at: Instant | None = None
    """The pause ends at this instant by itself. Absent: `DELETE` ends the pause."""


class SwitchAnswer(ResponseModel):
    """A switch."""

    id: int
    kind: SwitchKind
    value: str
    channel: ChannelWord | None
    reason: str
    set_by: str
    set_at: dt.datetime
    expires_at: dt.datetime | None
    resumed_at: dt.datetime | None
    resumed_by: str


SWITCHES: Final = Resource(
    noun="switch",
    path="v1/switches/<int:switch_id>",
    rows=lambda _call: Switch.objects.all(),
    answer=SwitchAnswer,
    tag="Operations",
)


@SWITCHES.list(
    "List switches, newest first",
    Access(Scope.OPERATIONS_READ, LIVE, "view_switch"),
    SwitchQuery,
    examples={
        "minimal": Example("The active switches"),
        "usual": Example("Ten ended switches", query={"ended": "true", "limit": 10}),
    },
)
def list_switches(_call: Call, query: SwitchQuery) -> QuerySet[Switch]:
    """List the switches that hold deliveries, or the ended switches."""
    ended = Q(resumed_at__isnull=False) | Q(expires_at__lte=clock.now())
    return Switch.objects.filter(ended if query.ended else ~ended)


@SWITCHES.create(
    "Hold deliveries",
    Access(Scope.OPERATIONS_WRITE, LIVE, "add_switch"),
    SwitchRequest,
    examples={
        "minimal": Example(
            "Hold a notification type until an operator resumes",
            body={"kind": "type", "value": "ORDER_READY", "reason": "the text is wrong"},
        ),
        "usual": Example(
            "Hold the messages of a channel for some time",
            headers={"Idempotency-Key": "hold-sms-2026-11-23"},
            body={
                "kind": "channel",
                "value": "sms",
                "reason": "the vendor moves our account",
                "expires_at": "2099-11-23T18:00:00Z",
            },
        ),
    },
)
def set_switch(call: Call, wanted: SwitchRequest) -> Switch:
    """Hold the matching live deliveries of all producers, P0 too, within two seconds.

    Requests are still accepted, and their deliveries wait. Waiting spends no attempt; the time
    to live goes on. A delivery for a held provider goes to another provider, if a route names
    one. A call that has begun is not stopped. A switch of a lane may name a test lane.
    """
    target = switches.SwitchTarget(kind=wanted.kind, value=wanted.value, channel=wanted.channel)
    return switches.set_switch(
        target, reason=wanted.reason, expires_at=wanted.expires_at, by=call.by
    )


@SWITCHES.read(
    "Read a switch",
    Access(Scope.OPERATIONS_READ, LIVE, "view_switch"),
    examples={
        "minimal": Example("An active switch", path={"switch_id": 85}),
        "ended": Example("An ended switch", path={"switch_id": 86}),
    },
)
def get_switch(_call: Call, switch: Switch) -> Switch:
    """Return a switch; ended switches stay readable."""
    return switch


@SWITCHES.change(
    "DELETE",
    "End a switch",
    Access(Scope.OPERATIONS_WRITE, LIVE, "change_switch"),
    is_idempotent=True,
    examples={
        "minimal": Example("End a switch", path={"switch_id": 85}),
        "usual": Example(
            "End a switch, with an idempotency key",
            path={"switch_id": 85},
            headers={"Idempotency-Key": "resume-85"},
        ),
    },
)
def resume_switch(call: Call, switch: Switch) -> None:
    """End the pause: the held deliveries leave, P0 and P1 first, P2 and P3 over some minutes.

    A second call changes nothing.
    """
    if switch.kind == SwitchKind.BULK_JOB:
        raise_problem(Problem(Kind.CONFLICT, "a bulk job has this switch; resume the bulk job"))
    switches.resume(Switch.objects.filter(pk=switch.pk), by=call.by)
