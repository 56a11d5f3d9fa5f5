"""Comparisons in a template: `in`, `==` and the like read lists and texts to the end.

A loop pays for each node and a filter for what it reads. A comparison was one node, whatever it
read: a loop over 5,000 values that asked for each whether it was in a list took seconds. So each
side of a comparison that may be long passes through a filter, and filters pay.
"""

from __future__ import annotations

from typing import Final

from jinja2 import nodes

COMPARED: Final = "_compared"
"""The filter that each side passes through; no author can name it."""
_CONTAINS: Final = frozenset({"in", "notin"})
_COMPARING: Final = frozenset({"eq", "ge", "gt", "in", "le", "lt", "ne"})
"""Tests that compare, like the operators."""


def let_pay(tree: nodes.Template) -> None:
    """Make `in`, `==` and the like pay for lists and texts that they read to the end."""
    for compare in list(tree.find_all(nodes.Compare)):
        if not _is_short(compare):
            compare.expr = _paying(compare.expr)
            for operand in compare.ops:
                operand.expr = _paying(operand.expr)
    for test in list(tree.find_all(nodes.Test)):
        if test.name in _COMPARING and not all(map(_is_literal, test.args)):
            test.node = _paying(test.node)
            test.args = [_paying(argument) for argument in test.args]


def _is_short(compare: nodes.Compare) -> bool:
    """Whether no value is read to its end: each is held against something short in the source."""
    left = compare.expr
    for operand in compare.ops:
        right = operand.expr
        either = [right] if operand.op in _CONTAINS else [left, right]
        if not any(map(_is_literal, either)):
            return False
        left = right
    return True


def _is_literal(expression: nodes.Expr) -> bool:
    if isinstance(expression, nodes.List | nodes.Tuple):
        return all(isinstance(item, nodes.Const) for item in expression.items)
    return isinstance(expression, nodes.Const)


def _paying(expression: nodes.Expr) -> nodes.Expr:
    if _is_literal(expression):
        return expression
    line = expression.lineno
    return nodes.Filter(expression, COMPARED, [], [], None, None, lineno=line)
