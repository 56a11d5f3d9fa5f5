"""Settings of the inbox."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from notifications.core.rules import in_app


def _schemes(value: str) -> frozenset[str]:
    """Read `myapp,myapp-beta`.

    Raises:
        ValueError: a name is no scheme, or a scheme that a browser would run or that is not
            encrypted.
    """
    found = frozenset(name.strip().removesuffix(":").lower() for name in value.split(","))
    for name in sorted(found):
        if not in_app.SCHEME.fullmatch(name):
            raise ValueError(f"{name!r} is not a URL scheme")
        if name in in_app.FORBIDDEN_SCHEMES:
            raise ValueError(f"{name!r} is never allowed in an inbox")
    return found - {"https"}


class InboxEnvironment(BaseModel):
    """Each description completes the sentence "Give ..."."""

    inbox_removes_read_pushes: bool = Field(
        alias="NOTIFY_INBOX_REMOVES_READ_PUSHES",
        default=True,
        description="yes or no: whether a message that is read in the inbox is removed from the"
        " devices that show its push, by a silent push",
    )
    inbox_url_schemes: Annotated[frozenset[str], BeforeValidator(_schemes)] = Field(
        alias="NOTIFY_INBOX_URL_SCHEMES",
        default=frozenset(),
        description="a comma list of the URL schemes of your apps, such as myapp, which links of"
        " in-app messages may have; https and paths are always allowed",
    )
