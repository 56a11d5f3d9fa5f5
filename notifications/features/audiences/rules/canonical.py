"""An audience expression as JSON: the stored form, with one spelling of a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from notifications.features.audiences.rules import nodes
from notifications.features.audiences.rules.nodes import Expression, Operator, RelativeDays


def to_json(expression: Expression) -> dict[str, Any]:
    """Return the JSON value of an expression; `parse` returns an equal expression."""
    return _FORMS[type(expression)](expression)


def _attribute(condition: nodes.HasAttribute) -> dict[str, Any]:
    values = [_time(each) for each in condition.operands]
    is_choice = condition.operator is Operator.IN
    return {
        "attribute": condition.attribute,
        condition.operator.value: values if is_choice else values[0],
    }


def _sending(condition: nodes.Received) -> dict[str, Any]:
    what = {"type": condition.type} if condition.type else {"bulk_job": condition.bulk_job}
    return {"received": {**what, "within_days": condition.within_days}}


def _list(condition: nodes.InList) -> dict[str, Any]:
    return {"snapshot" if condition.is_snapshot else "upload": condition.list_id}


def _choice(name: str, values: tuple[str, ...]) -> dict[str, Any]:
    if len(values) == 1:
        return {"attribute": name, "is": values[0]}
    return {"attribute": name, "in": list(values)}


def _time(value: object) -> object:
    if isinstance(value, RelativeDays):
        return {"days_ago": -value.days} if value.days <= 0 else {"days_ahead": value.days}
    return value


_FORMS: Final[Mapping[type, Callable[[Any], dict[str, Any]]]] = {
    nodes.Everyone: lambda _: {"everyone": True},
    nodes.UserIds: lambda node: {"user_ids": list(node.user_ids)},
    nodes.InTopic: lambda node: {"topic": node.topic},
    nodes.InList: _list,
    nodes.SavedAudience: lambda node: {"audience": node.name},
    nodes.HasAttribute: _attribute,
    nodes.HasLocale: lambda node: _choice("locale", node.locales),
    nodes.HasTimezone: lambda node: _choice("timezone", node.timezones),
    nodes.CreatedBefore: lambda node: {"attribute": "created_at", "before": _time(node.time)},
    nodes.CreatedAfter: lambda node: {"attribute": "created_at", "after": _time(node.time)},
    nodes.Reachable: lambda node: {"reachable": node.channel.label},
    nodes.Received: _sending,
    nodes.And: lambda node: {"and": [to_json(part) for part in node.parts]},
    nodes.Or: lambda node: {"or": [to_json(part) for part in node.parts]},
    nodes.Outside: lambda node: {"not": to_json(node.part)},
}
