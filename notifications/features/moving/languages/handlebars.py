"""Handlebars, as Novu's first workflows use it: variables, `if`, `unless` and `each`.

    {{ order.total }}                      {{ order.total }}
    {{#if name}}Hi{{else}}Hello{{/if}}     {% if name is defined and name %}Hi{% else %}...
    {{#each items}}{{this.name}}{{/each}}  {% for item in items %}{{ item.name }}{% endfor %}

Other helpers, partials and raw HTML (`{{{name}}}`) are refused: https://handlebarsjs.com/guide
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from notifications.features.moving.languages import converted
from notifications.features.moving.languages.converted import NotConvertible

_TAG: Final = re.compile(r"\{\{\{[^{}]*\}\}\}|\{\{!--.{0,5000}?--\}\}|\{\{([^{}]*)\}\}", re.DOTALL)
_ITEMS: Final = ("item", "inner")
"""Names of the items of a loop and of a loop within it."""
_FACTS: Final = {"@index": "loop.index0", "@first": "loop.first", "@last": "loop.last"}


@dataclass(frozen=True, slots=True)
class _Block:
    helper: str
    item: str = ""
    """Name of the item of a loop."""


def convert(source: str, *, refused: frozenset[str] = frozenset()) -> str:
    """Return the source with Jinja's tags.

    Args:
        source: the text.
        refused: first names of variables without a counterpart.

    Raises:
        NotConvertible: a tag or a variable has no exact counterpart.
    """
    return _HandlebarsConverter(source, refused).convert()


class _HandlebarsConverter:
    """A conversion, with the open blocks."""

    def __init__(self, source: str, refused: frozenset[str]) -> None:
        self._source, self._refused = source, refused
        self._at = 0
        self._open: list[_Block] = []

    def convert(self) -> str:
        text = converted.rewrite(self._source, _TAG, self._rewrite)
        if self._open:
            raise self._refuse(f"{{{{#{self._open[-1].helper}}}}} is not closed")
        return text

    def _rewrite(self, found: re.Match[str]) -> str:
        self._at = found.start()
        return self._tag(found[0], (found[1] or "").strip())

    def _refuse(self, why: str) -> NotConvertible:
        return NotConvertible(self._source, self._at, why)

    def _tag(self, whole: str, inner: str) -> str:
        if whole.startswith(("{{!", "{{ !")):
            return ""
        if whole.startswith("{{{"):
            raise self._refuse(f"{whole}: raw HTML of a variable is not possible here")
        if inner.startswith("#"):
            return self._begin(inner[1:].split())
        if inner.startswith("/"):
            return self._end(inner[1:].strip())
        if inner == "else":
            if not self._open:
                raise self._refuse("{{else}} stands outside of a block")
            return "{% else %}"
        return f"{{{{ {self._value(inner)} }}}}"

    def _begin(self, words: list[str]) -> str:
        if len(words) != 2 or words[0] not in {"if", "unless", "each"}:  # noqa: PLR2004 - helper and variable
            raise self._refuse(
                f"{{{{#{' '.join(words)}}}}}: only if, unless and each are converted"
            )
        helper, value = words[0], self._value(words[1])
        if helper == "each":
            depth = sum(bool(each.item) for each in self._open)
            if depth >= len(_ITEMS):
                raise self._refuse("a loop within two loops")
            self._open.append(_Block(helper, _ITEMS[depth]))
            return f"{{% for {_ITEMS[depth]} in {value} %}}"
        self._open.append(_Block(helper))
        defined = converted.is_defined(value, known=(*_ITEMS, *_FACTS.values(), "loop"))
        condition = f"{defined} and {value}" if defined else value
        return f"{{% if not ({condition}) %}}" if helper == "unless" else f"{{% if {condition} %}}"

    def _end(self, helper: str) -> str:
        if not self._open or self._open[-1].helper != helper:
            raise self._refuse(f"{{{{/{helper}}}}} closes no open block")
        return "{% endfor %}" if self._open.pop().item else "{% endif %}"

    def _value(self, written: str) -> str:
        """Return a variable; within a loop a name belongs to the item, as Handlebars reads it."""
        items = [each.item for each in self._open if each.item]
        if written in _FACTS and items:
            return _FACTS[written]
        name = written
        while name.startswith("../") and items:
            name = name.removeprefix("../")
            items.pop()
        if items and name in {"this", "."}:
            return items[-1]
        name = name.removeprefix("this.").removeprefix("./")
        if (found := converted.path(name)) is None:
            raise self._refuse(f"{{{{{written}}}}} is no variable")
        if found.partition(".")[0] in self._refused and not items:
            raise self._refuse(f"{{{{{written}}}}} has no counterpart here")
        return f"{items[-1]}.{found}" if items else found
