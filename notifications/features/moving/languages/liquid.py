"""Liquid, as Knock and Novu's dashboard use it: variables, filters, `if`, `unless` and `for`.

    {{ user.name | upcase }}                {{ user.name|upper }}
    {% if total > 5 %}a{% elsif x %}b{% endif %}
    {% for item in items %}{{ item }}{% endfor %}

Of values, nil and false alone are false in Liquid, so a condition on a value asks for both. Tags
and filters without an exact counterpart are refused: https://shopify.github.io/liquid
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from notifications.features.moving.languages import converted
from notifications.features.moving.languages.converted import NotConvertible

_TAG: Final = re.compile(r"\{\{(-?)([^{}]*?)(-?)\}\}|\{%(-?)([^{}]*?)(-?)%\}")
_COMMENT: Final = re.compile(
    r"\{%-?\s*comment\s*-?%\}.{0,5000}?\{%-?\s*endcomment\s*-?%\}", re.DOTALL
)
_LITERAL: Final = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"|-?\d+(?:\.\d+)?|true|false")
_COMPARISON: Final = re.compile(r"(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+)")
_FILTERS: Final[Mapping[str, str]] = MappingProxyType({
    "upcase": "upper",
    "downcase": "lower",
    "strip": "trim",
    "escape": "e",
    "size": "length",
    "first": "first",
    "last": "last",
})
_NOTHING: Final = frozenset({"nil", "null", "blank", "empty"})
"""Words of Liquid that are no names of variables."""
_LOOP: Final = re.compile(r"for\s+(\w+)\s+in\s+([\w.]+)")


def convert(source: str, *, roots: Mapping[str, str | None] = MappingProxyType({})) -> str:
    """Return the source with Jinja's tags.

    Args:
        source: the text.
        roots: first name of a variable -> name here; empty: the name is left out, as in
            `payload.total` -> `total`; None: the variable has no counterpart.

    Raises:
        NotConvertible: a tag or a filter has no exact counterpart.
    """
    return _LiquidConverter(_COMMENT.sub("", source), roots).convert()


class _LiquidConverter:
    """A conversion, with the open blocks."""

    def __init__(self, source: str, roots: Mapping[str, str | None]) -> None:
        self._source, self._roots = source, roots
        self._at = 0
        self._open: list[tuple[str, str]] = []
        """Kind of each open block, with the item of a loop."""

    def convert(self) -> str:
        text = converted.rewrite(self._source, _TAG, self._tag)
        if self._open:
            raise self._refuse(f"{{% {self._open[-1][0]} %}} is not closed")
        return text

    def _tag(self, found: re.Match[str]) -> str:
        self._at = found.start()
        if found[2] is not None:
            return f"{{{{{found[1]} {self._output(found[2].strip())} {found[3]}}}}}"
        return f"{{%{found[4]} {self._statement(found[5].strip())} {found[6]}%}}"

    def _refuse(self, why: str) -> NotConvertible:
        return NotConvertible(self._source, self._at, why)

    def _output(self, inner: str) -> str:
        value, *filters = (part.strip() for part in inner.split("|"))
        pieces = [self._operand(value)]
        for written in filters:
            name, _, argument = (part.strip() for part in written.partition(":"))
            if name in _FILTERS and not argument:
                pieces.append(_FILTERS[name])
            elif name == "join" and _LITERAL.fullmatch(argument):
                pieces.append(f"join({argument})")
            else:
                raise self._refuse(f"the filter {name or written} has no exact counterpart")
        return "|".join(pieces)

    def _statement(self, inner: str) -> str:
        word, _, rest = inner.partition(" ")
        match word:
            case "if" | "unless":
                self._open.append((word, ""))
                condition = self._condition(rest.strip())
                return f"if not ({condition})" if word == "unless" else f"if {condition}"
            case "elsif":
                self._check_open(word, "if", "unless")
                return f"elif {self._condition(rest.strip())}"
            case "else":
                self._check_open(word, "if", "unless", "for")
                return "else"
            case "for":
                return self._loop(inner)
            case "endif" | "endunless" | "endfor":
                self._check_open(word, word.removeprefix("end"))
                self._open.pop()
                return "endfor" if word == "endfor" else "endif"
            case _:
                raise self._refuse(f"{{% {word} %}} has no exact counterpart")

    def _check_open(self, word: str, *kinds: str) -> None:
        if not self._open or self._open[-1][0] not in kinds:
            raise self._refuse(f"{{% {word} %}} belongs to no open block")

    def _loop(self, inner: str) -> str:
        found = _LOOP.fullmatch(inner)
        if found is None or converted.path(found[1]) is None:
            raise self._refuse(f"{{% {inner} %}}: only `for name in list` is converted")
        of = self._operand(found[2])
        self._open.append(("for", found[1]))
        return f"for {found[1]} in {of}"

    def _condition(self, text: str) -> str:
        connectives = set(re.findall(r"\s(and|or)\s", text))
        if len(connectives) > 1:
            raise self._refuse("and beside or in one condition")
        if not connectives:
            return self._test(text)
        [word] = connectives
        tests = re.split(rf"\s{word}\s", text)
        return f" {word} ".join(self._test(each.strip()) for each in tests)

    def _test(self, text: str) -> str:
        if found := _COMPARISON.fullmatch(text):
            left, operator, right = self._operand(found[1]), found[2], self._operand(found[3])
            defined = self._defined_test(left, right)
            if operator == "!=" and defined:
                return f"(not ({defined}) or {left} != {right})"
            return (
                f"({defined} and {left} {operator} {right})"
                if defined
                else (f"({left} {operator} {right})")
            )
        if " contains " in text:
            left, _, right = (part.strip() for part in text.partition(" contains "))
            first, second = self._operand(left), self._operand(right)
            defined = self._defined_test(first, second)
            return f"({defined} and {second} in {first})"
        value = self._operand(text)
        if _LITERAL.fullmatch(value):
            raise self._refuse(f"{text} is a condition without a variable")
        defined = self._defined_test(value)
        tests = f"{value} is not none and ({value} or {value} is not boolean)"
        return f"({defined} and {tests})" if defined else f"({tests})"

    def _defined_test(self, *operands: str) -> str:
        known = {item for _, item in self._open if item} | {"loop"}
        variables = [each for each in operands if not _LITERAL.fullmatch(each)]
        tests = (converted.is_defined(each, known=known) for each in variables)
        return " and ".join(filter(None, tests))

    def _operand(self, text: str) -> str:
        text = text.strip()
        if _LITERAL.fullmatch(text):
            return text
        items = {item for _, item in self._open if item}
        if text in {"forloop.index", "forloop.first", "forloop.last", "forloop.length"} and items:
            return text.replace("forloop", "loop")
        found = converted.path(text)
        if found is None:
            raise self._refuse(f"{text} is no variable and no plain value")
        root, _, rest = found.partition(".")
        if root in _NOTHING:
            raise self._refuse(f"{root} has no exact counterpart")
        if root in items or root not in self._roots:
            return found
        name = self._roots[root]
        if name is None or not (name or rest):
            raise self._refuse(f"{text} has no counterpart here")
        return ".".join(filter(None, (name, rest)))
