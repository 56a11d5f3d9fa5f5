"""`/v1/push/web/key`: the key with which browsers subscribe to web push."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api.recipient_access import RecipientView
from notifications.core.api.schemas import ResponseModel
from notifications.core.delivery import push_addresses


class WebPushKey(ResponseModel):
    """The service's key for web push."""

    public_key: str | None
    """The VAPID public key (RFC 8292) in base64url, for `applicationServerKey`; null: the service
    has no web push."""


class WebPushKeyView(RecipientView):
    """`/v1/push/web/key`: read the key."""

    @extend_schema(
        operation_id="get_web_push_key",
        summary="Read the public key of web push",
        responses={200: WebPushKey},
        tags=["Push"],
    )
    def get(self, request: Request) -> Response:
        """Return the key with which a browser subscribes to web push.

        The key changes when the service gets another VAPID key. A browser then subscribes again,
        because a push service refuses messages that another key signed.
        """
        del request
        return Response(WebPushKey(public_key=push_addresses.web_push_key()).to_json())
