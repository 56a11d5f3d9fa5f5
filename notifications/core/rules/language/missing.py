"""Names of missing keys in errors: quoted from the template's source, never a variable's value.

In `labels[pin]` the value of `pin` is the key. An error with the key would disclose a possibly
sensitive variable, so each such subscript is compiled together with the source text.
"""

from __future__ import annotations

from typing import Final

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

ITEM: Final = "_item"
"""The filter that looks a key up: value, key, and the text of both in the source."""


class NamedKeys(NodeTransformer):
    """Names each `a[b]` of a source as the source does, because the value of `b` may be secret."""

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
