"""An audience expression in words, for operators."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from notifications.features.audiences.rules import nodes, parse
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.audiences.rules.nodes import Expression, Operator, RelativeDays

_MAX_CHOICES: Final = 5
"""Values that a sentence names."""
_MAX_PARTS: Final = 6
"""Conditions of a combination that a sentence about recipients names."""
_MAX_JSON: Final = 200
"""Characters of an unreadable expression in a sentence."""
_AFTER_RECIPIENTS: Final[Mapping[type, str]] = {
    **dict.fromkeys((nodes.HasAttribute, nodes.HasLocale, nodes.HasTimezone), "whose "),
    nodes.Received: "who ",
}
"""Condition -> words between "recipients" and the description of the condition."""
_SIGNS: Final[Mapping[Operator, str]] = {
    Operator.IS: "is",
    Operator.IN: "is",
    Operator.AT_LEAST: "is at least",
    Operator.AT_MOST: "is at most",
    Operator.BEFORE: "is before",
    Operator.AFTER: "is on or after",
    Operator.CONTAINS: "contains",
}


def describe(expression: Expression) -> str:
    """Return an expression as one phrase: `plan is pro, and not in the topic news`."""
    return _WORDS[type(expression)](expression)


def who(expression: Expression) -> str:
    """Return an expression as the phrase after the word recipients; empty for everyone.

    Such as `whose plan is pro, except those in the topic news`.
    """
    match expression:
        case nodes.Everyone():
            return ""
        case nodes.And(parts):
            return _who_in_all(parts)
        case nodes.Or(parts):
            return _join(" or ", parts)
        case nodes.Outside(part):
            return f"(all except those {_those(part)})"
        case nodes.UserIds(user_ids):
            return "with one user id" if len(user_ids) == 1 else f"with {len(user_ids):,} user ids"
        case _:
            return _AFTER_RECIPIENTS.get(type(expression), "") + describe(expression)


def who_stored(value: Mapping[str, Any]) -> str:
    """Return a stored expression as `who` does; with its JSON if unreadable in the release."""
    try:
        return who(parse.parse(value))
    except ExpressionError:  # of a release with other conditions
        return f"in the audience {json.dumps(value, ensure_ascii=False)[:_MAX_JSON]}"


def _who_in_all(parts: tuple[Expression, ...]) -> str:
    """Return the conditions of an `and`: the wanted ones, then the left-out ones."""
    wanted = tuple(each for each in parts if not isinstance(each, nodes.Outside | nodes.Everyone))
    left_out = tuple(each.part for each in parts if isinstance(each, nodes.Outside))
    if not left_out:
        return _join(" and ", wanted)
    outside = f"except those {_join(' or ', left_out)}"
    return f"{_join(' and ', wanted)}, {outside}" if wanted else f"(all {outside})"


def _join(word: str, parts: tuple[Expression, ...]) -> str:
    """Join conditions; of many conditions, the first ones and the number of the others."""
    if len(parts) == 1:
        return who(parts[0])
    texts = [_those(each) for each in parts[:_MAX_PARTS]]
    if len(parts) > _MAX_PARTS:
        rest = len(parts) - _MAX_PARTS
        texts.append(f"{rest} further condition{'s' if rest > 1 else ''}")
    return word.join(texts)


def _those(expression: Expression) -> str:
    """Return the phrase after the word those, in brackets if the phrase has parts."""
    match expression:
        case nodes.Outside(part):
            return f"not among those {_those(part)}"
        case nodes.And(parts) | nodes.Or(parts) if len(parts) > 1:
            return f"({who(expression)})"
        case _:
            return who(expression) or "with any values"


def describe_stored(value: Mapping[str, Any]) -> str:
    """Return a stored expression as a phrase; as JSON if unreadable in the release."""
    try:
        return describe(parse.parse(value))
    except ExpressionError:  # of a release with other conditions
        return json.dumps(value, ensure_ascii=False)


def _attribute(condition: nodes.HasAttribute) -> str:
    if condition.operator is Operator.EXISTS:
        return f"{condition.attribute} is {'set' if condition.operands[0] else 'not set'}"
    sign = _SIGNS[condition.operator]
    return f"{condition.attribute} {sign} {_choices(condition.operands)}"


def _choices(values: tuple[object, ...]) -> str:
    texts = [_value(each) for each in values[:_MAX_CHOICES]]
    if len(values) > _MAX_CHOICES:
        texts.append(f"one of {len(values) - _MAX_CHOICES} more")
    return " or ".join(texts)


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case RelativeDays(days):
            return f"{-days} days ago" if days <= 0 else f"{days} days ahead"
        case _:
            return str(value)


def _sending(condition: nodes.Received) -> str:
    what = f"{condition.type}" if condition.type else f"the bulk job {condition.bulk_job}"
    return f"got {what} in the last {condition.within_days} days"


def _several(word: str, parts: tuple[Expression, ...]) -> str:
    if len(parts) == 1:
        return describe(parts[0])
    return f", {word} ".join(_inside(part) for part in parts)


def _inside(part: Expression) -> str:
    text = describe(part)
    return f"({text})" if isinstance(part, nodes.And | nodes.Or) else text


_WORDS: Final[Mapping[type, Callable[[Any], str]]] = {
    nodes.Everyone: lambda _: "everyone",
    nodes.UserIds: lambda node: f"{len(node.user_ids)} named recipients",
    nodes.InTopic: lambda node: f"in the topic {node.topic}",
    nodes.InList: lambda node: (
        f"in the {'snapshot' if node.is_snapshot else 'upload'} {node.list_id}"
    ),
    nodes.SavedAudience: lambda node: f"in the audience {node.name}",
    nodes.HasAttribute: _attribute,
    nodes.HasLocale: lambda node: f"locale is {_choices(node.locales)}",
    nodes.HasTimezone: lambda node: f"timezone is {_choices(node.timezones)}",
    nodes.CreatedBefore: lambda node: f"created before {_value(node.time)}",
    nodes.CreatedAfter: lambda node: f"created on or after {_value(node.time)}",
    nodes.Reachable: lambda node: f"reachable by {node.channel.label}",
    nodes.Received: _sending,
    nodes.And: lambda node: _several("and", node.parts),
    nodes.Or: lambda node: _several("or", node.parts),
    nodes.Outside: lambda node: f"not {_inside(node.part)}",
}
