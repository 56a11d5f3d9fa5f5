"""Required variables of a source without declarations.

Every render without one of the `required_variables` fails, so intake rejects the request early.
Variables inside an `if` or a loop are not included; a template with declarations declares all
variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from jinja2 import nodes

from notifications.core.rules.language import syntax, templating

_DEFAULTS: Final = frozenset({"d", "default"})
_ALWAYS: Final[Mapping[type[nodes.Node], str]] = {
    nodes.If: "test",
    nodes.CondExpr: "test",
    nodes.For: "iter",
    nodes.And: "left",
    nodes.Or: "left",
    nodes.Getitem: "node",
    nodes.Filter: "node",  # its arguments are perhaps not asked for: `x|int(y)`
}
"""The one child that is always evaluated."""
_NOT_AT_ALL: Final = (nodes.Test, nodes.List, nodes.Tuple)
"""`x is none` has its answer ready, and a list looks at none of its items."""


def required_variables(source: str) -> frozenset[str]:
    """Return the variables that every render of a source evaluates.

    Raises:
        BrokenTemplate: the source does not pass `templating.check`.
    """
    parser = templating.environment(autoescape=False)
    return frozenset(_evaluations(syntax.parse(source, parser=parser)))


def _evaluations(node: nodes.Node) -> Iterator[str]:
    """Yield the names below a node that every render looks up."""
    if isinstance(node, nodes.Name):
        yield node.name
        return
    for operand in _operands(node):
        yield from _evaluations(operand)


def _operands(node: nodes.Node) -> Iterable[nodes.Node]:
    match node:
        case nodes.Filter(name=name, node=nodes.Name()) if name in _DEFAULTS:
            return ()
        case nodes.Compare():
            return (node.expr, node.ops[0].expr)
        case _ if isinstance(node, _NOT_AT_ALL):
            return ()
        case _ if type(node) in _ALWAYS:
            return (getattr(node, _ALWAYS[type(node)]),)
        case _:
            return node.iter_child_nodes()
