"""Conditions `received` that one search of the notifications answers together.

received A or received B                   one search for A or B
not received A and not received B          the opposite of that search
received A and received B                  two searches
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from notifications.features.audiences.rules import nodes
from notifications.features.audiences.rules.nodes import Expression, ReceivedAny


def merge(expression: Expression) -> Expression:
    """Return an equal expression with as few searches as its `and` and `or` permit."""
    match expression:
        case nodes.Received():
            return ReceivedAny((expression,))
        case nodes.Outside(part):
            return nodes.Outside(merge(part))
        case nodes.Or():
            parts = tuple(_one_search(_flat(expression)))
            return parts[0] if len(parts) == 1 else nodes.Or(parts)
        case nodes.And():
            parts = tuple(_one_absence(_flat(expression)))
            return parts[0] if len(parts) == 1 else nodes.And(parts)
        case _:
            return expression


def count(expression: Expression) -> int:
    """Return the number of searches of an expression from `merge`."""
    return sum(isinstance(part, ReceivedAny) for part in nodes.walk(expression))


def _flat(expression: nodes.And | nodes.Or) -> Iterator[Expression]:
    """Yield the merged parts; those of an `or` within an `or`, or an `and` within an `and`, too."""
    for part in map(merge, expression.parts):
        if isinstance(part, type(expression)):
            yield from nodes.parts_of(part)
        else:
            yield part


def _one_search(parts: Iterable[Expression]) -> Iterator[Expression]:
    conditions: list[nodes.Received] = []
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
        if isinstance(part, nodes.Outside) and isinstance(part.part, ReceivedAny):
            absent.append(part.part)
        else:
            yield part
    yield from map(nodes.Outside, _one_search(absent))
