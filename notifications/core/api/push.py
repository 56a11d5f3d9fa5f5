"""`/v1/push/web/key`: the key with which browsers subscribe to web push."""

from __future__ import annotations

from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.schemas import ResponseModel
from notifications.core.delivery import push_addresses
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.scopes import Scope


class WebPushKey(ResponseModel):
    """The service's key for web push."""

    public_key: str | None
    """The VAPID public key (RFC 8292) in base64url, for `applicationServerKey`; null: the service
    has no web push."""


@operation(
    "GET v1/push/web/key",
    "Read the public key of web push",
    Access(Scope.RECIPIENTS_READ, token_scope=TokenScope.CONTACTS_WRITE),
    answers={200: WebPushKey},
    tag="Push",
    examples={
        "minimal": Example("The key of this service"),
        "usual": Example("The key with a test key", mode=Mode.TEST),
    },
)
def get_web_push_key(_call: Call) -> WebPushKey:
    """Return the key with which a browser subscribes to web push.

    The key changes when the service gets another VAPID key. A browser then subscribes again,
    because a push service refuses messages that another key signed.
    """
    return WebPushKey(public_key=push_addresses.web_push_key())
