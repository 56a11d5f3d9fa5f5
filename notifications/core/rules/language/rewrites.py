"""Changes of a parsed source: the cost of comparisons and slices, and the names of missing keys.

`in`, `==`, `[:]` and the like read lists and texts to the end. A loop costs one unit per node, and
a filter costs units per character. Without these changes a comparison costs one unit for any
length: a loop over 5,000 values with an `in` on a list took seconds. Therefore each side of a
possibly long comparison, and each value of which a slice is taken, passes through a filter with a
cost.
"""

from __future__ import annotations

from typing import Final

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

COMPARED: Final = "_compared"
"""The filter that each side passes through; no author can name it."""
SLICED: Final = "_sliced"
"""The filter that a value passes before a slice is taken."""
_CONTAINS: Final = frozenset({"in", "notin"})
_COMPARING: Final = frozenset({"eq", "ge", "gt", "in", "le", "lt", "ne"})
"""Tests that compare, like the operators."""

ITEM: Final = "_item"
"""The filter that looks a key up: value, key, and the text of both in the source."""


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


class NamedKeys(NodeTransformer):
    """Names each `a[b]` of a source as the source does, because the value of `b` may be secret.

    In `labels[pin]` the value of `pin` is the key. An error with the key would disclose a possibly
    sensitive variable, so each such subscript is compiled together with the source text.
    """

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802 - Jinja's protocol
        """Replace `a["b"]` by `a.b`, and `a[b]` by a filter with the source text `a[b]`."""
        spelled = _source_text(node)
        self.generic_visit(node)
        if isinstance(node.arg, nodes.Slice):
            return node
        if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
            return nodes.Getattr(node.node, node.arg.value, "load", lineno=node.lineno)
        said = [node.arg, nodes.Const(spelled)]
        return nodes.Filter(node.node, ITEM, said, [], None, None, lineno=node.lineno)


def _source_text(node: nodes.Node) -> str:
    """Return a name with the keys as written; other expressions become an ellipsis."""
    match node:
        case nodes.Name(name=name):
            return str(name)
        case nodes.Const(value=value):
            return repr(value)
        case nodes.Getattr(node=owner, attr=name):
            return f"{_source_text(owner)}.{name}"
        case nodes.Getitem(node=owner, arg=key):
            return f"{_source_text(owner)}[{_source_text(key)}]"
        case _:
            return "…"
