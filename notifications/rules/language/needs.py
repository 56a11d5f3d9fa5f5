"""Which variables a source cannot do without, read from the source itself.

Promise: a name in `needed` is missed by every render that lacks it, so refusing a request for it
never refuses one that would have worked. It is not all that may be missed: what stands inside an
`if` or a loop may not be reached. A template that declares its variables says it completely.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from jinja2 import nodes

from notifications.rules.language import syntax, templating

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
"""The one child that is evaluated in any case."""
_NOT_AT_ALL: Final = (nodes.Test, nodes.List, nodes.Tuple)
"""`x is none` has its answer ready, and a list looks at none of its items."""


def needed(source: str) -> frozenset[str]:
    """The variables that every render of a source evaluates.

    Raises:
        BrokenTemplate: it does not pass `templating.check`.
    """
    parser = templating.environment(autoescape=False)
    return frozenset(_evaluated(syntax.parse(source, parser=parser)))


def _evaluated(node: nodes.Node) -> Iterator[str]:
    """The names below a node that are looked up whatever the variables hold."""
    if isinstance(node, nodes.Name):
        yield node.name
        return
    for operand in _operands(node):
        yield from _evaluated(operand)


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
