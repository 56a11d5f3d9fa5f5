"""Requests to a live process: who gets a stream, and the answers to all others."""

from __future__ import annotations

import datetime as dt
import http.client
import json
import socket
from uuid import uuid4

import pytest

from notifications.core.models import Producer, Recipient
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.store.recipient_tokens import revocations
from notifications.core.store.redis import live_processes
from notifyproj.devstack.demo.environment import until
from tests.features.inbox.live.conftest import LiveProcess, MakeLive, Member
from tests.features.inbox.live.sse import StreamRefused


def _ask(
    live: LiveProcess, method: str, path: str, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    link = http.client.HTTPConnection("127.0.0.1", live.port, timeout=10)
    link.request(method, path, headers=headers)
    answer = link.getresponse()
    found = {name.lower(): value for name, value in answer.getheaders()}
    body = answer.read()
    link.close()
    return answer.status, found, body


def test_the_path_may_name_the_recipient_of_the_token(live: LiveProcess, ana: Member) -> None:
    client = live.connect(ana.token, user_id=ana.user_id)
    client.wait_for("hello")
    assert client.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert client.headers["cache-control"] == "no-store"
    assert client.headers["x-accel-buffering"] == "no"


def test_a_request_without_a_token_is_refused(live: LiveProcess) -> None:
    for given in ("", "Bearer", "Bearer nonsense", "Basic YTpi"):
        status, headers, body = _ask(live, "GET", "/v1/inbox/me/stream", Authorization=given)
        assert status == 401, given
        assert headers["content-type"] == "application/problem+json"
        assert headers["www-authenticate"].startswith("Bearer")
        assert json.loads(body)["code"] == "unauthenticated"


@pytest.mark.parametrize(("is_kid_known", "network"), [(False, "192.0.2"), (True, "198.51.100")])
def test_forged_tokens_are_limited_by_address_and_a_valid_token_passes(
    make_live: MakeLive, ana: Member, *, is_kid_known: bool, network: str
) -> None:
    live = make_live(NOTIFY_OPEN_REQUESTS_PER_SECOND="1", NOTIFY_TRUSTED_PROXIES="127.0.0.1")
    live.connect(ana.token).wait_for("hello")

    def forge(address: str) -> tuple[int, dict[str, str], bytes]:
        signed = ana.token.rpartition(".")[0] if is_kid_known else f"{uuid4().hex}.{uuid4().hex}"
        forged = f"Bearer {signed}.{uuid4().hex}{'A' * 11}"
        path = "/v1/inbox/me/stream"
        return _ask(live, "GET", path, **{"Authorization": forged, "X-Forwarded-For": address})

    answers = [forge(f"{network}.7") for _ in range(14)]
    assert {status for status, _, _ in answers} == {401, 429}
    assert answers[-1][0] == 429
    assert int(answers[-1][1]["retry-after"]) >= 1
    assert forge(f"{network}.8")[0] == 401
    live.connect(ana.token).wait_for("hello")


def test_a_token_for_another_recipient_or_without_the_scope_is_refused(
    live: LiveProcess, ana: Member
) -> None:
    with pytest.raises(StreamRefused) as other:
        live.connect(ana.token, user_id="somebody-else")
    with pytest.raises(StreamRefused) as narrow:
        live.connect(ana.make_token(scopes=[TokenScope.PREFERENCES_READ]))
    for refused in (other.value, narrow.value):
        assert (refused.status, refused.body["code"]) == (403, "forbidden")
    assert "inbox:read" in narrow.value.body["detail"]


def test_an_impossible_version_is_a_problem(live: LiveProcess, ana: Member) -> None:
    path = "/v1/inbox/me/stream"
    token = {"Authorization": f"Bearer {ana.token}"}
    asked = [
        (path, token | {"Last-Event-ID": since})
        for since in ("x", "-1", "1.5", "9" * 30, "9" * 5_000)
    ]
    for where, headers in [*asked, (f"{path}?last_event_id=%C2%B2", token)]:
        status, _, body = _ask(live, "GET", where, **headers)
        assert (status, json.loads(body)["code"]) == (400, "malformed"), headers


def test_the_version_may_be_in_the_query(live: LiveProcess, ana: Member) -> None:
    ana.add()
    path = "/v1/inbox/me/stream?last_event_id=0"
    link = http.client.HTTPConnection("127.0.0.1", live.port, timeout=30)
    link.request("GET", path, headers={"Authorization": f"Bearer {ana.token}"})
    answer = link.getresponse()
    lines = [answer.readline() for _ in range(7)]
    answer.close()
    link.close()
    assert b"event: changes\n" in lines


def test_other_paths_and_methods_are_problems(live: LiveProcess) -> None:
    for path in ("/", "/v1/inbox/me", "/v1/inbox//stream", "/v1/inbox/a/b/stream", "/admin/"):
        status, _, body = _ask(live, "GET", path)
        assert (status, json.loads(body)["code"]) == (404, "not-found")
    status, headers, _ = _ask(live, "POST", "/v1/inbox/me/stream")
    assert (status, headers["allow"]) == (405, "GET, OPTIONS")


def test_the_stream_ends_with_its_token(live: LiveProcess, ana: Member) -> None:
    client = live.connect(ana.make_token(dt.timedelta(seconds=10)))
    assert client.wait_for("token_expired").data == {"reason": "expired"}
    client.wait_for_end()
    until(lambda: live.ready()["connections"] == 0, what="no connection")


def test_the_stream_ends_with_a_revocation(live: LiveProcess, ana: Member) -> None:
    client = live.connect(ana.token)
    client.wait_for("hello")
    revocations.revoke(Recipient.objects.get(pk=ana.id), by="test")
    assert client.wait_for("token_expired").data == {"reason": "revoked"}
    client.wait_for_end()
    until(lambda: _is_refused(live, ana.token), what="the refusal")
    live.connect(ana.make_token()).wait_for("hello")


def _is_refused(live: LiveProcess, token: str) -> bool:
    try:
        live.connect(token)
    except StreamRefused as refused:
        return refused.status == 401
    return False


def test_pages_of_the_producer_may_connect(live: LiveProcess, ana: Member) -> None:
    Producer.objects.update(allowed_origins=["https://shop.example.com"])
    path, origin = "/v1/inbox/me/stream", {"Origin": "https://shop.example.com"}
    wanted = {"Access-Control-Request-Method": "GET"}

    def permitted() -> bool:
        return _ask(live, "OPTIONS", path, **origin, **wanted)[0] == 204

    until(permitted, what="the new origin")
    _, headers, _ = _ask(live, "OPTIONS", path, **origin, **wanted)
    assert headers["access-control-allow-origin"] == "https://shop.example.com"
    assert "last-event-id" in headers["access-control-allow-headers"]
    client = live.connect(ana.token, headers=origin)
    assert client.headers["access-control-allow-origin"] == "https://shop.example.com"
    foreign = {"Origin": "https://other.example.com"}
    assert _ask(live, "OPTIONS", path, **foreign, **wanted)[0] == 403
    with pytest.raises(StreamRefused) as refused:
        live.connect(ana.token, headers=foreign)
    assert refused.value.status == 403
    assert "access-control-allow-origin" not in refused.value.headers
    status, headers, _ = _ask(live, "GET", path, **origin)
    assert (status, headers["access-control-allow-origin"]) == (401, "https://shop.example.com")


def test_a_head_that_does_not_end_is_cut_off(live: LiveProcess) -> None:
    line = b"X-Filler: " + b"x" * 1000 + b"\r\n"
    for head in (b"", line * 100):
        with socket.create_connection(("127.0.0.1", live.port), timeout=30) as slow:
            slow.sendall(b"GET /healthz HTTP/1.1\r\n" + head)
            try:
                rest = slow.recv(100)
            except ConnectionResetError:
                rest = b""
            assert rest == b""


def test_a_connection_has_one_request(live: LiveProcess) -> None:
    _, headers, _ = _ask(live, "GET", "/healthz")
    assert headers["connection"] == "close"


def test_operators_see_the_process(make_live: MakeLive, ana: Member) -> None:
    live = make_live()
    live.connect(ana.token).wait_for("hello")
    live.connect(ana.token).wait_for("hello")

    def connected() -> bool:
        found = live_processes.load()
        mine = [each for each in found if each.pid == live.process.pid]
        return [(each.connections, each.recipients) for each in mine] == [(2, 1)]

    until(connected, what="the figures of the process")
    assert live.ready()["status"] == "ready"
    assert live.metric("notifications_live_connections") == 2
    assert live.metric("notifications_live_recipients") == 1
    assert live.metric("notifications_live_opened_total") == 2
    assert live.metric("notifications_live_state_up") == 1
    live.process.stop()
    found = live_processes.load()
    assert live.process.pid not in {each.pid for each in found}


def test_the_log_has_no_token_and_no_user_id(make_live: MakeLive, ana: Member) -> None:
    live = make_live()
    client = live.connect(ana.token, user_id=ana.user_id)
    client.wait_for("hello")
    with pytest.raises(StreamRefused):
        live.connect(ana.token, user_id="somebody-else")
    with pytest.raises(StreamRefused):
        live.connect(f"{ana.token}x", user_id=ana.user_id)
    client.close()
    live.process.stop()
    text = live.process.text()
    assert "Uvicorn running" in text
    for secret in (ana.token, ana.token[:40], ana.user_id, "somebody-else"):
        assert secret not in text
