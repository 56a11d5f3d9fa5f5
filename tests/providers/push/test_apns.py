"""Requests that Apple gets, and the outcomes of its answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jwt
import orjson
import pytest

from providers import configuration, verdicts
from providers.contract import (
    Accepted,
    Misconfigured,
    Rejected,
    Throttled,
    Unavailable,
)
from providers.push import apns
from providers.push.apns import (
    PAUSE,
    PAYLOAD_LIMIT_BYTES,
    RENEW_AFTER,
    RENEW_SOONEST,
    STALE,
    TABLE,
    Apns,
    Config,
)
from providers.sandbox_server.wire import ServerAnswer
from providers.transport import Transport
from tests.providers.messages import NOON, MovedClock, message
from tests.providers.push.credentials import p256, p256_pem, rsa_pem
from tests.providers.push.vendors import ApnsFake, apns_error
from tests.providers.trying import PATIENCE, complaint, outcomes

SECOND = timedelta(seconds=1)


@pytest.fixture
def server(certificate: Path) -> Iterator[ApnsFake]:
    with closing(ApnsFake(certificate=certificate)) as it:
        yield it


def adapter(server: ApnsFake, transport: Transport, now: MovedClock, codes: str = "") -> Apns:
    config = Config(
        key=p256(),
        key_id="ABC123DEFG",
        team_id="DEF123GHIJ",
        topic="com.shop.app",
        url=server.url,
        codes=verdicts.overrides(codes) if codes else {},
    )
    return Apns(config, transport=transport, now=now)


@pytest.fixture
def provider(server: ApnsFake, transport: Transport, now: MovedClock) -> Apns:
    return adapter(server, transport, now)


def test_a_push_is_what_apple_documents(server: ApnsFake, provider: Apns) -> None:
    it = replace(message("00ff/../x"), urgent=True, data={"type": "ORDER_READY"})
    assert outcomes(provider, it) == [Accepted(message_id=str(it.delivery_id))]
    (request,) = server.requests
    assert request.target == "/3/device/00ff%2F..%2Fx"
    expected = {
        "apns-topic": "com.shop.app",
        "apns-push-type": "alert",
        "apns-priority": "10",
        "apns-expiration": str(int(NOON.timestamp()) + 24 * 3600),
        "apns-collapse-id": str(it.notification_id),
        "apns-id": str(it.delivery_id),
    }
    assert {name: request.headers[name] for name in expected} == expected
    assert orjson.loads(request.body) == {
        "aps": {
            "alert": {"title": "Order ready", "body": "Your order is ready."},
            "mutable-content": 1,
        },
        "type": "ORDER_READY",
        "notification_id": str(it.notification_id),
        "delivery_id": str(it.delivery_id),
    }


def test_the_token_is_signed_with_our_key_for_our_team(server: ApnsFake, provider: Apns) -> None:
    outcomes(provider, message("t"))
    scheme, _, token = server.requests[0].headers["authorization"].partition(" ")
    assert scheme == "bearer"
    claims = jwt.decode(
        token, p256().public_key(), algorithms=["ES256"], options={"verify_iat": False}
    )
    assert claims == {"iss": "DEF123GHIJ", "iat": int(NOON.timestamp())}
    assert jwt.get_unverified_header(token)["kid"] == "ABC123DEFG"


@pytest.mark.parametrize("code", TABLE)
def test_each_reason_has_its_outcome(server: ApnsFake, provider: Apns, code: str) -> None:
    server.script = [apns_error(418, code)]
    (outcome,) = outcomes(provider, message("t"))
    assert not isinstance(outcome, Accepted)
    expected = verdicts.outcome(TABLE[code], code=code, detail="", retry_after=PAUSE)
    assert outcome == expected


@pytest.mark.parametrize("code", TABLE)
def test_an_operator_may_change_what_a_reason_means(
    server: ApnsFake, transport: Transport, now: MovedClock, code: str
) -> None:
    server.script = [apns_error(418, code)]
    changed = adapter(server, transport, now, f"{code}=unanswered")
    (outcome,) = outcomes(changed, message("t"))
    assert outcome == verdicts.outcome(verdicts.Verdict.UNANSWERED, code=code, detail="")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (apns_error(400, "SomethingNew"), Rejected),
        (apns_error(403, "SomethingNew"), Misconfigured),
        (apns_error(429, "SomethingNew"), Throttled),
        (apns_error(500, "SomethingNew"), Unavailable),
        (ServerAnswer(status=502, body=b"<html>"), Unavailable),
        (ServerAnswer(status=400, body=b"[1]"), Rejected),
    ],
)
def test_an_unknown_reason_is_judged_by_its_status(
    server: ApnsFake, provider: Apns, answer: ServerAnswer, expected: type
) -> None:
    server.script = [answer]
    (outcome,) = outcomes(provider, message("t"))
    assert isinstance(outcome, expected)
    if isinstance(outcome, Throttled | Unavailable):
        assert outcome.retry_after == PAUSE


@pytest.mark.parametrize(("status", "reason"), [(503, "Shutdown"), (429, "TooManyRequests")])
@pytest.mark.parametrize("asked", [None, 7])
def test_apples_long_wait_does_not_outlive_an_otp(
    server: ApnsFake, provider: Apns, status: int, reason: str, asked: int | None
) -> None:
    answer = apns_error(status, reason)
    headers = (("Retry-After", str(asked)),) if asked else ()
    server.script = [replace(answer, headers=headers)]
    (outcome,) = outcomes(provider, replace(message("t"), urgent=True))
    assert isinstance(outcome, Throttled | Unavailable)
    assert outcome.retry_after == (timedelta(seconds=asked) if asked else None)


def test_an_unreachable_host_is_not_waited_for_a_quarter_of_an_hour(
    server: ApnsFake, provider: Apns
) -> None:
    server.stop()
    assert outcomes(provider, message("t")) == [Unavailable(code="connect")]


def test_a_dead_device_carries_since_when(server: ApnsFake, provider: Apns) -> None:
    server.script = [apns_error(410, "Unregistered", timestamp=1_764_000_000_000)]
    (outcome,) = outcomes(provider, message("t"))
    assert outcome == Rejected(
        code="Unregistered",
        detail="gone since 2025-11-24T16:00:00+00:00",
        contact_is_dead=True,
        gone_since=datetime(2025, 11, 24, 16, tzinfo=UTC),
    )


def test_what_does_not_fit_is_rejected_without_harm_to_its_neighbours(
    server: ApnsFake, provider: Apns
) -> None:
    outcomes(provider, message("t", body=""))
    room = PAYLOAD_LIMIT_BYTES - len(server.requests[0].body) - len(b',"body":""')
    found = outcomes(
        provider,
        message("a"),
        message("b", body="x" * (room + 1)),
        message("c", body="half a pair \ud800"),
        replace(message("d"), data={"aps": "1"}),
        message("e", body="x" * room),
    )
    codes = ["" if isinstance(it, Accepted) else it.code for it in found]
    assert codes == ["", "payload_too_large", "malformed_text", "reserved_data_key", ""]
    assert max(len(request.body) for request in server.requests) == PAYLOAD_LIMIT_BYTES


@pytest.mark.parametrize("key", ["k" * 65, "grüße", "line\r\nbreak: 1", "trail ", " lead", " "])
def test_a_collapse_key_that_is_no_header_is_hashed_the_same_every_time(
    server: ApnsFake, provider: Apns, key: str
) -> None:
    outcomes(provider, message("a", collapse_key=key), message("b", collapse_key=key))
    first, second = server.keys
    assert first == second
    assert len(first) == 22


def test_a_collapse_key_that_fits_is_passed_as_it_is(server: ApnsFake, provider: Apns) -> None:
    outcomes(provider, message("t", collapse_key="score of the match"))
    assert server.keys == ["score of the match"]


def test_a_token_lives_for_forty_minutes(server: ApnsFake, provider: Apns, now: MovedClock) -> None:
    for moved in (timedelta(0), RENEW_AFTER - SECOND, RENEW_AFTER):
        now.at = NOON + moved
        outcomes(provider, message("t"))
    first, second, third = (request.headers["authorization"] for request in server.requests)
    assert first == second != third


def test_an_expired_token_is_signed_anew_once_and_the_message_goes_out_again(
    server: ApnsFake, provider: Apns, now: MovedClock
) -> None:
    outcomes(provider, message("t"))
    now.at = NOON + RENEW_SOONEST
    server.script = [apns_error(403, STALE)]
    assert isinstance(outcomes(provider, message("t"))[0], Accepted)
    first, refused, renewed = (request.headers["authorization"] for request in server.requests)
    assert first == refused != renewed
    server.script = [apns_error(403, STALE)]
    assert isinstance(outcomes(provider, message("t"))[0], Misconfigured)
    assert len(server.requests) == 4


def test_a_check_pushes_to_nobody(server: ApnsFake, provider: Apns) -> None:
    server.script = [apns_error(400, "BadDeviceToken"), apns_error(403, "InvalidProviderToken")]
    found = [next(provider.check(deadline=PATIENCE)) for _ in range(2)]
    assert [(it.is_good, it.detail) for it in found] == [
        (True, "Apple takes our token"),
        (False, "HTTP 403 InvalidProviderToken"),
    ]
    assert {request.target for request in server.requests} == {"/3/device/" + "0" * 64}
    server.stop()
    (unreachable,) = provider.check(deadline=PATIENCE)
    assert (unreachable.subject, unreachable.is_good) == ("reachability", False)


GOOD = {
    "NOTIFY_APNS_KEY": p256_pem(),
    "NOTIFY_APNS_KEY_ID": "ABC123DEFG",
    "NOTIFY_APNS_TEAM_ID": "DEF123GHIJ",
    "NOTIFY_APNS_TOPIC": "com.shop.app",
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NOTIFY_APNS_KEY", "hunter2"),
        ("NOTIFY_APNS_KEY", "-----BEGIN hunter2"),
        ("NOTIFY_APNS_KEY", rsa_pem()),
        ("NOTIFY_APNS_KEY", ""),
        ("NOTIFY_APNS_KEY_ID", "hunter2\nx"),
        ("NOTIFY_APNS_TEAM_ID", "hunter 2"),
        ("NOTIFY_APNS_TOPIC", ""),
        ("NOTIFY_APNS_URL", "http://api.push.apple.com"),
    ],
)
def test_a_wrong_setting_stops_the_start_and_is_not_repeated(name: str, text: str) -> None:
    assert complaint(apns.VENDOR, GOOD | {name: text}).startswith(f"{name}: ")


def test_a_key_may_be_written_with_escaped_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "AuthKey.p8"
    path.write_text(p256_pem())
    for text in (p256_pem().replace("\n", "\\n"), str(path)):
        environ = GOOD | {"NOTIFY_APNS_KEY": text}
        config = configuration.load(Config, vendor="apns", environ=environ)
        assert config.key.private_numbers() == p256().private_numbers()


def test_a_withdrawal_is_a_background_push(server: ApnsFake, provider: Apns) -> None:
    it = replace(message("00ff"), title="", body="", urgent=True, is_withdrawal=True)
    assert outcomes(provider, it) == [Accepted(message_id=str(it.delivery_id))]
    (request,) = server.requests
    expected = {"apns-push-type": "background", "apns-priority": "5"}
    assert {name: request.headers[name] for name in expected} == expected
    assert "apns-collapse-id" not in request.headers
    assert orjson.loads(request.body) == {
        "aps": {"content-available": 1},
        "notifications.withdraw": str(it.notification_id),
        "notification_id": str(it.notification_id),
        "delivery_id": str(it.delivery_id),
    }
