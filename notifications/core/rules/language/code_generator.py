"""Code generator: Jinja's code for templates, with fewer calls of Python functions.

    Jinja                                      here
    yields each piece of an output             yields up to WRITTEN_TOGETHER values as one text
    calls `finalize` for each value            compares the value with None
    calls a method of the context for a name   reads a dict
    makes a context for each source            sources with the same escapes share a context

The texts are those of Jinja's own generator, which `tests/rules/language/test_code_generator.py`
compares. Jinja's `NativeEnvironment` overrides the same methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Context
from jinja2.utils import missing

from notifications.core.rules.language.formats import RenderError

WRITTEN_TOGETHER: Final = 8
"""Values that a template writes before the length of the output is checked. Each has at most the
length of all variables, except for one value of a filter, which can be as long as an output."""


class Known(dict[str, Any]):
    """The variables of a message by name; `jinja2.utils.missing` for another name."""

    def __missing__(self, _name: str) -> Any:  # noqa: ANN401 - Jinja's type of `missing`
        return missing


class PaidContext(Context):
    """The variables of a message, and the rest of the budget of the present source, in nodes."""

    left = 0

    def charge(self, cost: int) -> None:
        """Pay for work.

        Raises:
            RenderError: the budget is spent.
        """
        self.left -= cost
        if self.left < 0:
            raise RenderError("its loops and filters run too long for these variables")


class FewerCalls(CodeGenerator):
    """The generator. A context of the code has variables of the type `Known`."""

    def write_commons(self) -> None:
        """Look names up in the dict of the context: no template assigns a name."""
        super().write_commons()
        self.writeline("resolve = context.parent.__getitem__")

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:  # noqa: N802 - Jinja's protocol
        """Yield the pieces of an output in texts of up to WRITTEN_TOGETHER values."""
        for pieces in _written_together(node.nodes):
            self.buffer(frame)
            super().visit_Output(nodes.Output(pieces, lineno=node.lineno), frame)
            self.writeline(f"yield concat({frame.buffer})")
            frame.buffer = None

    def _output_child_pre(self, *_arguments: object) -> None:
        self.write('("" if (value := ')

    def _output_child_post(self, _node: nodes.Expr, frame: Frame, _finalize: object) -> None:
        function = "escape" if frame.eval_ctx.autoescape else "str"
        self.write(f") is None else {function}(value))")


def _written_together(pieces: Iterable[nodes.Expr]) -> Iterator[list[nodes.Expr]]:
    """Group pieces: up to WRITTEN_TOGETHER values, of which one comes from a filter or operator."""
    group: list[nodes.Expr] = []
    values = made = 0
    for piece in pieces:
        is_value = not isinstance(piece, nodes.TemplateData)
        is_made = is_value and not isinstance(piece, nodes.Name | nodes.Getattr)
        if values + is_value > WRITTEN_TOGETHER or made + is_made > 1:
            yield group
            group, values, made = [], 0, 0
        group.append(piece)
        values, made = values + is_value, made + is_made
    yield group
