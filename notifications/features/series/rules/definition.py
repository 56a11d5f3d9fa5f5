"""The definition of a series: the trigger, the goal and the steps.

    send        a message
    wait        a time, a time of day of the recipient, or an event
    condition   `then` or `else`
    exit        the end

A fault names its place by a JSON pointer, such as `/steps/2/then/0/template_id`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from notifications.core.rules import request, request_faults
from notifications.core.rules.channels import Spread
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import AskedPriority, LocalTime, Name, Text, check_size
from notifications.core.rules.request_faults import Place
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.times.quiet_hours import Weekday
from notifications.features.series.rules.conditions import (
    Condition,
    DefinitionPart,
    EventMatch,
    MessageCondition,
    leaves,
)
from notifications.features.series.rules.states import Reentry

MAX_STEPS: Final = 100
"""Steps of a definition, with the steps in branches."""
MAX_DEPTH: Final = 5
"""Conditions inside each other."""
MAX_BYTES: Final = 64 * 1024
MAX_WAIT: Final = dt.timedelta(days=366)
_DEEPEST: Final = 60
"""Levels of JSON that a permitted definition can have."""
KINDS: Final = ("send", "wait", "condition", "exit")
_ANYBODY: Final = "user"


def _whole(value: object) -> object:
    if isinstance(value, bool):
        msg = "must be a whole number"
        raise ValueError(msg)  # noqa: TRY004 - pydantic reports a ValueError at the field
    return value


Amount: TypeAlias = Annotated[int, Field(ge=0, le=527_040), BeforeValidator(_whole)]


class SendStep(DefinitionPart):
    """A message to the recipient."""

    step: Literal["send"]
    name: Name
    """Name of the step, which conditions and the history use."""
    type: Name
    template_id: Name
    priority: AskedPriority | None = None
    channels: list[AskedChannel] = Field(default_factory=list)
    delivery: Spread = Spread.FIRST
    fallback_chain: bool = False
    variables: dict[Name, Any] = Field(default_factory=dict)
    """Variables of the template, beside the context of the enrolment; these values come first."""
    ttl_seconds: Annotated[int, BeforeValidator(_whole)] | None = None
    collapse_key: Text | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    on_rejected: Literal["continue", "exit"] = "continue"
    """The consequence of a rejected message: the next step, or the end of the enrolment."""

    def to_body(self) -> dict[str, Any]:
        """Return the fields of a notification request, without recipient and context."""
        fields = self.model_dump(mode="json", exclude={"step", "name", "on_rejected"})
        fields["channels"] = [each.label for each in self.channels]
        if self.priority is not None:
            fields["priority"] = self.priority.name
        return {name: value for name, value in fields.items() if value not in (None, [], {})}

    @model_validator(mode="after")
    def _check_request(self) -> Self:
        """Check the step as a notification request.

        Raises:
            error_at: the first fault.
        """
        body = request.parse({"user_id": _ANYBODY, **self.to_body()})
        if isinstance(body, Problem):
            first = body.errors[0]
            place = [part for part in first.pointer.split("/") if part]
            raise request_faults.error_at(first.detail, *place)
        return self


class WaitEvent(EventMatch):
    """The event for an early end of a wait."""

    since: Literal["enrolment", "step"] = "enrolment"
    """`step`: an event before the wait does not count."""


class WaitStep(DefinitionPart):
    """A wait: `days`, `hours` and `minutes` together, then until `until_local`.

    With `until_event` the event ends the wait; the time is then the longest wait.
    """

    step: Literal["wait"]
    name: Name | None = None
    days: Amount = 0
    hours: Amount = 0
    minutes: Amount = 0
    until_local: LocalTime | None = None
    """Time of day of the recipient, such as 09:00."""
    weekdays: list[Weekday] = Field(default_factory=list, max_length=7)
    """Days of the recipient's week on which `until_local` may lie; empty: each day."""
    until_event: WaitEvent | None = None

    @property
    def duration(self) -> dt.timedelta:
        """Return the sum of days, hours and minutes."""
        return dt.timedelta(days=self.days, hours=self.hours, minutes=self.minutes)

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if not self.duration and self.until_local is None:
            said = "give days, hours, minutes or until_local"
            raise request_faults.error_at(said, "days")
        if self.duration > MAX_WAIT:
            raise request_faults.error_at(f"a wait takes at most {MAX_WAIT.days} days", "days")
        if self.weekdays and self.until_local is None:
            raise request_faults.error_at("needs until_local", "weekdays")
        if len(set(self.weekdays)) != len(self.weekdays):
            raise request_faults.error_at("must not repeat a day", "weekdays")
        return self


class ConditionStep(DefinitionPart):
    """Two branches, of which one runs. An empty branch leads to the next step."""

    step: Literal["condition"]
    name: Name | None = None
    condition: Annotated[Condition, Field(alias="if")]
    then: list[Step] = Field(default_factory=list)
    otherwise: list[Step] = Field(default_factory=list, alias="else")


class ExitStep(DefinitionPart):
    """The end of the enrolment."""

    step: Literal["exit"]
    name: Name | None = None
    reason: Annotated[Text, Field(max_length=200)] = ""
    """Text for the history."""


def _kind(value: object) -> str | None:
    kind = value.get("step") if isinstance(value, dict) else None
    return kind if kind in KINDS else None


Step: TypeAlias = Annotated[
    Annotated[SendStep, Tag("send")]
    | Annotated[WaitStep, Tag("wait")]
    | Annotated[ConditionStep, Tag("condition")]
    | Annotated[ExitStep, Tag("exit")],
    Discriminator(
        _kind,
        custom_error_type=request_faults.UNKNOWN_KIND,
        custom_error_message="{said}",
        custom_error_context={
            "said": f"must be an object whose field step is one of {', '.join(KINDS)}"
        },
    ),
]


class Definition(DefinitionPart):
    """The content of a version of a series."""

    description: Annotated[Text, Field(max_length=1000)] = ""
    trigger: EventMatch | None = None
    """An event that enrols its recipient; the properties become the context."""
    reentry: Reentry = Reentry.NEVER
    goal: EventMatch | None = None
    """An event after which the enrolment ends and no further message is sent."""
    steps: Annotated[list[Step], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _check_size(cls, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(value, dict):
            check_size(value, MAX_BYTES)
        return value

    @model_validator(mode="after")
    def _check_steps(self) -> Self:
        names: set[str] = set()
        sends: set[str] = set()
        for number, (step, place) in enumerate(walk(self.steps, ("steps",))):
            if number >= MAX_STEPS:
                said = f"a series has at most {MAX_STEPS} steps"
                raise request_faults.error_at(said, "steps")
            if sum(part in {"then", "else"} for part in place) > MAX_DEPTH:
                said = f"conditions nest at most {MAX_DEPTH} levels deep"
                raise request_faults.error_at(said, *place)
            if step.name is not None and step.name in names:
                raise request_faults.error_at("another step has this name", *place, "name")
            names.add(step.name or "")
            if isinstance(step, ConditionStep):
                _check_messages(step, place, sends)
            if isinstance(step, SendStep):
                sends.add(step.name)
        return self


def _check_messages(step: ConditionStep, place: Place, sends: set[str]) -> None:
    """Check that the messages of a condition belong to earlier steps.

    Raises:
        error_at: a message is unknown.
    """
    for leaf, at in leaves(step.condition, (*place, "if")):
        if isinstance(leaf, MessageCondition) and leaf.message not in sends:
            meant = request_faults.did_you_mean(leaf.message, sends)
            said = f"no earlier send step has this name{meant}"
            raise request_faults.error_at(said, *at, "message")


def walk(steps: Sequence[Step], place: Place) -> Iterator[tuple[Step, Place]]:
    """Yield the steps with places, in the order of the text."""
    for number, step in enumerate(steps):
        yield step, (*place, number)
        if isinstance(step, ConditionStep):
            yield from walk(step.then, (*place, number, "then"))
            yield from walk(step.otherwise, (*place, number, "else"))


def parse(value: object) -> Definition | Problem:
    """Check a decoded definition; a Problem names the faults with places."""
    if _is_deeper(value, _DEEPEST):
        return Problem(Kind.INVALID, f"the definition nests more than {_DEEPEST} levels deep")
    try:
        return Definition.model_validate(value)
    except ValidationError as error:
        return request_faults.invalid(error, Definition, place_of=_without_tags)


def _is_deeper(value: object, levels: int) -> bool:
    """Return True if a JSON value has more levels."""
    layer = [value]
    for _ in range(levels):
        layer = [
            inner
            for each in layer
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not layer:
            return False
    return True


_LISTS: Final = frozenset({"steps", "then", "else", "and", "or"})
_SINGLES: Final = frozenset({"if", "not"})


def _without_tags(place: Place) -> Place:
    """Return a place without the kinds of steps and conditions that pydantic adds."""
    kept: list[str | int] = []
    is_tag = False
    for part in place:
        if is_tag:
            is_tag = False
            continue
        is_item = isinstance(part, int) and bool(kept) and kept[-1] in _LISTS
        kept.append(part)
        is_tag = is_item or part in _SINGLES
    return tuple(kept)
