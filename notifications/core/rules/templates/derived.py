"""Declarations derived from the texts of a version, for an author to confirm.

The type is the type that the text's use asks for: `total|money` is money, `item in items` a list,
`user.name` an object, everything else a string. The example is made from the name, except for the
address of a link or an image; `item.price` in a loop over `items` gives a list of objects with a
price.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from jinja2 import nodes

from notifications.core.rules.language import addresses, syntax, templating
from notifications.core.rules.language.syntax import BrokenTemplate
from notifications.core.rules.language.variables import SERVICE_NAMES, Type
from notifications.core.rules.texts import wording
from notifications.core.rules.texts.wording import TextSource

_BY_FILTER: Final[Mapping[str, Type]] = {
    "money": Type.MONEY,
    "date": Type.DATE,
    "datetime": Type.DATETIME,
    "time": Type.DATETIME,
    "number": Type.NUMBER,
    "percent": Type.NUMBER,
    "plural": Type.INTEGER,
    "abs": Type.NUMBER,
    "round": Type.NUMBER,
    "listed": Type.LIST,
    "join": Type.LIST,
}
_ADDRESS: Final = "https://example.com"
"""Example of a variable that begins the address of a link or an image."""
_EXAMPLES: Final[Mapping[Type, Any]] = {
    Type.MONEY: {"amount": "9.90", "currency": "EUR"},
    Type.DATE: "2026-05-01",
    Type.DATETIME: "2026-05-01T10:00:00+00:00",
    Type.NUMBER: 5,
    Type.INTEGER: 5,
    Type.LIST: ["One", "Two"],
}


def declarations(texts: Sequence[TextSource]) -> list[dict[str, Any]]:
    """Return a declaration for each variable of the texts, sorted by name.

    Raises:
        BrokenTemplate: a text is broken.
    """
    mentioned = frozenset[str]().union(*map(wording.mentions, texts))
    required = frozenset[str]().union(*map(wording.required_variables, texts))
    types: dict[str, Type] = {}
    fields: dict[str, Any] = {}
    for text in texts:
        for part in text.parts:
            _read(part, types, fields)
    in_addresses = frozenset[str]().union(
        *(_names_in_addresses(part) for text in texts for part in text.parts)
    )
    return [
        {
            "name": name,
            "type": str(types.get(name, Type.STRING)),
            "required": name in required,
            "example": fields.get(name)
            or _EXAMPLES.get(types.get(name, Type.STRING))
            or (_ADDRESS if name in in_addresses else _words(name)),
        }
        for name in sorted(mentioned)
    ]


def lonely(texts: Sequence[TextSource]) -> dict[str, list[str]]:
    """Return variables that only one language of a channel needs: label of the text -> names.

    A misspelt name in one language looks like such a variable. Without declarations every request
    would have to send the misspelt name.
    """
    found: dict[str, list[str]] = {}
    needs = {text: _needs(text) for text in texts}
    for text, own in needs.items():
        others = [
            names
            for other, names in needs.items()
            if other.channel is text.channel
            and other.variant == text.variant
            and other.locale != text.locale
        ]
        names = sorted(own - frozenset[str]().union(*others)) if others else []
        if names:
            found[text.label] = names
    return found


def _needs(text: TextSource) -> frozenset[str]:
    try:
        return wording.required_variables(text)
    except BrokenTemplate:
        return frozenset()


def _read(source: str, types: dict[str, Type], fields: dict[str, Any]) -> None:
    tree = syntax.parse(source, parser=templating.environment(autoescape=False))
    for use in tree.find_all(nodes.Filter):
        if isinstance(use.node, nodes.Name) and use.name in _BY_FILTER:
            types[use.node.name] = _BY_FILTER[use.name]
    for name, field, example in _fields(tree):
        types[name] = Type.OBJECT
        fields.setdefault(name, {})[field] = example
    for loop in tree.find_all(nodes.For):
        if isinstance(loop.iter, nodes.Name) and isinstance(loop.target, nodes.Name):
            types[loop.iter.name] = Type.LIST
            if item := fields.pop(loop.target.name, None):
                fields[loop.iter.name] = [item, item]


def _names_in_addresses(source: str) -> frozenset[str]:
    tree = syntax.parse(source, parser=templating.environment(autoescape=False))
    return frozenset(
        use.node.name
        for use in tree.find_all(nodes.Filter)
        if use.name in addresses.FILTERS and isinstance(use.node, nodes.Name)
    )


def _fields(tree: nodes.Template) -> Iterable[tuple[str, str, Any]]:
    """Yield the fields of objects: name of the object, field and example."""
    examples = {name: _EXAMPLES[kind] for name, kind in _BY_FILTER.items()}
    examples |= dict.fromkeys(addresses.FILTERS, _ADDRESS)
    formatted = {
        use.node: examples[use.name]
        for use in tree.find_all(nodes.Filter)
        if use.name in examples and isinstance(use.node, nodes.Getattr)
    }
    for use in tree.find_all(nodes.Getattr):
        if isinstance(use.node, nodes.Name) and use.node.name not in SERVICE_NAMES:
            yield use.node.name, use.attr, formatted.get(use, _words(use.attr))


def _words(name: str) -> str:
    return name.replace("_", " ").title()
