"""Push: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from typing import TypedDict


class WebPushKey(TypedDict):
    """The service's key for web push."""

    public_key: str | None
    """The VAPID public key (RFC 8292) in base64url, for `applicationServerKey`; null: the
    service has no web push.
    """
