"""Uses of the variable `brand` in a source that no brand can fill in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jinja2 import meta, nodes

from notifications.core.rules import brand
from notifications.core.rules.language import syntax, templating
from notifications.core.rules.language.variables import BRAND

PARTS: Final = tuple(brand.DEFAULT.variables)


def faults(source: str) -> Iterator[str]:
    """Yield a clause for each wrong use: `brand` without a part, or with an unknown part.

    Raises:
        BrokenTemplate: the source does not pass `templating.check`.
    """
    tree = syntax.parse(source, parser=templating.environment(autoescape=False))
    if BRAND not in meta.find_undeclared_variables(tree) or _is_loop_variable(tree):
        return
    parts = {id(each.node): each.attr for each in tree.find_all(nodes.Getattr)}
    for item in tree.find_all(nodes.Getitem):
        if isinstance(item.arg, nodes.Const):
            parts[id(item.node)] = str(item.arg.value)
    for name in tree.find_all(nodes.Name):
        if name.name == BRAND and parts.get(id(name)) not in PARTS:
            part = parts.get(id(name))
            used = f"{BRAND}.{part}" if part else f"{BRAND} alone"
            yield f"{used} is no part of the brand; use one of {', '.join(PARTS)}"


def _is_loop_variable(tree: nodes.Template) -> bool:
    targets = (loop.target for loop in tree.find_all(nodes.For))
    return any(
        name.name == BRAND
        for target in targets
        for name in (target, *target.find_all(nodes.Name))
        if isinstance(name, nodes.Name)
    )
