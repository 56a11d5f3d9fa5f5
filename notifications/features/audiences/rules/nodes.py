"""The parts of an audience expression. Every part is a set of recipients of one mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from providers.contract import Channel

MAX_USER_IDS = 10_000
"""User ids inside an expression; an upload takes more."""
MAX_DEPTH = 12
"""Levels of `and`, `or` and `not`, saved audiences included."""
MAX_NODES = 100
"""Conditions and combinations of an expression, saved audiences included."""
MAX_CHOICES = 500
"""Values of one `in`."""
MAX_DAYS = 90
"""Days of `received`: notifications are kept for so long by default."""
MAX_SEARCHES = 8
"""Searches of the notifications in one expression; each plans all partitions of 90 days."""
MAX_RELATIVE_DAYS = 3_650


class Operator(StrEnum):
    """The comparison of an attribute with a value."""

    IS = "is"
    IN = "in"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    BEFORE = "before"
    AFTER = "after"
    CONTAINS = "contains"
    EXISTS = "exists"


@dataclass(frozen=True, slots=True)
class Everyone:
    """All recipients of the mode."""


@dataclass(frozen=True, slots=True)
class UserIds:
    """The recipients with the user ids."""

    user_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InTopic:
    """The subscribers of a topic."""

    topic: str


@dataclass(frozen=True, slots=True)
class InList:
    """The members of a recipient list: an upload or a snapshot."""

    list_id: int
    is_snapshot: bool = False


@dataclass(frozen=True, slots=True)
class SavedAudience:
    """The recipients of a saved audience."""

    name: str


@dataclass(frozen=True, slots=True)
class RelativeDays:
    """A time relative to the evaluation of the expression; negative: in the past."""

    days: int


Operand: TypeAlias = str | int | float | bool | RelativeDays


@dataclass(frozen=True, slots=True)
class HasAttribute:
    """The recipients with an attribute that compares so; `exists` has the operand True or False.

    `operands` has one operand, or the choices of `in`.
    """

    attribute: str
    operator: Operator
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class HasLocale:
    """The recipients with one of the locales; `pt` includes `pt-BR`."""

    locales: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HasTimezone:
    """The recipients with one of the timezones, or of the phone number without a timezone."""

    timezones: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CreatedBefore:
    """The recipients created before a time."""

    time: str | RelativeDays


@dataclass(frozen=True, slots=True)
class CreatedAfter:
    """The recipients created at a time or later."""

    time: str | RelativeDays


@dataclass(frozen=True, slots=True)
class Reachable:
    """The recipients with a valid contact on a channel that is not switched off."""

    channel: Channel


@dataclass(frozen=True, slots=True)
class Received:
    """The recipients with a notification that was sent, or can still be sent, in the last days.

    Exactly one of `type` and `bulk_job` is given; `bulk_job` is a UUID.
    """

    within_days: int
    type: str = ""
    bulk_job: str = ""


@dataclass(frozen=True, slots=True)
class ReceivedAny:
    """The recipients in any of the conditions, as one search (`merge_searches`)."""

    conditions: tuple[Received, ...]


@dataclass(frozen=True, slots=True)
class And:
    """The recipients in all parts."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The recipients in any part."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Outside:
    """The recipients of the mode outside the part."""

    part: Expression


Expression: TypeAlias = (
    Everyone
    | UserIds
    | InTopic
    | InList
    | SavedAudience
    | HasAttribute
    | HasLocale
    | HasTimezone
    | CreatedBefore
    | CreatedAfter
    | Reachable
    | Received
    | ReceivedAny
    | And
    | Or
    | Outside
)


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct parts of a combination; none for a condition."""
    match expression:
        case And(parts) | Or(parts):
            return parts
        case Outside(part):
            return (part,)
        case _:
            return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and all parts below."""
    yield expression
    for part in parts_of(expression):
        yield from walk(part)


def depth_of(expression: Expression) -> int:
    """Return the levels of an expression; 1 for a condition."""
    return 1 + max(map(depth_of, parts_of(expression)), default=0)


def merge_searches(expression: Expression) -> Expression:
    """Return an equal expression with as few searches as its `and` and `or` permit.

    received A or received B                   one search for A or B
    not received A and not received B          the opposite of that search
    received A and received B                  two searches
    """
    match expression:
        case Received():
            return ReceivedAny((expression,))
        case Outside(part):
            return Outside(merge_searches(part))
        case Or():
            parts = tuple(_one_search(_merge_parts(expression)))
            return parts[0] if len(parts) == 1 else Or(parts)
        case And():
            parts = tuple(_one_absence(_merge_parts(expression)))
            return parts[0] if len(parts) == 1 else And(parts)
        case _:
            return expression


def count_searches(expression: Expression) -> int:
    """Return the number of searches of an expression from `merge_searches`."""
    return sum(isinstance(part, ReceivedAny) for part in walk(expression))


def _merge_parts(expression: And | Or) -> Iterator[Expression]:
    """Yield the merged parts; those of an `or` within an `or`, or an `and` within an `and`, too."""
    for part in map(merge_searches, expression.parts):
        if isinstance(part, type(expression)):
            yield from parts_of(part)
        else:
            yield part


def _one_search(parts: Iterable[Expression]) -> Iterator[Expression]:
    conditions: list[Received] = []
    for part in parts:
        if isinstance(part, ReceivedAny):
            conditions += part.conditions
        else:
            yield part
    if conditions:
        yield ReceivedAny(tuple(dict.fromkeys(conditions)))


def _one_absence(parts: Iterable[Expression]) -> Iterator[Expression]:
    absent: list[Expression] = []
    for part in parts:
        if isinstance(part, Outside) and isinstance(part.part, ReceivedAny):
            absent.append(part.part)
        else:
            yield part
    yield from map(Outside, _one_search(absent))
