"""What a push service and a browser get from us, and what a service's answers mean."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import jwt
import py_vapid
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, settings
from hypothesis import strategies as st

from providers import configuration, verdicts
from providers.conformance import Act
from providers.contract import (
    Accepted,
    Misconfigured,
    Rejected,
    Throttled,
    Unavailable,
)
from providers.push import web_push
from providers.push.web_push import SIGNED_FOR, TABLE, Config, WebPush
from providers.push.web_push_encryption import (
    PLAINTEXT_LIMIT_BYTES,
    RECORD_BYTES,
    Subscription,
    encrypt,
    encrypt_with,
)
from providers.sandbox_server.wire import ServerAnswer
from providers.transport import Transport
from tests.providers.messages import NOON, MovedClock, message
from tests.providers.push.browser import Browser, base64url
from tests.providers.push.credentials import p256, p256_pem, p256_raw
from tests.providers.push.vendors import WebPushFake
from tests.providers.trying import PATIENCE, complaint, outcomes

SUBJECT = "mailto:push@shop.example"


@pytest.fixture
def server(certificate: Path) -> Iterator[WebPushFake]:
    with closing(WebPushFake(certificate=certificate)) as it:
        yield it


@pytest.fixture
def browser(server: WebPushFake) -> Browser:
    return Browser(server.url + "/push/1")


def adapter(
    transport: Transport, now: MovedClock, codes: str = "", host: str = "localhost"
) -> WebPush:
    config = Config(
        private_key=p256(),
        subject=SUBJECT,
        services=(host,),
        allow_private=True,
        codes=verdicts.overrides(codes) if codes else {},
    )
    return WebPush(config, transport=transport, now=now)


@pytest.fixture
def provider(transport: Transport, now: MovedClock) -> WebPush:
    return adapter(transport, now)


def test_the_browser_reads_what_was_sent(
    server: WebPushFake, provider: WebPush, browser: Browser
) -> None:
    it = replace(message(browser.subscription, body="grüße €"), data={"type": "ORDER_READY"})
    assert outcomes(provider, it) == [Accepted()]
    (request,) = server.requests
    assert browser.read(request.body) == {
        "notification_id": str(it.notification_id),
        "delivery_id": str(it.delivery_id),
        "title": "Order ready",
        "body": "grüße €",
        "tag": str(it.notification_id),
        "data": {"type": "ORDER_READY"},
    }
    assert request.headers["content-encoding"] == "aes128gcm"
    assert request.headers["ttl"] == str(24 * 3600)
    assert request.headers["urgency"] == "normal"
    assert request.target == "/push/1"


def test_a_result_names_the_vapid_key_of_its_call(
    provider: WebPush, server: WebPushFake, browser: Browser
) -> None:
    (result,) = provider.send([message(browser.subscription)], deadline=timedelta(seconds=30))
    (request,) = server.requests
    assert result.signed_with
    assert request.headers["authorization"].endswith(",k=" + result.signed_with)


def test_the_encryption_is_the_one_of_the_rfcs_example() -> None:
    """RFC 8291, appendix A."""

    def raw(text: str) -> bytes:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))

    keys = {
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpk"
        "NtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    }
    to = Subscription.parse(json.dumps({"endpoint": "https://push.example/", "keys": keys}))
    number = int.from_bytes(raw("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big")
    body = encrypt_with(
        b"When I grow up, I want to be a watermelon",
        to=to,
        key=ec.derive_private_key(number, ec.SECP256R1()),
        salt=raw("DGv6ra1nlYgDCS1FRnbzlw"),
    )
    assert base64url(body) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWA"
        "mS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj"
        "_Qulcy4a-fN"
    )


@settings(max_examples=50, deadline=None)
@given(text=st.text(max_size=500))
def test_whatever_is_encrypted_is_read_again_by_another_implementation(text: str) -> None:
    browser = Browser("https://push.example/1")
    body = encrypt(json.dumps(text).encode(), to=Subscription.parse(browser.subscription))
    assert browser.read(body) == text


def test_the_signature_is_ours_for_this_service_and_made_once(
    server: WebPushFake, provider: WebPush, browser: Browser, now: MovedClock
) -> None:
    other = Browser(browser.endpoint.replace("localhost", "127.0.0.1"))
    outcomes(provider, message(browser.subscription), message(browser.subscription))
    outcomes(provider, message(other.subscription))
    now.at += SIGNED_FOR
    outcomes(provider, message(browser.subscription))
    first, second, third, later = (it.headers["authorization"] for it in server.requests)
    assert first == second
    assert len({second, third, later}) == 3
    assert py_vapid.Vapid02.verify(first)
    token = first.removeprefix("vapid t=").partition(",")[0]
    claims = jwt.decode(token, options={"verify_signature": False})
    assert (claims["aud"], claims["sub"]) == (server.url, SUBJECT)
    left = timedelta(seconds=claims["exp"] - NOON.timestamp())
    assert timedelta(hours=12) < left < timedelta(hours=24)


@pytest.mark.parametrize("code", TABLE)
def test_each_status_has_its_outcome(
    server: WebPushFake, provider: WebPush, browser: Browser, code: str
) -> None:
    server.script = [ServerAnswer(status=int(code))]
    (outcome,) = outcomes(provider, message(browser.subscription))
    assert outcome == verdicts.outcome(TABLE[code], code=code, detail="")


@pytest.mark.parametrize("code", TABLE)
def test_an_operator_may_change_what_a_status_means(
    server: WebPushFake, transport: Transport, now: MovedClock, browser: Browser, code: str
) -> None:
    server.script = [ServerAnswer(status=int(code))]
    changed = adapter(transport, now, f"{code}=unavailable")
    (outcome,) = outcomes(changed, message(browser.subscription))
    assert outcome == Unavailable(code=code)


@pytest.mark.parametrize(
    ("status", "expected"), [(200, Accepted), (202, Accepted), (301, Rejected), (500, Unavailable)]
)
def test_any_other_status_is_judged_by_its_class(
    server: WebPushFake, provider: WebPush, browser: Browser, status: int, expected: type
) -> None:
    server.script = [ServerAnswer(status=status)]
    assert isinstance(outcomes(provider, message(browser.subscription))[0], expected)


@pytest.mark.parametrize(
    "answer",
    [
        ServerAnswer(status=403),
        ServerAnswer(status=401, body=b'{"errno": 109, "message": "VAPID public key mismatch"}'),
    ],
)
def test_a_service_that_takes_our_key_blames_one_subscription_for_another_key(
    server: WebPushFake, provider: WebPush, browser: Browser, answer: ServerAnswer
) -> None:
    it, code = message(browser.subscription), str(answer.status)
    assert outcomes(provider, it) == [Accepted()]
    server.script = [answer, answer]
    (refused,) = outcomes(provider, it)
    assert isinstance(refused, Rejected)
    assert (refused.code, refused.contact_is_dead, refused.may_be_misconfigured) == (
        *(code, True, True),
    )
    (again,) = outcomes(provider, it)
    assert isinstance(again, Misconfigured)


@pytest.mark.parametrize("status", [401, 403])
def test_a_stranger_cannot_make_us_doubt_our_key(
    server: WebPushFake, transport: Transport, now: MovedClock, browser: Browser, status: int
) -> None:
    known_elsewhere = adapter(transport, now, host="ocalhost")
    server.script = [ServerAnswer(status=201), ServerAnswer(status=status)]
    outcomes(known_elsewhere, message(browser.subscription))
    (outcome,) = outcomes(known_elsewhere, message(browser.subscription))
    assert outcome == Rejected(code=str(status), contact_is_dead=False)


def test_retry_after_is_passed_on(server: WebPushFake, provider: WebPush, browser: Browser) -> None:
    server.act(Act.THROTTLE)
    (outcome,) = outcomes(provider, message(browser.subscription))
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after == server.retry_after


@pytest.mark.parametrize(
    ("key", "topic"),
    [
        ("score-of_the-match", "score-of_the-match"),
        ("k" * 32, "k" * 32),
        ("k" * 33, None),
        ("score of the match", None),
        ("grüße", None),
    ],
)
def test_a_collapse_key_that_is_no_topic_is_hashed_the_same_every_time(
    server: WebPushFake, provider: WebPush, browser: Browser, key: str, topic: str | None
) -> None:
    outcomes(provider, *[message(browser.subscription, collapse_key=key) for _ in range(2)])
    first, second = server.keys
    assert first == second
    assert first == topic or (topic is None and len(first) == 22)
    assert browser.read(server.requests[0].body)["tag"] == key


def malformed(browser: Browser) -> list[str]:
    whole = json.loads(browser.subscription)
    point, auth = whole["keys"]["p256dh"], whole["keys"]["auth"]
    return [
        "",
        "no json",
        "[" * 100_000,
        '{"endpoint": "https://push.example/"}',
        json.dumps(whole | {"keys": {"p256dh": point[:-2], "auth": auth}}),
        json.dumps(whole | {"keys": {"p256dh": "A" + point[1:-1] + "A", "auth": auth}}),
        json.dumps(whole | {"keys": {"p256dh": point, "auth": "ü"}}),
        json.dumps(whole | {"keys": {"p256dh": point, "auth": auth[:-2]}}),
    ]


def test_what_cannot_be_sent_is_rejected_without_harm_to_its_neighbours(
    server: WebPushFake, provider: WebPush, browser: Browser
) -> None:
    fine = message(browser.subscription)
    bad = [message(text) for text in malformed(browser)]
    broken = message(browser.subscription, body="half a pair \ud800")
    found = outcomes(provider, *bad, broken, fine)
    expected = Rejected(code="malformed_subscription", contact_is_dead=True)
    assert found[:-2] == [expected] * len(bad)
    assert isinstance(found[-2], Rejected)
    assert found[-2].code == "malformed_text"
    assert found[-1] == Accepted()
    assert len(server.requests) == 1


def test_the_largest_payload_fits_into_one_record(
    server: WebPushFake, provider: WebPush, browser: Browser
) -> None:
    outcomes(provider, message(browser.subscription, body=""))
    used = len(server.requests[0].body) - (RECORD_BYTES - PLAINTEXT_LIMIT_BYTES)
    room = PLAINTEXT_LIMIT_BYTES - used
    full = message(browser.subscription, body="x" * room)
    over = message(browser.subscription, body="x" * (room + 1))
    found = outcomes(provider, full, over)
    assert found[0] == Accepted()
    assert found[1] == Rejected(code="payload_too_large", detail="3994 bytes, at most 3993")
    assert len(server.requests[1].body) == RECORD_BYTES


@pytest.mark.parametrize("endpoint", ["http://push.example/", "https://10.0.0.1/", "https://h:22/"])
def test_an_endpoint_that_points_inwards_is_rejected_without_a_call(
    transport: Transport, endpoint: str
) -> None:
    provider = WebPush(Config(private_key=p256(), subject=SUBJECT), transport=transport)
    (outcome,) = outcomes(provider, message(Browser(endpoint).subscription))
    assert isinstance(outcome, Rejected)
    assert outcome.code == "forbidden_address"


def test_a_name_that_leads_inwards_is_rejected_when_it_is_resolved(transport: Transport) -> None:
    provider = WebPush(Config(private_key=p256(), subject=SUBJECT), transport=transport)
    (outcome,) = outcomes(provider, message(Browser("https://localhost/").subscription))
    assert outcome == Rejected(code="forbidden_address")


def test_a_check_tells_the_key_that_pages_must_subscribe_with(
    server: WebPushFake, provider: WebPush, browser: Browser
) -> None:
    (found,) = provider.check(deadline=PATIENCE)
    outcomes(provider, message(browser.subscription))
    key = server.requests[0].headers["authorization"].partition("k=")[2]
    assert found.is_good
    assert found.detail.endswith(key)


GOOD = {"NOTIFY_WEB_PUSH_PRIVATE_KEY": p256_raw(), "NOTIFY_WEB_PUSH_SUBJECT": SUBJECT}


@pytest.mark.parametrize(
    "text",
    [p256_raw(), p256_pem(), p256_pem().replace("\n", "\\n")],
    ids=["raw", "pem", "pem in one line"],
)
def test_the_key_may_be_raw_or_pem(text: str) -> None:
    environ = GOOD | {"NOTIFY_WEB_PUSH_PRIVATE_KEY": text}
    config = configuration.load(Config, vendor="web_push", environ=environ)
    assert config.private_key.private_numbers() == p256().private_numbers()
    assert p256_raw() not in repr(config)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NOTIFY_WEB_PUSH_PRIVATE_KEY", "hunter2"),
        ("NOTIFY_WEB_PUSH_PRIVATE_KEY", "A" * 43),
        ("NOTIFY_WEB_PUSH_PRIVATE_KEY", ""),
        ("NOTIFY_WEB_PUSH_SUBJECT", "hunter2"),
        ("NOTIFY_WEB_PUSH_SUBJECT", "mailto:hunter2@localhost"),
        ("NOTIFY_WEB_PUSH_SERVICES", "https://hunter2"),
        ("NOTIFY_WEB_PUSH_SERVICES", "hunter2,,"),
        ("NOTIFY_WEB_PUSH_ALLOW_PRIVATE", "hunter2"),
    ],
)
def test_a_wrong_setting_stops_the_start_and_is_not_repeated(name: str, text: str) -> None:
    assert complaint(web_push.VENDOR, GOOD | {name: text}).startswith(f"{name}: ")


def test_a_withdrawal_has_the_topic_of_the_message(
    server: WebPushFake, provider: WebPush, browser: Browser
) -> None:
    first = replace(message(browser.subscription), urgent=True)
    second = replace(first, title="", body="", is_withdrawal=True)
    assert outcomes(provider, first) == outcomes(provider, second) == [Accepted()]
    shown, silent = server.requests
    assert shown.headers["topic"] == silent.headers["topic"]
    assert silent.headers["urgency"] == "normal"
    assert browser.read(silent.body) == {
        "notification_id": str(first.notification_id),
        "delivery_id": str(first.delivery_id),
        "notifications.withdraw": str(first.notification_id),
    }


def test_safari_gets_no_silent_push(transport: Transport, now: MovedClock) -> None:
    safari = Browser("https://web.push.apple.com/push/1")
    it = replace(message(safari.subscription), is_withdrawal=True)
    [outcome] = outcomes(adapter(transport, now), it)
    assert isinstance(outcome, Rejected)
    assert (outcome.code, outcome.contact_is_dead) == ("silent_push_refused", False)
