"""Conditions on events and messages of a recipient since the enrolment.

{"message": "welcome", "status": "read"}
{"event": "order_paid", "where": {"currency": "EUR"}}
{"and": [...]}   {"or": [...]}   {"not": ...}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, assert_never

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag

from notifications.core.rules import request_faults
from notifications.core.rules.request import Name
from notifications.core.rules.request_faults import Place

MAX_PARTS: Final = 20
"""Conditions in one `and` or `or`."""
MAX_WHERE: Final = 10
"""Properties that a condition compares."""


class DefinitionPart(BaseModel):
    """Base of the parts of a definition."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, hide_input_in_errors=True
    )


class MessageStatus(StrEnum):
    """A status of a message."""

    DELIVERED = "delivered"
    """A device or mailbox got the message, or the recipient read it."""
    READ = "read"
    """The recipient opened the message."""
    CLICKED = "clicked"
    """The recipient followed a link or a button of the message."""


def _scalar(value: object) -> object:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    msg = "must be a string, a number, true, false or null"
    raise ValueError(msg)


Scalar: TypeAlias = Annotated[Any, AfterValidator(_scalar)]
Where: TypeAlias = Annotated[dict[Name, Scalar], Field(max_length=MAX_WHERE)]


class EventMatch(DefinitionPart):
    """An event of the recipient by name, and optionally by the values of some properties."""

    event: Name
    """Name of the event."""
    where: Where = Field(default_factory=dict)
    """Properties that the event must have, with equal values."""

    @property
    def test(self) -> EventTest:
        """Return the match as a key."""
        return EventTest(self.event, tuple(sorted(self.where.items())))

    def matches(self, name: str, properties: Mapping[str, Any]) -> bool:
        """Return True for an event with the name and the properties."""
        return name == self.event and all(
            key in properties and _equal(properties[key], value)
            for key, value in self.where.items()
        )


def _equal(given: object, wanted: object) -> bool:
    """Compare as JSON does: true is not 1."""
    return isinstance(given, bool) is isinstance(wanted, bool) and given == wanted


class EventTest(NamedTuple):
    """The question whether an event happened."""

    event: str
    where: tuple[tuple[str, Any], ...] = ()


class MessageCondition(DefinitionPart):
    """The message of an earlier step has reached a status."""

    message: Name
    """Name of the send step."""
    status: MessageStatus


class EventCondition(EventMatch):
    """An event was posted since the enrolment."""


class AllOf(DefinitionPart):
    """All conditions are true."""

    all_of: Annotated[list[Condition], Field(min_length=1, max_length=MAX_PARTS, alias="and")]


class AnyOf(DefinitionPart):
    """At least one condition is true."""

    any_of: Annotated[list[Condition], Field(min_length=1, max_length=MAX_PARTS, alias="or")]


class Not(DefinitionPart):
    """The condition is false."""

    negated: Annotated[Condition, Field(alias="not")]


CONDITIONS: Final = ("message", "event", "and", "or", "not")
"""The fields that tell the kinds of conditions apart."""


def _kind(value: object) -> str | None:
    if isinstance(value, dict):
        return next((kind for kind in CONDITIONS if kind in value), None)
    return None


Condition: TypeAlias = Annotated[
    Annotated[MessageCondition, Tag("message")]
    | Annotated[EventCondition, Tag("event")]
    | Annotated[AllOf, Tag("and")]
    | Annotated[AnyOf, Tag("or")]
    | Annotated[Not, Tag("not")],
    Discriminator(
        _kind,
        custom_error_type=request_faults.UNKNOWN_KIND,
        custom_error_message="{said}",
        custom_error_context={
            "said": f"must be an object with one of the fields {', '.join(CONDITIONS)}"
        },
    ),
]


class Facts(NamedTuple):
    """The answers to the questions of a program about an enrolment."""

    events: Mapping[EventTest, Mapping[str, Any]]
    """Events since the enrolment that a test found, with their properties."""
    messages: Mapping[str, frozenset[MessageStatus]]
    """Name of a send step -> the statuses that the message has reached."""
    arrived: Mapping[EventTest, Mapping[str, Any]] = {}
    """Events since the arrival at the present step."""


def holds(condition: Condition, facts: Facts) -> bool:
    """Return True if a condition is true."""
    match condition:
        case MessageCondition():
            return condition.status in facts.messages.get(condition.message, frozenset())
        case EventCondition():
            return condition.test in facts.events
        case AllOf():
            return all(holds(each, facts) for each in condition.all_of)
        case AnyOf():
            return any(holds(each, facts) for each in condition.any_of)
        case Not():
            return not holds(condition.negated, facts)
        case _:
            assert_never(condition)


def leaves(
    condition: Condition, place: Place = ()
) -> Iterator[tuple[MessageCondition | EventCondition, Place]]:
    """Yield the conditions without parts, with places in the definition."""
    parts: Callable[[list[Condition], str], Iterator[Any]] = lambda those, name: (  # noqa: E731 - used twice below
        found for number, each in enumerate(those) for found in leaves(each, (*place, name, number))
    )
    match condition:
        case AllOf():
            yield from parts(condition.all_of, "and")
        case AnyOf():
            yield from parts(condition.any_of, "or")
        case Not():
            yield from leaves(condition.negated, (*place, "not"))
        case _:
            yield condition, place
