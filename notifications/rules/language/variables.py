"""What a template wants of its producers: each variable's name, type and an example.

    [{"name": "total", "type": "money", "required": true,
      "example": {"amount": "9.90", "currency": "EUR"}}, ...]

Promise: what passes `mistakes` has every required variable, each of its type, so that a message
does not break on its way out. Nothing is converted: `"5"` is no integer and `1` no boolean, because
a producer that sends the wrong type has a mistake somewhere. Variables that are not declared pass:
one event often feeds several templates.

What would break it is a source that uses a variable in a way that its type forbids; rendering the
examples before publishing shows that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, assert_never

from notifications.rules.language import formats

MAX_DECLARED: Final = 100
"""Variables of one template."""
UNSUBSCRIBE_URL: Final = "unsubscribe_url"
"""Ours, not a producer's: where the reader of an e-mail unsubscribes from its kind.

Every P2 and P3 e-mail of live mode has one. Elsewhere it is empty, so that a template which serves
a P1 too can leave its line out: `{% if unsubscribe_url %}`. Nobody declares or sends it.
"""
UNSUBSCRIBE_EXAMPLE: Final = "https://notify.example/unsubscribe/WzEsMywic29jaWFsIl0.signature"
"""What previews show for it."""
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
"""What a source can say: `{{ order-id }}` would be a subtraction."""
_FIELDS: Final = frozenset({"name", "type", "required", "example"})


class Type(StrEnum):
    """What a variable's JSON value may be."""

    STRING = "string"
    INTEGER = "integer"
    """A number without a point."""
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATETIME = "datetime"
    """A string: an ISO 8601 instant with its offset."""
    DATE = "date"
    """A string: an ISO 8601 day."""
    MONEY = "money"
    """An object of an amount (a string of digits, or a number) and an ISO 4217 currency."""
    LIST = "list"
    OBJECT = "object"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One declared variable."""

    name: str
    type: Type
    required: bool = True
    """An optional one may be absent or null."""
    example: Any = None
    """What previews show, and what the text must fit with before it is published."""


class MalformedDeclaration(ValueError):
    """The declarations are not what the module's head shows; the message says which and why."""


def read(stored: object) -> tuple[Variable, ...]:
    """Read the JSON of a template's declarations.

    Raises:
        MalformedDeclaration: it is not of the form above, or an example is not of its type.
    """
    if not isinstance(stored, list) or len(stored) > MAX_DECLARED:
        raise MalformedDeclaration(f"variables are a list of at most {MAX_DECLARED} objects")
    declared = tuple(_one(entry) for entry in stored)
    if len({variable.name for variable in declared}) < len(declared):
        raise MalformedDeclaration("each variable is declared once")
    return declared


def mistakes(declared: Iterable[Variable], given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every variable that is missing or of the wrong type, and what is wrong; never its value."""
    for variable in declared:
        value = given.get(variable.name)
        if value is not None:
            fault = _fault(variable.type, value)
            if fault:
                yield variable.name, fault
        elif variable.required:
            absent = "is null" if variable.name in given else "is missing"
            yield variable.name, f"the template requires this variable, and it {absent}"


def examples(declared: Iterable[Variable]) -> dict[str, Any]:
    """The examples by name; an optional variable without one stays absent."""
    return {each.name: each.example for each in declared if each.example is not None}


def undeclared(declared: Sequence[Variable], needed: Iterable[str]) -> list[str]:
    """Of the names that a source cannot do without: those that nobody has to send."""
    required = {variable.name for variable in declared if variable.required}
    return sorted(set(needed) - required)


def _one(entry: object) -> Variable:
    if not isinstance(entry, dict) or not {"name", "type"} <= entry.keys() <= _FIELDS:
        raise MalformedDeclaration("a variable has a name and a type; required, example")
    name, required = entry["name"], entry.get("required", True)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        detail = "a variable's name has letters, digits and underscores, and begins with a letter"
        raise MalformedDeclaration(detail)
    if name == UNSUBSCRIBE_URL:
        raise MalformedDeclaration(f"{name}: an e-mail has it by itself; it is not declared")
    if entry["type"] not in list(Type):
        raise MalformedDeclaration(f"{name}: its type is one of {', '.join(Type)}")
    if not isinstance(required, bool):
        raise MalformedDeclaration(f"{name}: required is true or false")
    variable = Variable(
        name=name, type=Type(entry["type"]), required=required, example=entry.get("example")
    )
    if variable.example is None and required:
        raise MalformedDeclaration(f"{name}: a required variable has an example")
    for _, fault in mistakes([variable], {name: variable.example}):
        raise MalformedDeclaration(f"{name}: its example {fault}")
    return variable


def _fault(wanted: Type, value: object) -> str:
    """Why a value is not of a type, or nothing."""
    match wanted:
        case Type.STRING:
            return "" if isinstance(value, str) else "must be a string"
        case Type.BOOLEAN:
            return "" if isinstance(value, bool) else "must be true or false"
        case Type.LIST:
            return "" if isinstance(value, list) else "must be a list"
        case Type.OBJECT:
            return "" if isinstance(value, dict) else "must be an object"
        case Type.INTEGER | Type.NUMBER:
            return _fault_of_number(wanted, value)
        case Type.DATETIME | Type.DATE | Type.MONEY:
            return _fault_of_format(wanted, value)
        case never:
            assert_never(never)


def _fault_of_number(wanted: Type, value: object) -> str:
    takes = int if wanted is Type.INTEGER else int | float
    # To Python true is a number.
    is_number = isinstance(value, takes) and not isinstance(value, bool)
    return "" if is_number else f"must be {'an' if wanted is Type.INTEGER else 'a'} {wanted}"


_READERS: Final = {
    Type.DATETIME: formats.instant,
    Type.DATE: formats.day,
    Type.MONEY: formats.amount,
}
_SHOWN: Final = {
    Type.DATETIME: 'an ISO 8601 instant with its offset: "2026-03-01T09:30:00Z"',
    Type.DATE: 'an ISO 8601 day: "2026-03-01"',
    Type.MONEY: 'an amount and an ISO 4217 currency: {"amount": "9.90", "currency": "EUR"}',
}


def _fault_of_format(wanted: Type, value: object) -> str:
    try:
        _READERS[wanted](value)
    except (ValueError, ArithmeticError):
        # What Python says of it quotes it.
        return f"must be {_SHOWN[wanted]}"
    return ""
