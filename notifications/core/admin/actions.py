"""Unfold's `action` decorator with correct type annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from unfold.decorators import action as unfold_action

Method = TypeVar("Method", bound=Callable[..., Any])


def action(
    description: str, *, permissions: Sequence[str], url_path: str = "", icon: str = ""
) -> Callable[[Method], Method]:
    """Return a decorator for an action of a list, or with `url_path` a button of an object's page.

    Args:
        description: label of the button.
        permissions: names `x`; the admin needs a method `has_x_permission` for every name.
        url_path: last part of the button's URL.
        icon: name of a Material symbol.
    """
    decorator: object = unfold_action(
        description=description,
        permissions=permissions,
        url_path=url_path or None,
        icon=icon or None,
    )
    return cast("Callable[[Method], Method]", decorator)
