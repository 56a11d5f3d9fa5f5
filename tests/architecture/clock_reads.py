"""Reads of the real clock: at import, once for a process, or beside a literal hour."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from typing import Final

_READS: Final = {
    "clock": {"host", "monotonic", "now", "skew", "steady"},
    "date": {"today"},
    "datetime": {"now", "today", "utcnow"},
    "environment": {"now"},
    "time": {
        *("gmtime", "localtime", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"),
        *("process_time", "strftime", "time", "time_ns"),
    },
    "timezone": {"localdate", "localtime", "now"},
}
"""Module or class -> its functions that read the clock, for `dt.datetime.now` as for
`datetime.now`."""
_KEPT: Final = frozenset({"cache", "cached_property", "lru_cache"})
"""Decorators that keep the first answer."""
_DEFAULTS: Final = frozenset({"default", "default_factory"})
"""Arguments of a field that keep the function: another clock of a test would not reach it."""
_OUTLIVES: Final = frozenset({"class", "module", "package", "session"})
"""Scopes of fixtures whose value several tests share."""
_PARTS: Final = frozenset({"day", "hour", "isoweekday", "minute", "month", "weekday", "year"})

_MENTION: Final = re.compile(
    "|".join(rf"\b{owner}\.(?:{'|'.join(names)})\b" for owner, names in _READS.items())
    + rf"|^from \S*\b(?:{'|'.join(_READS)}) import ",
    re.MULTILINE,
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def mentions_clock(text: str) -> bool:
    """Return False if code cannot read the clock, without parsing the code."""
    return _MENTION.search(text) is not None


class Source:
    """A module's code and what it says of the clock."""

    def __init__(self, text: str) -> None:
        """Parse the code."""
        self._tree = ast.parse(text)
        self._imported = self._imports()
        self._functions = [each for each in ast.walk(self._tree) if isinstance(each, _Function)]
        self._readers = self._reading_functions()

    def at_import(self) -> Iterator[str]:
        """Yield the reads that run when the module is imported, and clocks in defaults of fields.

        These are reads in statements of a module or class, in decorators, and in defaults of
        arguments, also through a function of the module.
        """
        shown = {id(each): each for each in _evaluated(self._tree)}
        for function in ast.walk(self._tree):
            if isinstance(function, _Function | ast.Lambda):
                for part in _parts_of_definition(function):
                    shown |= {id(each): each for each in _evaluated(part)}
        for node in shown.values():
            if isinstance(node, ast.Call) and self._reads(node.func):
                yield _line(node)
        for node in ast.walk(self._tree):
            if (
                isinstance(node, ast.keyword)
                and node.arg in _DEFAULTS
                and self._is_clock(node.value)
            ):
                yield f"line {node.value.lineno}: {node.arg}={ast.unparse(node.value)}"

    def kept(self) -> Iterator[str]:
        """Yield the functions that read the clock once and keep it for later calls."""
        for function in self._functions:
            if function.name in self._readers and _keeps_an_answer(function):
                yield f"line {function.lineno}: {function.name}"

    def beside_literal_hours(self) -> Iterator[str]:
        """Yield the expressions that join the real day with a literal hour, or compare its parts.

        Such an instant lies before the real time in one half of the day and after it in the other.
        """
        for function in self._functions:
            known = self._real_times(function)
            for node in ast.walk(function):
                instant = _literal_hour(node)
                if instant is not None and self._is_real(instant, known):
                    yield f"line {instant.lineno}: {ast.unparse(node)}"

    def _imports(self) -> dict[str, str]:
        """Return name -> module of each `from MODULE import NAME` that imports a clock."""
        return {
            each.asname or each.name: str(node.module).rpartition(".")[2]
            for node in ast.walk(self._tree)
            if isinstance(node, ast.ImportFrom)
            for each in node.names
            if each.name in _READS.get(str(node.module).rpartition(".")[2], ())
        }

    def _reading_functions(self) -> set[str]:
        """Return the functions of the module that read the clock, also through each other."""
        calls = {
            each.name: [node.func for node in ast.walk(each) if isinstance(node, ast.Call)]
            for each in self._functions
        }
        found = {name for name, called in calls.items() if any(map(self._is_clock, called))}
        names = {
            name: {each.id for each in called if isinstance(each, ast.Name)}
            for name, called in calls.items()
        }
        while more := {name for name in names if name not in found and names[name] & found}:
            found |= more
        return found

    def _reads(self, called: ast.AST) -> bool:
        is_reader = isinstance(called, ast.Name) and called.id in self._readers
        return is_reader or self._is_clock(called)

    def _is_clock(self, called: ast.AST) -> bool:
        match called:
            case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
                return name in _READS.get(owner, ())
            case ast.Name(id=name):
                return name in self._imported
            case _:
                return False

    def _is_real(self, node: ast.expr, known: set[str]) -> bool:
        """Return whether an expression is the real time, rounded or at a distance from it."""
        match node:
            case ast.Name(id=name):
                return name in known
            case ast.BinOp(left=left):
                return self._is_real(left, known)
            case ast.Call(func=called) if self._reads(called):
                return True
            case ast.Call(func=ast.Attribute(value=owner), args=arguments):
                return any(self._is_real(each, known) for each in (owner, *arguments[:1]))
            case ast.Attribute(value=owner):
                return self._is_real(owner, known)
            case _:
                return False

    def _real_times(self, function: _Function) -> set[str]:
        """Return the variables of a function that are such a time."""
        known: set[str] = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and self._is_real(node.value, known):
                known |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        return known


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs with a statement or expression: no bodies of functions."""
    if not isinstance(node, _Function | ast.Lambda) and not _is_of_a_program(node):
        yield node
        for each in ast.iter_child_nodes(node):
            yield from _evaluated(each)


def _is_of_a_program(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _parts_of_definition(function: _Function | ast.Lambda) -> list[ast.expr]:
    defaults = [*function.args.defaults, *filter(None, function.args.kw_defaults)]
    return defaults if isinstance(function, ast.Lambda) else defaults + function.decorator_list


def _keeps_an_answer(function: _Function) -> bool:
    """Return whether a function runs once; a cache with an argument has an answer for each."""
    names = [each.arg for each in function.args.args if each.arg != "self"]
    for node in itertools.chain.from_iterable(map(ast.walk, function.decorator_list)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in _KEPT and not names:
                return True
            case ast.keyword(arg="scope", value=ast.Constant(value=scope)) if scope in _OUTLIVES:
                return True
            case _:
                pass
    return False


def _literal_hour(node: ast.AST) -> ast.expr | None:
    """Return the instant that an expression joins or compares with a literal; None: it does not."""
    match node:
        case ast.Call(func=ast.Attribute(value=instant, attr="replace"), keywords=fields):
            is_hour = any(each.arg == "hour" and not _is_zero(each.value) for each in fields)
            return instant if is_hour else None
        case ast.Call(func=ast.Attribute(attr="combine"), args=[day, time, *_]):
            return None if _is_midnight(time) else day
        case ast.BinOp(left=ast.Call(func=floor, args=[instant]), right=ast.Call(keywords=fields)):
            is_day = ast.unparse(floor).endswith("DAY.floor")
            return instant if is_day and any(each.arg == "hours" for each in fields) else None
        case ast.Compare(left=left, comparators=[ast.Constant()]):
            return _whole_of(left)
        case _:
            return None


def _whole_of(part: ast.expr) -> ast.expr | None:
    """Return the instant whose hour, day or weekday is read; None: something else is read."""
    part = part.func if isinstance(part, ast.Call) else part
    is_part = isinstance(part, ast.Attribute) and part.attr in _PARTS
    return part.value if is_part and isinstance(part, ast.Attribute) else None


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _is_midnight(time: ast.expr) -> bool:
    return isinstance(time, ast.Call) and all(map(_is_zero, time.args)) and not time.keywords


def _line(node: ast.expr) -> str:
    return f"line {node.lineno}: {ast.unparse(node)}"
