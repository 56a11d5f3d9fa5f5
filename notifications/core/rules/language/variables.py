"""Declared variables of a template: name, type and example.

    [{"name": "total", "type": "money", "required": true,
      "example": {"amount": "9.90", "currency": "EUR"}}, ...]

Variables without `mistakes` have every required name with the declared type. Values are not
converted: `"5"` is no integer and `1` no boolean. Undeclared variables are accepted, because one
event often feeds several templates. Publishing renders the examples, which reveals a use forbidden
by the type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from notifications.core.rules import access
from notifications.core.rules.language import formats

MAX_DECLARED: Final = 100
"""Variables of one template."""
UNSUBSCRIBE_URL: Final = "unsubscribe_url"
"""Set by us in every P2 and P3 e-mail of live mode: where the reader unsubscribes. Elsewhere it is
empty, so a template for P1 too writes `{% if unsubscribe_url %}`. It is neither declared nor sent.
"""
PREFERENCES_URL: Final = "preferences_url"
"""Set by us in every e-mail: the recipient's preference page. Elsewhere it is empty, and everywhere
if no installed app serves the page. A variable of this name that a producer sends has precedence.
"""
BRAND: Final = "brand"
"""Set by the service in each text: the brand of the producer (`rules.brand.Brand.variables`). A
version from before the reservation that declares the name keeps the producer's variable.
"""


class MailLinks(NamedTuple):
    """The service's links in an e-mail; empty on other channels."""

    unsubscribe_url: str = ""
    preferences_url: str = ""


NO_LINKS: Final = MailLinks()
_EXAMPLES: Final = MailLinks(
    "https://notify.example/unsubscribe/WzEsMywic29jaWFsIl0.signature",
    "https://notify.example/preferences/WzEsMjA3ODBd.signature",
)
LINK_NAMES: Final = frozenset(MailLinks._fields)
SERVICE_NAMES: Final = LINK_NAMES | {BRAND}
"""Variables that the service fills in."""
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
"""Names that a source can use: `{{ order-id }}` would be a subtraction."""
_FIELDS: Final = frozenset({"name", "type", "required", "example"})


def has_preference_page() -> bool:
    """Return True if an installed app serves the page behind `preferences_url`."""
    return access.rule_of("GET", "preferences/<str:token>") is not None


def link_examples() -> MailLinks:
    """Return the links of an e-mail in previews."""
    return _EXAMPLES if has_preference_page() else _EXAMPLES._replace(preferences_url="")


class Type(StrEnum):
    """JSON type of a variable."""

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
    """An optional variable may be absent or null."""
    example: Any = None
    """Shown in previews; the text must render with it before it is published."""


class MalformedDeclaration(ValueError):
    """The declarations do not have the form above; the message says which and why."""


def parse_declarations(stored: object) -> tuple[Variable, ...]:
    """Read the JSON of a template's declarations.

    Raises:
        MalformedDeclaration: another form, or an example that is not of its type.
    """
    if not isinstance(stored, list) or len(stored) > MAX_DECLARED:
        raise MalformedDeclaration(f"variables are a list of at most {MAX_DECLARED} objects")
    declared = tuple(_one(entry) for entry in stored)
    if len({variable.name for variable in declared}) < len(declared):
        raise MalformedDeclaration("each variable is declared once")
    return declared


def parse_new_declarations(given: object) -> tuple[Variable, ...]:
    """Read the declarations of a version that is about to be stored.

    Raises:
        MalformedDeclaration: as `parse_declarations`, or a variable has the name BRAND.
    """
    declared = parse_declarations(given)
    if declares_brand(declared):
        raise MalformedDeclaration(
            f"{BRAND}: the service fills in the brand of the producer under this name; give the"
            " variable another name"
        )
    return declared


def declares_brand(declared: Iterable[Variable]) -> bool:
    """Return True if a variable of the producer has the name BRAND, as in an old version."""
    return any(each.name == BRAND for each in declared)


def mistakes(declared: Iterable[Variable], given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every missing or wrong variable and the fault, never the value."""
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
    """Return the examples by name; an optional variable without one stays absent."""
    return {each.name: each.example for each in declared if each.example is not None}


def missing_declarations(declared: Sequence[Variable], needed: Iterable[str]) -> list[str]:
    """Return the required names of a source that the declarations do not require from producers."""
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
    """Return why a value is not of a type; empty if it is."""
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
