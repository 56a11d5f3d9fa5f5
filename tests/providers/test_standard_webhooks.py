"""Signatures, held to the specification's own example."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from providers.errors import InvalidSignature
from providers.standard_webhooks import Secret, sign, verify

SECRET = Secret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
NEXT = Secret.parse("whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0")
BODY = b'{"test": 2432232314}'
AT = datetime.fromtimestamp(1614265330, UTC)
ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"


def test_the_published_example_is_reproduced() -> None:
    headers = sign(BODY, message_id=ID, at=AT, secrets=[SECRET])
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_time_zone_of_the_instant_does_not_matter() -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=5)))
    assert sign(BODY, message_id=ID, at=elsewhere, secrets=[SECRET]) == sign(
        BODY, message_id=ID, at=AT, secrets=[SECRET]
    )


@pytest.mark.parametrize("held", [SECRET, NEXT])
def test_while_a_secret_is_replaced_both_verify(held: Secret) -> None:
    headers = sign(BODY, message_id=ID, at=AT, secrets=[SECRET, NEXT])
    verify(BODY, headers=headers, secrets=[held], now=AT)


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-id": "msg_other"},
        {"webhook-timestamp": "1614265331"},
        {"webhook-timestamp": "²"},
        {"webhook-timestamp": "9" * 310},
        {"webhook-timestamp": "9" * 5_000},
        {"webhook-timestamp": "9" * 12},
        {"webhook-timestamp": ""},
        {"webhook-signature": ""},
        {"webhook-signature": "v1,AAAA é"},
    ],
)
def test_a_changed_header_is_noticed(change: dict[str, str]) -> None:
    headers = sign(BODY, message_id=ID, at=AT, secrets=[SECRET]) | change
    with pytest.raises(InvalidSignature):
        verify(BODY, headers=headers, secrets=[SECRET], now=AT)


def test_a_changed_body_or_secret_is_noticed() -> None:
    headers = sign(BODY, message_id=ID, at=AT, secrets=[SECRET])
    with pytest.raises(InvalidSignature):
        verify(BODY + b" ", headers=headers, secrets=[SECRET], now=AT)
    with pytest.raises(InvalidSignature):
        verify(BODY, headers=headers, secrets=[NEXT], now=AT)


@pytest.mark.parametrize("off", [timedelta(minutes=5, seconds=1), -timedelta(minutes=5, seconds=1)])
def test_an_old_or_future_request_is_refused(off: timedelta) -> None:
    headers = sign(BODY, message_id=ID, at=AT, secrets=[SECRET])
    with pytest.raises(InvalidSignature):
        verify(BODY, headers=headers, secrets=[SECRET], now=AT + off)


@pytest.mark.parametrize(
    "text", ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!", "whsec_c2hvcnQ="]
)
def test_a_malformed_secret_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"secret|base64") as refused:
        Secret.parse(text)
    assert not text or text not in str(refused.value)
    assert "c2VjcmV0" not in repr(NEXT)
