"""Templates: check, compile and render, safely for any source and any JSON variables.

    check    -> the faults of a source, line by line (an author's form error)
    compile  -> the same check, then code: once per template version
    render   -> text, or a RenderError that names the missing variable

A compiled template renders in well under a second, writes at most MAX_OUTPUT characters, and reads
only its variables: `syntax` allows little of the language; `a.b` is a key and never a Python
attribute; arithmetic is for numbers; and loops and filters pay from one budget. A value that
is no JSON, or a filter that multiplies its input, would break the limits.

With keys in place of attributes a render takes 4 us; the sandbox's check of each attribute took 55.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from jinja2 import (
    Environment,
    StrictUndefined,
    Template,
    TemplateSyntaxError,
    meta,
    nodes,
    pass_context,
    pass_environment,
)
from jinja2.exceptions import TemplateRuntimeError, UndefinedError
from jinja2.filters import FILTERS
from jinja2.runtime import Context, LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS

from notifications.core.rules import in_app
from notifications.core.rules.in_app import InAppPart
from notifications.core.rules.language import (
    addresses,
    formats,
    link_targets,
    plain_faults,
    rewrites,
    syntax,
)
from notifications.core.rules.language.code_generator import FewerCalls, Known, PaidContext
from notifications.core.rules.language.formats import READER, Reader, RenderError
from notifications.core.rules.language.rewrites import ITEM, NamedKeys
from notifications.core.rules.language.syntax import BrokenTemplate, TemplateFault
from notifications.core.rules.sensitive import MASK

__all__ = [
    "BrokenTemplate",
    "CompiledText",
    "Reader",
    "RenderError",
    "Rendered",
    "check",
    "compile_text",
    "environment",
    "tokens",
    "variables_of",
]

MAX_OUTPUT: Final = 500_000
"""Characters of one rendered part: what the API takes as raw HTML."""
BUDGET: Final = 50_000
"""Syntax nodes that the loops of one render may evaluate: about 20 ms."""
_READ_FOR_ONE: Final = 8
"""Characters that a filter reads for the price of a node: `title`, the slowest, takes 2.5 us."""
MAX_DIGITS: Final = 15
"""Digits after the point that a float can hold."""
_FILTER_COST: Final = 10
"""Nodes: what the call of a filter costs, whatever it reads."""
_FORMAT_COST: Final = 150
"""Nodes: what Babel takes for a date, about 60 us."""
_MAX_BITS: Final = 256
"""Of a whole number in arithmetic; products of longer ones take any time."""
_METERED: Final = "_metered"
_FROM_FILTERS: Final = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError),
    *(ValueError, TemplateRuntimeError),
)
"""Errors of Jinja's filters and Python's operators for unsuitable values."""
_ANYBODY: Final = Reader()
_LOOP_FACTS: Final = frozenset({
    "index",
    "index0",
    "revindex",
    "revindex0",
    "first",
    "last",
    "length",
})


class Rendered(NamedTuple):
    """The text of a message, ready for a provider."""

    title: str
    """One line, because it becomes a mail header."""
    body: str
    html: str
    in_app: InAppPart = in_app.EMPTY
    """Link, image and actions of an in-app message."""
    parameters: tuple[str, ...] = ()
    """Values of the parameters of a vendor's template, in order."""

    def __repr__(self) -> str:
        return f"Rendered({MASK})"


@dataclass(frozen=True, slots=True)
class CompiledText:
    """A template's text for one channel and locale, compiled once and used by every thread."""

    title: _Part
    body: _Part
    html: _Part

    def render(self, variables: Mapping[str, Any], reader: Reader = _ANYBODY) -> Rendered:
        """Fill in the variables (JSON values; escaped in the HTML).

        Raises:
            RenderError: one is missing or of the wrong type, or the result is too large, or has a
                link that runs a script.
        """
        known = Known(variables)
        known[READER] = reader
        if html := self.html(known):
            link_targets.check(html)
        texts = PaidContext(environment(autoescape=False), known, None, {})
        title, body = self.title(known, texts), self.body(known, texts)
        return Rendered(" ".join(title.splitlines()), body, html)


def compile_text(title: str, body: str, html: str = "") -> CompiledText:
    """Compile the three sources of a text; an empty source renders as an empty text.

    Raises:
        BrokenTemplate: one of them does not pass `check`.
    """
    return CompiledText(
        title=_Part(title, autoescape=False),
        body=_Part(body, autoescape=False),
        html=_Part(html, autoescape=True),
    )


def check(source: str) -> list[TemplateFault]:
    """Return the faults of a source, in the order of its lines."""
    try:
        syntax.parse(source, parser=environment(autoescape=False))
    except BrokenTemplate as error:
        return error.faults
    return []


def variables_of(source: str) -> frozenset[str]:
    """Return all variables mentioned in a source, required or not.

    Raises:
        BrokenTemplate: the source does not pass `check`.
    """
    tree = syntax.parse(source, parser=environment(autoescape=False))
    return frozenset(meta.find_undeclared_variables(tree))


def tokens(source: str) -> Iterator[tuple[str, str]]:
    """Yield kind and text of each token of Jinja's lexer; all texts together are the source.

    Raises:
        BrokenTemplate: a tag is not closed.
    """
    try:
        for _, kind, text in environment(autoescape=False).lex(source):
            yield kind, text
    except TemplateSyntaxError as error:
        fault = TemplateFault(error.lineno, plain_faults.plain(error.message or "not understood"))
        raise BrokenTemplate([fault]) from error


@functools.cache
def environment(*, autoescape: bool) -> ImmutableSandboxedEnvironment:
    """Return the Jinja environment: the filters and tests of `syntax`, no globals, no loader."""
    restricted = _Data(undefined=_Missing, autoescape=autoescape, finalize=_printable)
    # It would work constants out while it compiles, when nobody pays, and writes inf as a name.
    restricted.optimized = False
    restricted.globals.clear()
    listed = {name: FILTERS[name] for name in syntax.FILTERS if name in FILTERS}
    own = {"int": _int, "join": _join, "round": _round}
    own |= {"first": formats.first_of, "truncate": formats.truncate_text}
    all_filters = {**listed, **formats.filters(), **addresses.filters(), **own}
    readers = {name: _paid(all_filters[name]) for name in syntax.READERS}
    own_words = {_METERED: _meter, rewrites.COMPARED: _paid(_same), ITEM: _item}
    own_words[rewrites.SLICED] = _pay_copy
    restricted.filters = {**all_filters, **readers, **own_words}
    restricted.tests = {name: TESTS[name] for name in syntax.TESTS}
    return restricted


class _Missing(StrictUndefined):
    """A missing variable. Any use but `is defined` and `default` raises an error."""

    @property
    def _undefined_message(self) -> str:
        named = self._undefined_name
        return f"the variable {named!r} is missing" if named else "a key is missing"


class _Data(ImmutableSandboxedEnvironment):
    """Jinja over plain data: `a.b` is a key of a dict, never a Python attribute or method."""

    context_class = PaidContext
    code_generator_class = FewerCalls
    # Intercepted also means that Jinja does not work out 'x' * 50000000 while it compiles.
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%"})

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]  # most of what a template reads
        if isinstance(obj, LoopContext) and attribute in _LOOP_FACTS:
            return getattr(obj, attribute)
        return _item(self, obj, attribute, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:  # noqa: ANN401 - any JSON value
        # The argument can be a value, so a missing key has no name here: see `rewrites`.
        return _item(self, obj, argument, "")

    def call_binop(self, _context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401 - any JSON value
        for operand in (left, right):
            if isinstance(operand, Undefined):
                str(operand)  # says that it is missing
            # Text times a number is the shortest way to fill a machine's memory.
            if not isinstance(operand, int | float):
                raise RenderError(f"{operator} is for numbers")
            if isinstance(operand, int) and operand.bit_length() > _MAX_BITS:
                raise RenderError("a number is too long")
        return self.binop_table[operator](left, right)


@pass_environment
def _item(environment: Environment, obj: Any, key: Any, named: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return an object's value for a key; a missing value gets the source text `named` as name."""
    if isinstance(obj, Undefined):
        return obj[key]  # says that it is missing
    if isinstance(obj, dict | list | str):
        try:
            return obj[key]
        except (LookupError, TypeError):
            pass
    return environment.undefined(obj=obj, name=named)


def _printable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    # A producer's null is an absent middle name: "Dear None" helps nobody.
    return "" if value is None else value


# Of lists only: joining a text, and again, multiplies it.
def _join(value: Any, separator: str = "") -> str:  # noqa: ANN401 - any JSON value
    if not isinstance(value, list):
        raise RenderError("join is for lists")
    if len(value) * len(str(separator)) > MAX_OUTPUT:
        raise RenderError(f"longer than {MAX_OUTPUT} characters")
    return str(separator).join(str(_printable(item)) for item in value)


# Jinja's and Python's own `round` raise ten to any power that they are given.
def _round(value: float, digits: int = 0) -> float:
    if not 0 <= digits <= MAX_DIGITS:
        raise RenderError(f"round takes 0 to {MAX_DIGITS} digits")
    return round(value, digits)


# Jinja's reads texts of any length in hexadecimal, and numbers of any length take any time.
def _int(value: Any, default: int = 0) -> int:  # noqa: ANN401 - any JSON value
    made: int = FILTERS["int"](value, default)
    return made


def _paid(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Make a filter pay for the length of the input."""

    @pass_context
    def paying(context: PaidContext, value: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(value, str | list | dict):
            length = len(value if isinstance(value, str) else str(value))
            context.charge(length // _READ_FOR_ONE)
        return apply(value, *args, **named)

    return paying


def _same(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the compared value; `_paid` charges the cost."""
    return value


@pass_context
def _pay_copy(context: PaidContext, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of which a slice is taken, and charge a copy of the whole value.

    A text is read up to both ends of the slice.
    """
    if isinstance(value, str):
        context.charge((1 if value.isascii() else 3) * len(value) // _READ_FOR_ONE)
        return formats.Sliceable(value)
    if isinstance(value, list):
        context.charge(len(value) // _READ_FOR_ONE)
    return value


# What a `for` runs over, paid in advance.
@pass_context
def _meter(context: PaidContext, value: Any, cost: int) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Undefined):
        return value  # looping over it says that it is missing
    if not isinstance(value, list | dict | str):
        raise RenderError("a loop needs a list")
    context.charge(cost * len(value))
    return value


class _Part:
    """A compiled source; a source without variables is rendered without Jinja."""

    def __init__(self, source: str, *, autoescape: bool) -> None:
        compiler = environment(autoescape=autoescape)
        tree = syntax.parse(source, parser=compiler)
        self._constant = _constant(tree)
        for loop in tree.find_all(nodes.For):
            cost = nodes.Const(_cost(loop))
            loop.iter = nodes.Filter(
                loop.iter, _METERED, [cost], [], None, None, lineno=loop.lineno
            )
        rewrites.let_pay(tree)
        NamedKeys().visit(tree)
        tree.set_environment(compiler)
        self._template = Template.from_code(compiler, compiler.compile(tree), {})

    def __call__(self, known: Known, context: PaidContext | None = None) -> str:
        """Render with variables.

        Args:
            known: the variables.
            context: a context of them for a part with the same escapes; None: a new one.

        Raises:
            RenderError: as `CompiledText.render`.
        """
        if self._constant is not None:
            return self._constant
        context = context or PaidContext(self._template.environment, known, None, {})
        context.left = BUDGET
        pieces: list[str] = []
        length = 0
        try:
            for piece in self._template.root_render_func(context):
                length += len(piece)
                if length > MAX_OUTPUT:  # the rest is never made
                    raise RenderError(f"longer than {MAX_OUTPUT} characters")
                pieces.append(piece)
        except UndefinedError as error:
            raise RenderError(error.message or "a variable is missing") from None
        except _FROM_FILTERS:
            # Some quote the value, and it may be somebody's.
            raise RenderError("a value is not what a filter or operator takes") from None
        return "".join(pieces)


def _constant(tree: nodes.Template) -> str | None:
    """Return the text of a source without variables, else None."""
    said = [child for node in tree.body for child in node.iter_child_nodes()]
    data = [child.data for child in said if isinstance(child, nodes.TemplateData)]
    only_text = len(data) == len(said) and all(isinstance(node, nodes.Output) for node in tree.body)
    return "".join(data) if only_text and sum(map(len, data)) <= MAX_OUTPUT else None


def _cost(loop: nodes.For) -> int:
    below = list(loop.find_all(nodes.Node))
    used = [node.name for node in below if isinstance(node, nodes.Filter)]
    from_cldr = sum(name in syntax.FORMATS for name in used)
    return len(below) + _FILTER_COST * len(used) + _FORMAT_COST * from_cldr
