"""Cost of comparisons and slices: `in`, `==`, `[:]` and the like read lists and texts to the end.

A loop costs one unit per node, and a filter costs units per character. Without this module a
comparison costs one unit for any length: a loop over 5,000 values with an `in` on a list took
seconds. Therefore each side of a possibly long comparison, and each value of which a slice is
taken, passes through a filter with a cost.
"""

from __future__ import annotations

from typing import Final

from jinja2 import nodes

COMPARED: Final = "_compared"
"""The filter that each side passes through; no author can name it."""
SLICED: Final = "_sliced"
"""The filter that a value passes before a slice is taken."""
_CONTAINS: Final = frozenset({"in", "notin"})
_COMPARING: Final = frozenset({"eq", "ge", "gt", "in", "le", "lt", "ne"})
"""Tests that compare, like the operators."""


def let_pay(tree: nodes.Template) -> None:
    """Make `in`, `==`, slices and similar operators pay for lists and texts read to the end."""
    for item in list(tree.find_all(nodes.Getitem)):
        if isinstance(item.arg, nodes.Slice):
            item.node = nodes.Filter(item.node, SLICED, [], [], None, None, lineno=item.lineno)
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
    """Return True if a side of the comparison is short in the source: no value is read fully."""
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
