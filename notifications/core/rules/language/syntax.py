"""The permitted part of Jinja's language, by name.

Jinja2's sandbox keeps a template away from Python and limits neither time nor memory: `'x' *
50000000`, `'x'|center(50000000)` and three nested loops all pass it. Here a template has no calls,
methods, macros, imports or assignments, only small filters, and a size; `templating` limits the
work at run time. A filter that returns a multiple of its input would break that limit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from jinja2 import Environment, TemplateSyntaxError, nodes

from notifications.core.rules.language import addresses, plain_faults
from notifications.core.rules.language.formats import PLURALS

MAX_SOURCE: Final = 200_000
"""Characters of one source: twice the size at which mail programs cut a message off."""
MAX_NODES: Final = 5_000
"""Syntax nodes of one source; a long newsletter has a few hundred."""
MAX_DEPTH: Final = 40
"""Nesting of the syntax tree. Python's own compiler fails above a hundred."""
MAX_LOOP_DEPTH: Final = 2
"""Orders and their lines."""

FORMATS: Final = frozenset({
    "date",
    "datetime",
    "listed",
    "money",
    "number",
    "percent",
    "plural",
    "time",
})
"""The filters of `formats`, which ask CLDR."""
FILTERS: Final = (
    FORMATS
    | addresses.FILTERS
    | frozenset(
        {
            "abs",
            "capitalize",
            "d",
            "default",
            "e",
            "escape",
            "first",
            "float",
            "int",
            "join",
            "last",
        }
        | {"length", "lower", "round", "title", "trim", "truncate", "upper", "urlencode"}
    )
)
READERS: Final = frozenset(
    {"capitalize", "e", "escape", "float", "int", "join", "lower", "title", "trim", "truncate"}
    | {"upper", "urlencode"}
)
"""Filters that read all of their input, however long."""
TESTS: Final = frozenset(
    {"boolean", "defined", "divisibleby", "eq", "even", "ge", "gt", "in", "le", "lt", "mapping"}
    | {"ne", "none", "number", "odd", "sequence", "string", "undefined"}
)
_NODES: Final = frozenset(
    {nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.CondExpr}
    | {nodes.Name, nodes.Const, nodes.List, nodes.Tuple, nodes.Getattr, nodes.Getitem, nodes.Slice}
    | {nodes.Filter, nodes.Test, nodes.Keyword, nodes.Compare, nodes.Operand}
    | {nodes.And, nodes.Or, nodes.Not, nodes.Neg, nodes.Pos}
    | {nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod}
)
_UNSENDABLE: Final = re.compile("[\0\ud800-\udfff]")
_RESERVED: Final = frozenset({"self", "super", "caller", "varargs", "kwargs"})
"""Names with a meaning in Jinja's compiler."""


@dataclass(frozen=True, slots=True)
class TemplateFault:
    """A forbidden part of a template, with the line."""

    line: int
    detail: str


class BrokenTemplate(Exception):
    """The source is refused because of `faults`; no part of it was run."""

    def __init__(self, faults: list[TemplateFault]) -> None:
        super().__init__("; ".join(f"line {fault.line}: {fault.detail}" for fault in faults))
        self.faults = faults


def parse(source: str, *, parser: Environment) -> nodes.Template:
    """Return the syntax tree of a permitted source.

    Raises:
        BrokenTemplate: not a template, too large, or with a part not listed here.
    """
    if len(source) > MAX_SOURCE:
        raise BrokenTemplate([TemplateFault(1, f"longer than {MAX_SOURCE} characters")])
    if found := _UNSENDABLE.search(source):
        line = source.count("\n", 0, found.start()) + 1
        raise BrokenTemplate([
            TemplateFault(line, "a NUL character or a lone surrogate, which no text can have")
        ])
    try:
        tree = parser.parse(source)
    except TemplateSyntaxError as error:
        fault = TemplateFault(error.lineno, plain_faults.plain(error.message or "not understood"))
        raise BrokenTemplate([fault]) from error
    except RecursionError as error:
        raise BrokenTemplate([TemplateFault(1, "nested too deeply")]) from error
    faults = sorted(_faults(tree, depth=0, loops=0), key=lambda fault: fault.line)
    if not faults and sum(1 for _ in tree.find_all(nodes.Node)) > MAX_NODES:
        faults = [TemplateFault(1, f"more than {MAX_NODES} names, values and operators")]
    if faults:
        raise BrokenTemplate(faults)
    return tree


def _faults(node: nodes.Node, *, depth: int, loops: int) -> Iterator[TemplateFault]:
    """Yield the faults of a tree; nodes below the greatest depth are not checked."""
    loops += isinstance(node, nodes.For)
    detail = "nested too deeply" if depth > MAX_DEPTH else _objection(node, loops=loops)
    if detail:
        yield TemplateFault(node.lineno or 1, detail)
    if depth <= MAX_DEPTH:
        for child in node.iter_child_nodes():
            yield from _faults(child, depth=depth + 1, loops=loops)


def _objection(node: nodes.Node, *, loops: int) -> str:
    """Return the reason why a node is forbidden; empty for an allowed node."""
    if type(node) not in _NODES:
        return f"{type(node).__name__.lower()} is not available in templates"
    match node:
        case nodes.For():
            return _objection_to_loop(node, loops=loops)
        case nodes.Filter(name=name) if name not in FILTERS or node.node is None:
            return f"unknown filter {name}"
        case nodes.Filter(name="plural"):
            return _objection_to_plural(node)
        case nodes.Test(name=name) if name not in TESTS:
            return f"unknown test {name}"
        case _:
            return _objection_to_word(node)


def _can_be_sent(value: object) -> bool:
    """Return True if a constant is finite, and a text fits UTF-8 and the database."""
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, str) or not _UNSENDABLE.search(value)


def _objection_to_loop(loop: nodes.For, *, loops: int) -> str:
    if loops > MAX_LOOP_DEPTH:
        return f"loops may be nested {MAX_LOOP_DEPTH} deep"
    if loop.recursive or not isinstance(loop.iter, nodes.Name | nodes.Getattr | nodes.Getitem):
        return "a loop runs over a variable"
    return ""


def _objection_to_plural(used: nodes.Filter) -> str:
    forms = {pair.key for pair in used.kwargs}
    if (
        used.args
        or used.dyn_args
        or used.dyn_kwargs
        or not forms <= PLURALS
        or "other" not in forms
    ):
        return f"plural takes other= and those of {', '.join(sorted(PLURALS))} that differ"
    return ""


def _objection_to_word(node: nodes.Node) -> str:
    match node:
        case nodes.Const(value=value) if not _can_be_sent(value):
            return "this value cannot be written in a message"
        case nodes.Name(name=name) if name in _RESERVED:
            return f"{name} is a word of the template language"
        case (
            nodes.Name(name=name)
            | nodes.Getattr(attr=name)
            | nodes.Getitem(arg=nodes.Const(value=str(name)))
        ) if name.startswith("_"):
            return f"{name}: names must not begin with an underscore"
        case _:
            return ""
