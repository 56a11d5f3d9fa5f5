"""Client of the notification service.

    from notify_client import Client

    client = Client("http://127.0.0.1:8000", key)
    client.send(to={"email": "me@example.com"}, type="HELLO", content={"body": "Hello"})

`AsyncClient` has the same methods as coroutines. `webhooks.verify` checks what the service sends;
`recipient_tokens.mint` signs a token for the app or browser of a recipient.
"""

from __future__ import annotations

from notify_client import recipient_tokens, types, webhooks
from notify_client._answer import Tagged
from notify_client._async.client import AsyncClient
from notify_client._async.engine import AsyncPages, Page
from notify_client._sync.client import Client
from notify_client._sync.engine import Pages
from notify_client._version import __version__
from notify_client.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    IdempotencyKeyReused,
    Invalid,
    NoAnswer,
    NotFound,
    NotifyError,
    PreconditionFailed,
    RateLimited,
    ServiceError,
    Unauthenticated,
    UnexpectedAnswer,
    UnknownRecipient,
)
from notify_client.webhooks import InvalidSignature

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncPages",
    "BadRequest",
    "Client",
    "Conflict",
    "Forbidden",
    "IdempotencyKeyReused",
    "Invalid",
    "InvalidSignature",
    "NoAnswer",
    "NotFound",
    "NotifyError",
    "Page",
    "Pages",
    "PreconditionFailed",
    "RateLimited",
    "ServiceError",
    "Tagged",
    "Unauthenticated",
    "UnexpectedAnswer",
    "UnknownRecipient",
    "__version__",
    "recipient_tokens",
    "types",
    "webhooks",
]
