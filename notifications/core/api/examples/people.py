"""Examples for recipients, their attributes, and the suppression list."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import TAG, USER, Example, Examples
from notifications.core.rules.lane import Mode

_USER: Final = {"user_id": USER}
_MAIL: Final = {"channel": "email", "address": "maria@sandbox.example"}

RECIPIENTS: Final[Examples] = {
    "add_contact": {
        "minimal": Example(summary="A mailbox", status=201, path=_USER, body=_MAIL),
        "usual": Example(
            summary="A phone for SMS that is used first, with an idempotency key",
            status=201,
            path=_USER,
            headers={"Idempotency-Key": "contact-u_789012-2"},
            body={"channel": "sms", "address": "+5511987654321", "primary": True},
        ),
    },
    "remove_contact": {
        "minimal": Example(
            summary="The first contact", status=204, path={**_USER, "contact_id": 51}
        ),
        "another": Example(
            summary="The second contact", status=204, path={**_USER, "contact_id": 52}
        ),
    },
    "get_web_push_key": {
        "minimal": Example(summary="The key of this service", status=200),
        "usual": Example(summary="The key with a test key", status=200, mode=Mode.TEST),
    },
    "get_preferences": {
        "minimal": Example(summary="Read the preferences", status=200, path=_USER),
        "usual": Example(
            summary="Only if the preferences have changed",
            status=304,
            path=_USER,
            headers={"If-None-Match": TAG},
        ),
    },
    "put_preferences": {
        "minimal": Example(summary="Reset to the defaults", status=200, path=_USER, body={}),
        "usual": Example(
            summary="Quiet nights, no marketing, at most three SMS a day",
            status=200,
            path=_USER,
            headers={"If-Match": TAG},
            body={
                "channel_order": ["push", "sms", "email"],
                "categories_off": ["marketing"],
                "quiet_hours": [{"start": "22:00", "end": "07:00"}],
                "caps": {"sms": "3/day"},
            },
        ),
    },
    "change_preferences": {
        "minimal": Example(
            summary="No SMS", status=200, path=_USER, body={"channels_off": ["sms"]}
        ),
        "usual": Example(
            summary="Do not disturb until an instant",
            status=200,
            path=_USER,
            headers={"If-Match": TAG},
            body={"do_not_disturb_until": "2100-01-01T07:00:00Z"},
        ),
    },
}
