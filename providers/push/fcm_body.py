"""The body of FCM's HTTP v1: byte for byte the same as firebase-admin's.

The module does not use firebase-admin, because firebase-admin's encoder takes 70 us for a message,
`encode` takes 15 us, and the import of firebase-admin costs 26 MiB; a test compares both encoders.

Limits: https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Final

from providers.contract import Message
from providers.push import replacing
from providers.rounds import HALF_A_CHARACTER, Unsendable, check_size

PAYLOAD_LIMIT_BYTES: Final = 4096
"""Keys and values of `notification` and `data` together."""

LONGEST_LIFE: Final = timedelta(weeks=4)
"""FCM refuses a longer `ttl`."""

RESERVED_KEYS: Final = ("from", "message_type")
RESERVED_PREFIXES: Final = ("gcm", "google")

_ENCODE: Final = json.JSONEncoder(allow_nan=False).encode
"""The separators and escapes of `requests`, which firebase-admin sends with."""


def encode(message: Message, *, now: datetime) -> bytes:
    """Encode a message.

    Raises:
        Unsendable: FCM would refuse the message, or the message is too large.
    """
    seconds = max(0, int(min(message.time_to_live, LONGEST_LIFE).total_seconds()))
    if message.is_withdrawal:
        return _withdrawal(message, now=now, seconds=seconds)
    tag, collapse_id = replacing.tag(message), replacing.collapse_id(message)
    android: dict[str, object] = {
        "collapse_key": message.collapse_key,
        "notification": {"tag": tag},
        "priority": "high" if message.urgent else "normal",
        "ttl": f"{seconds}s",
    }
    if not message.collapse_key:
        del android["collapse_key"]  # FCM keeps four keys per device: none is spent on repeats
    apns = {
        "apns-collapse-id": collapse_id,
        "apns-expiration": str(int(now.timestamp()) + seconds),
        "apns-priority": "10" if message.urgent else "5",
    }
    web = {
        "TTL": str(seconds),
        "Topic": replacing.topic(message),
        "Urgency": "high" if message.urgent else "normal",
    }
    notification = _notification(message)
    data = _data(message)
    _check_size(notification, data)
    target = "fid" if message.address_kind == "fcm_fid" else "token"
    whole: dict[str, object] = {"android": android, "apns": _to_apple(apns), "data": data}
    if notification:
        whole["notification"] = notification
    whole[target] = message.address
    whole["webpush"] = {"headers": web, "notification": {"tag": tag}}
    return _ENCODE({"message": whole}).encode()


def _withdrawal(message: Message, *, now: datetime, seconds: int) -> bytes:
    """Encode a data message: without `notification`, FCM passes the message to the app's code.

    Priority `normal`: FCM lowers the priority of an app after high-priority messages without a
    notification.
    """
    android: dict[str, object] = {"priority": "normal", "ttl": f"{seconds}s"}
    if message.collapse_key:
        android["collapse_key"] = message.collapse_key
    apns = {
        "apns-expiration": str(int(now.timestamp()) + seconds),
        "apns-priority": "5",
        "apns-push-type": "background",
    }
    web = {"TTL": str(seconds), "Topic": replacing.topic(message), "Urgency": "normal"}
    whole: dict[str, object] = {
        "android": android,
        "apns": {"headers": apns, "payload": {"aps": {"content-available": 1}}},
        "data": {replacing.WITHDRAW_KEY: replacing.tag(message), **_ids(message)},
        "webpush": {"headers": web},
        "fid" if message.address_kind == "fcm_fid" else "token": message.address,
    }
    return _ENCODE({"message": whole}).encode()


def _to_apple(headers: dict[str, str]) -> dict[str, object]:
    """Add the flag that lets the app's Notification Service Extension report the arrival."""
    return {"headers": headers, "payload": {"aps": {"mutable-content": 1}}}


def _notification(message: Message) -> dict[str, str]:
    """Return the fields shown by the device; empty for a data message."""
    texts = {"body": message.body, "title": message.title}
    return {name: text for name, text in texts.items() if text}


def _data(message: Message) -> dict[str, str]:
    for key in message.data:
        if key in RESERVED_KEYS or key.startswith(RESERVED_PREFIXES):
            raise Unsendable("reserved_data_key", f"FCM keeps the data key {key!r} to itself")
    return {**message.data, **_ids(message)}


def _ids(message: Message) -> dict[str, str]:
    return {
        "notification_id": str(message.notification_id),
        "delivery_id": str(message.delivery_id),
    }


def _check_size(*parts: dict[str, str]) -> None:
    try:
        size = sum(len(text.encode()) for part in parts for pair in part.items() for text in pair)
    except UnicodeEncodeError:
        raise Unsendable("malformed_text", HALF_A_CHARACTER) from None
    check_size(size, limit_bytes=PAYLOAD_LIMIT_BYTES)
