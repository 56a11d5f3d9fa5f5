"""unfold's `action`, typed as the decorator that it is (its own annotation names its inside)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from unfold.decorators import action as unfold_action

Method = TypeVar("Method", bound=Callable[..., Any])


def action(
    description: str, *, permissions: Sequence[str], url_path: str = "", icon: str = ""
) -> Callable[[Method], Method]:
    """Make a method an action of a list, or with `url_path` a button of an object's page.

    Args:
        description: what its button says.
        permissions: each `x` asks the admin's `has_x_permission`.
        url_path: the end of the button's address.
        icon: a Material symbol.
    """
    decorator: object = unfold_action(
        description=description,
        permissions=permissions,
        url_path=url_path or None,
        icon=icon or None,
    )
    return cast("Callable[[Method], Method]", decorator)
