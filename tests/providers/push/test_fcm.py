"""What FCM gets from us, and what its answers mean."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import orjson
import pytest

from providers import configuration, verdicts
from providers.conformance import Act
from providers.contract import Accepted, Misconfigured, Rejected, Throttled
from providers.errors import ConfigurationError
from providers.push import fcm
from providers.push.fcm import BAD_ADDRESS, STALE, TABLE, Config, Fcm
from providers.push.fcm_body import PAYLOAD_LIMIT_BYTES
from providers.sandbox_server.wire import ServerAnswer
from providers.transport import Transport
from tests.providers.messages import message
from tests.providers.push.credentials import account, account_json
from tests.providers.push.vendors import FcmFake, fcm_error
from tests.providers.trying import PATIENCE, outcomes

BY_STATUS = {"UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "RESOURCE_EXHAUSTED": 429,
             "CANCELLED": 499, "NOT_FOUND": 404,
             "DEADLINE_EXCEEDED": 504}  # fmt: skip
BAD_TOKEN_WORDS = "The registration token is not a valid FCM registration token"


@pytest.fixture
def server(certificate: Path) -> Iterator[FcmFake]:
    with closing(FcmFake(certificate=certificate)) as it:
        yield it


def adapter(server: FcmFake, transport: Transport, codes: str = "") -> Fcm:
    config = Config(
        credentials=account(server.url + "/token"),
        url=server.url,
        codes=verdicts.overrides(codes) if codes else {},
    )
    return Fcm(config, transport=transport)


def answer_with(code: str) -> ServerAnswer:
    if code in BY_STATUS:
        return fcm_error(BY_STATUS[code], code)
    if code.isdigit():
        return ServerAnswer(status=int(code), body=b"<html>")
    if code == BAD_ADDRESS:
        return fcm_error(400, "INVALID_ARGUMENT", code="INVALID_ARGUMENT", message=BAD_TOKEN_WORDS)
    return fcm_error(418, "UNKNOWN", code=code, message="the device-token-1")


@pytest.mark.parametrize("code", TABLE)
def test_each_code_has_its_outcome(server: FcmFake, transport: Transport, code: str) -> None:
    server.script = [answer_with(code)]
    (outcome,) = outcomes(adapter(server, transport), message("device-token-1"))
    expected = verdicts.outcome(TABLE[code], code=code, detail="")
    assert not isinstance(outcome, Accepted)
    assert (type(outcome), outcome.code) == (type(expected), code)
    assert "device-token-1" not in outcome.detail
    if isinstance(expected, Rejected):
        assert outcome == replace(expected, detail=outcome.detail)
    if isinstance(outcome, Throttled):
        assert outcome.retry_after == timedelta(minutes=1)


@pytest.mark.parametrize("code", TABLE)
def test_an_operator_may_change_what_a_code_means(
    server: FcmFake, transport: Transport, code: str
) -> None:
    server.script = [answer_with(code)]
    (outcome,) = outcomes(adapter(server, transport, f"{code}=unanswered"), message("t"))
    assert type(outcome) is type(verdicts.outcome(verdicts.Verdict.UNANSWERED, code="", detail=""))


@pytest.mark.parametrize(
    ("answer", "dead"),
    [
        (fcm_error(400, "INVALID_ARGUMENT", code="INVALID_ARGUMENT", field="message.token"), True),
        (fcm_error(400, "INVALID_ARGUMENT", code="INVALID_ARGUMENT", field="message.fid"), True),
        (fcm_error(400, "INVALID_ARGUMENT", code="INVALID_ARGUMENT", message="too big"), False),
        (fcm_error(400, "INVALID_ARGUMENT", field="message.data[0].value"), False),
        (fcm_error(400, "INVALID_ARGUMENT", message=BAD_TOKEN_WORDS), False),
        (ServerAnswer(status=400, body=b'{"error": {"details": [7]}}'), False),
    ],
)
def test_only_what_fcm_says_of_the_token_itself_makes_a_contact_dead(
    server: FcmFake, transport: Transport, answer: ServerAnswer, *, dead: bool
) -> None:
    server.script = [answer]
    (outcome,) = outcomes(adapter(server, transport), message("t"))
    assert isinstance(outcome, Rejected)
    assert outcome.contact_is_dead is dead


def test_the_quota_pause_gives_way_to_fcms_own_word(server: FcmFake, transport: Transport) -> None:
    server.script = [fcm_error(429, "X", code="QUOTA_EXCEEDED", retry_after="3")]
    (outcome,) = outcomes(adapter(server, transport), message("t"))
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after == timedelta(seconds=3)


def test_one_bad_target_says_nothing_of_the_credentials(
    server: FcmFake, transport: Transport
) -> None:
    server.script = [fcm_error(401, "UNAUTHENTICATED", code="THIRD_PARTY_AUTH_ERROR")]
    ios, android = outcomes(adapter(server, transport), message("ios"), message("android"))
    assert isinstance(ios, Rejected)
    assert (ios.contact_is_dead, ios.may_be_misconfigured) == (False, True)
    assert isinstance(android, Accepted)
    assert len(server.token_calls) == 1


def test_what_is_over_its_time_to_live_is_for_now_or_never(
    server: FcmFake, transport: Transport
) -> None:
    outcomes(adapter(server, transport), replace(message("t"), time_to_live=timedelta(seconds=-3)))
    sent = orjson.loads(server.requests[0].body)["message"]
    assert (sent["android"]["ttl"], sent["webpush"]["headers"]["TTL"]) == ("0s", "0")


def test_what_fcm_would_refuse_is_rejected_without_harm_to_its_neighbours(
    server: FcmFake, transport: Transport
) -> None:
    fitting = message("t", body="")
    ids = len("notification_id") + 36 + len("delivery_id") + 36
    used = ids + len("title") + len(fitting.title) + len("body")
    fitting = replace(fitting, body="ü" * ((PAYLOAD_LIMIT_BYTES - used) // 2) + "x" * (used % 2))
    found = outcomes(
        adapter(server, transport),
        message("a"),
        replace(message("b"), body=fitting.body + "x"),
        replace(message("c"), data={"google.a": "1"}),
        replace(message("d"), data={"from": "1"}),
        replace(message("e"), body="half a pair \ud800"),
        fitting,
    )
    codes = ["" if isinstance(it, Accepted) else it.code for it in found]
    assert codes == ["", "payload_too_large", "reserved_data_key", "reserved_data_key",
                     "malformed_text", ""]  # fmt: skip
    assert isinstance(found[1], Rejected)
    assert found[1].detail == "4097 bytes, at most 4096"


def test_every_message_carries_what_hides_its_repeat(server: FcmFake, transport: Transport) -> None:
    plain, keyed = message("t"), message("t", collapse_key="score of the match")
    outcomes(adapter(server, transport), plain, keyed)
    bodies = [orjson.loads(request.body)["message"] for request in server.requests]
    by_id = {body["data"]["notification_id"]: body for body in bodies}
    first, second = by_id[str(plain.notification_id)], by_id[str(keyed.notification_id)]
    assert first["android"]["notification"]["tag"] == str(plain.notification_id)
    assert "collapse_key" not in first["android"]
    assert second["android"]["notification"]["tag"] == keyed.collapse_key
    assert second["android"]["collapse_key"] == keyed.collapse_key


def test_a_refused_access_token_is_renewed_once_and_only_those_messages_go_out_again(
    server: FcmFake, transport: Transport
) -> None:
    provider = adapter(server, transport)
    outcomes(provider, message("t"))
    held = provider._tokens._held
    assert held is not None
    provider._tokens._held = replace(held, fetched_at=held.fetched_at - timedelta(minutes=2))
    server.script = [fcm_error(401, STALE), ServerAnswer(status=200, body=b"{}")]
    found = outcomes(provider, message("a"), message("b"))
    assert [type(it) for it in found] == [Accepted, Accepted]
    bearers = [request.headers["authorization"] for request in server.requests]
    assert bearers == ["Bearer ya29.token-1"] * 3 + ["Bearer ya29.token-2"]


def test_a_young_access_token_that_is_refused_is_our_fault(
    server: FcmFake, transport: Transport
) -> None:
    server.act(Act.BAD_CREDENTIALS)
    (outcome,) = outcomes(adapter(server, transport), message("t"))
    assert isinstance(outcome, Misconfigured)
    assert len(server.token_calls) == len(server.requests) == 1


def test_a_check_sends_nothing_and_tells_what_it_saw(server: FcmFake, transport: Transport) -> None:
    server.script = [fcm_error(400, "INVALID_ARGUMENT", code="INVALID_ARGUMENT")]
    found = list(adapter(server, transport).check(deadline=PATIENCE))
    assert [(it.subject, it.is_good) for it in found] == [
        ("credentials", True),
        ("project", True),
    ]
    assert orjson.loads(server.requests[0].body)["validate_only"] is True


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_check_of_a_project_that_lets_us_not_in_says_so(
    server: FcmFake, transport: Transport, status: int
) -> None:
    server.script = [fcm_error(status, "SOMETHING")]
    found = list(adapter(server, transport).check(deadline=PATIENCE))
    assert (found[1].is_good, found[1].detail) == (False, f"HTTP {status} SOMETHING")


def test_a_check_with_a_deleted_key_says_so(server: FcmFake, transport: Transport) -> None:
    server.token_script = [ServerAnswer(status=400, body=b'{"error":"invalid_grant"}')]
    (found,) = adapter(server, transport).check(deadline=PATIENCE)
    assert (found.subject, found.is_good) == ("credentials", False)
    assert "invalid_grant" in found.detail


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is invalid JSON"),
        ('{"type": "authorized_user"}', "service_account"),
        (account_json(project_id=""), "project_id"),
        (account_json(private_key="-----BEGIN NONSENSE"), "private_key"),
        (account_json(token_uri="nowhere"), "http"),
        ("/no/such/file", "path"),
    ],
)
def test_credentials_that_are_none_stop_the_start(text: str, problem: str) -> None:
    with (
        closing(Transport()) as transport,
        pytest.raises(ConfigurationError, match=f"NOTIFY_FCM_CREDENTIALS: .*{problem}"),
    ):
        fcm.VENDOR.configure({"NOTIFY_FCM_CREDENTIALS": text}, transport=transport)


def test_credentials_may_lie_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "account.json"
    path.write_text(account_json())
    environ = {"NOTIFY_FCM_CREDENTIALS": str(path)}
    config = configuration.load(Config, vendor=fcm.NAME, environ=environ)
    assert config.credentials.project_id == "shop"
    assert "PRIVATE" not in repr(config)


def test_googles_packages_are_not_imported_before_a_token_is_needed() -> None:
    code = (
        "import os, sys\n"
        "from providers import registry\n"
        "assert 'fcm' in registry.build_all(os.environ)\n"
        "print([m for m in ('firebase_admin', 'google.auth', 'jwt') if m in sys.modules])"
    )
    environ = {"NOTIFY_FCM_CREDENTIALS": account_json()}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_withdrawal_shows_nothing_and_names_the_message(
    server: FcmFake, transport: Transport
) -> None:
    it = replace(message("t"), title="", body="", urgent=True, is_withdrawal=True)
    keyed = replace(it, collapse_key="1-score")
    for each in (it, keyed):
        assert isinstance(outcomes(adapter(server, transport), each)[0], Accepted)
    sent, with_key = (orjson.loads(each.body)["message"] for each in server.requests)
    assert "notification" not in sent
    assert sent["data"] == {
        "notifications.withdraw": str(it.notification_id),
        "notification_id": str(it.notification_id),
        "delivery_id": str(it.delivery_id),
    }
    assert sent["android"] == {"priority": "normal", "ttl": "86400s"}
    assert sent["apns"]["payload"] == {"aps": {"content-available": 1}}
    assert sent["apns"]["headers"]["apns-push-type"] == "background"
    assert with_key["android"]["collapse_key"] == "1-score"
    assert with_key["data"]["notifications.withdraw"] == "1-score"
