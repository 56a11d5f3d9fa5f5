"""Conditions on attributes: `{"attribute": "plan", "is": "pro"}`.

`locale`, `timezone` and `created_at` are columns of every recipient, so the names have special
conditions and cannot be defined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from notifications.core.rules import attributes, request_faults
from notifications.core.rules.attributes import BUILT_IN, AttributeKind
from notifications.features.audiences.rules import nodes
from notifications.features.audiences.rules.faults import Place
from notifications.features.audiences.rules.nodes import Expression, Operand, Operator, RelativeDays

_CHOICE: Final = (Operator.IS, Operator.IN)
_OPERATORS: Final[Mapping[AttributeKind, tuple[Operator, ...]]] = {
    AttributeKind.TEXT: (*_CHOICE, Operator.EXISTS),
    AttributeKind.NUMBER: (*_CHOICE, Operator.AT_LEAST, Operator.AT_MOST, Operator.EXISTS),
    AttributeKind.BOOLEAN: (Operator.IS, Operator.EXISTS),
    AttributeKind.DATE: (Operator.IS, Operator.BEFORE, Operator.AFTER, Operator.EXISTS),
    AttributeKind.LIST: (Operator.CONTAINS, Operator.EXISTS),
}


def operators_of(kind: AttributeKind) -> tuple[Operator, ...]:
    """Return the operators for attributes of a kind."""
    return _OPERATORS[kind]


def parse(
    value: Mapping[str, Any], place: Place, kinds: Mapping[str, AttributeKind] | None
) -> Expression:
    """Return the condition of an object with the field `attribute`.

    Args:
        value: the object.
        place: the place of the object.
        kinds: kinds of the defined attributes; None: any attribute, of any kind.

    Raises:
        ExpressionError: the object is not a condition, or the attribute is unknown.
    """
    name = value["attribute"]
    if not isinstance(name, str):
        raise place.at("attribute").error("must be the name of an attribute")
    given = [field for field in value if field != "attribute"]
    unknown = [field for field in given if field not in frozenset(Operator)]
    if unknown:
        hint = request_faults.did_you_mean(str(unknown[0]), Operator)
        raise place.at(unknown[0]).error(f"unknown operator{hint}")
    if len(given) != 1:
        raise place.error(f"give exactly one of {', '.join(Operator)}")
    operator = Operator(given[0])
    if name in BUILT_IN:
        return _built_in(name, operator, value[operator], place)
    if kinds is not None:
        _check_kind(name, operator, place, kinds)
    below = place.at(operator)
    operands = _operands(operator, value[operator], below, (kinds or {}).get(name))
    return nodes.HasAttribute(name, operator, operands)


def _check_kind(
    name: str, operator: Operator, place: Place, kinds: Mapping[str, AttributeKind]
) -> None:
    kind = kinds.get(name)
    if kind is None:
        hint = request_faults.did_you_mean(name, (*kinds, *BUILT_IN))
        raise place.at("attribute").error(f"unknown attribute{hint}")
    if operator not in _OPERATORS[kind]:
        raise place.at(operator).error(
            f"an attribute of the kind {kind} takes {', '.join(_OPERATORS[kind])}"
        )


def _operands(
    operator: Operator, value: object, place: Place, kind: AttributeKind | None
) -> tuple[Operand, ...]:
    match operator:
        case Operator.EXISTS:
            if not isinstance(value, bool):
                raise place.error("must be true or false")
            return (value,)
        case Operator.AT_LEAST | Operator.AT_MOST:
            return (_scalar(value, place, AttributeKind.NUMBER),)
        case Operator.BEFORE | Operator.AFTER:
            return (_time(value, place),)
        case Operator.CONTAINS:
            return (_scalar(value, place, AttributeKind.TEXT),)
        case Operator.IS:
            return (_scalar(value, place, kind),)
        case Operator.IN:
            return tuple(_scalar(each, at, kind) for each, at in _choices(value, place))


def _scalar(value: object, place: Place, kind: AttributeKind | None) -> Operand:
    """Return a value of a kind; without a kind: any text, number or boolean."""
    kinds = list(_SCALARS) if kind is None else [kind]
    found = next(
        (each for each in (attributes.to_stored(value, of) for of in kinds) if each is not None),
        None,
    )
    if found is None or isinstance(found, list):
        said = "must be a text, a number or true or false"
        raise place.error(said if kind is None else attributes.sentence_of(kind))
    return found


_SCALARS: Final = (AttributeKind.TEXT, AttributeKind.NUMBER, AttributeKind.BOOLEAN)


def _choices(value: object, place: Place) -> list[tuple[object, Place]]:
    if not isinstance(value, list) or not value:
        raise place.error("must be a list with at least one value")
    if len(value) > nodes.MAX_CHOICES:
        raise place.error(f"may have at most {nodes.MAX_CHOICES} values")
    return [(each, place.at(number)) for number, each in enumerate(value)]


def _time(value: object, place: Place) -> str | RelativeDays:
    """Return a date or instant in the stored form, or a number of days from the evaluation."""
    if isinstance(value, dict):
        [*fields] = value
        if fields not in (["days_ago"], ["days_ahead"]):
            raise place.error("must be a date, or an object with days_ago or days_ahead")
        days = value[fields[0]]
        is_days = isinstance(days, int) and not isinstance(days, bool)
        if not is_days or not 0 <= days <= nodes.MAX_RELATIVE_DAYS:
            most = nodes.MAX_RELATIVE_DAYS
            raise place.at(fields[0]).error(f"must be a whole number of days from 0 to {most}")
        return RelativeDays(-days if fields == ["days_ago"] else days)
    text = attributes.date_text(value)
    if text is None:
        raise place.error(attributes.sentence_of(AttributeKind.DATE))
    return text


def _built_in(name: str, operator: Operator, value: object, place: Place) -> Expression:
    below = place.at(operator)
    if name == "created_at":
        match operator:
            case Operator.BEFORE:
                return nodes.CreatedBefore(_time(value, below))
            case Operator.AFTER:
                return nodes.CreatedAfter(_time(value, below))
            case _:
                raise below.error("created_at takes before, after")
    if operator not in _CHOICE:
        raise below.error(f"{name} takes is, in")
    given = [(value, below)] if operator is Operator.IS else _choices(value, below)
    texts = tuple(str(_scalar(each, at, AttributeKind.TEXT)) for each, at in given)
    return nodes.HasLocale(texts) if name == "locale" else nodes.HasTimezone(texts)
