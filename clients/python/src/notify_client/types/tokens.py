"""Tokens: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from notify_client.types.shared import (
    TokenScope,
)


class ClientTokenIssued(TypedDict):
    """A token for the app of one recipient."""

    token: str
    """For `Authorization: Bearer` in the recipient's app or browser.

    A JWT; ends by time, by revocation of the recipient's tokens, and with the API key.
    """

    scopes: list[TokenScope]
    expires_at: str


class ClientTokenRequest(TypedDict):
    """Options of a recipient token."""

    expires_in_seconds: NotRequired[int]
    """Default: `3600`."""

    scopes: NotRequired[Sequence[TokenScope]]
    """Rights of the token.

    The key needs the same right for all recipients: `preferences:read` needs the key's scope
    `recipients:read`, and `receipts:write` needs no further scope.
    """
