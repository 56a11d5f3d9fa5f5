"""Buttons of admin pages, and the rights that open them.

`action` is unfold's decorator with correct type annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from django.http import HttpRequest
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


def requires(right: str) -> Callable[..., bool]:
    """Return a method `has_x_permission` that is True for an operator with a right.

    Args:
        right: name of Django's permission, such as `notifications.change_alert`.
    """

    def has_permission(_admin: object, request: HttpRequest, _object_id: object = None) -> bool:
        return bool(request.user.has_perm(right))

    return has_permission


def _never(_admin: object, _request: HttpRequest, _object_id: object = None) -> bool:
    return False


never: Callable[..., bool] = _never
"""A method `has_x_permission` for what no operator may do."""
