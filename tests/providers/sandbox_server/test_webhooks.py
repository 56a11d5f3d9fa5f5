"""The sandbox's receiver of status webhooks, without a server."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson

from providers import clock
from providers.sandbox_server.app import App
from providers.sandbox_server.ledger import Ledger
from providers.sandbox_server.webhooks import KEEP, WebhookReceiver
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.standard_webhooks import Secret, sign

SECRET = Secret(b"a-secret-of-the-tests-alone-here")
BODY = b'{"type": "notification.sent", "data": {"user_id": "<b>x</b>"}}'


def ask(app: App, method: str, target: str, body: bytes = b"", **headers: str) -> ServerAnswer:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = app.handle(ServerRequest(method, target, given, body))
    assert isinstance(answer, ServerAnswer)
    return answer


def app() -> App:
    return App(Ledger(), None)


def signed(message_id: str, *, age: timedelta = timedelta()) -> dict[str, str]:
    return sign(BODY, message_id=message_id, at=clock.now() - age, secrets=[SECRET])


def listed(sandbox: App) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = orjson.loads(ask(sandbox, "GET", "/webhooks.json").body)[
        "webhooks"
    ]
    return found


def test_a_webhook_is_verified_by_a_secret_that_is_entered_later() -> None:
    sandbox = app()
    assert ask(sandbox, "POST", "/webhooks", BODY, **signed("m-1")).status == 204
    assert listed(sandbox)[0]["signature"] == "no secret"
    form = b"secret=" + SECRET.text().replace("+", "%2B").encode()
    assert ask(sandbox, "POST", "/webhooks/secret", form).status == 303
    [webhook] = listed(sandbox)
    assert (webhook["signature"], webhook["body"]["type"]) == ("verified", "notification.sent")


def test_a_wrong_signature_and_an_old_timestamp_are_named() -> None:
    sandbox = app()
    sandbox.webhooks.secrets.append(SECRET)
    ask(sandbox, "POST", "/webhooks", BODY + b" ", **signed("m-1"))
    ask(sandbox, "POST", "/webhooks", BODY, **signed("m-2", age=timedelta(minutes=6)))
    ask(sandbox, "POST", "/webhooks", BODY)
    assert [each["signature"] for each in listed(sandbox)] == [
        "webhook-signature does not match",
        "webhook-timestamp is too far from our clock",
        "webhook-id or webhook-timestamp is missing or malformed",
    ]


def test_a_repeat_is_counted() -> None:
    sandbox = app()
    for message_id in ("m-1", "m-2", "m-1"):
        ask(sandbox, "POST", "/webhooks", BODY, **signed(message_id))
    assert [each["call"] for each in listed(sandbox)] == [1, 1, 2]
    assert "call 2 with this webhook-id" in ask(sandbox, "GET", "/webhooks").body.decode()


def test_the_page_escapes_what_came_and_shows_no_secret() -> None:
    sandbox = app()
    sandbox.webhooks.secrets.append(SECRET)
    ask(sandbox, "POST", "/webhooks", BODY, **signed("m-1"))
    ask(sandbox, "POST", "/webhooks", b"\xff[no JSON", **signed("m-2"))
    page = ask(sandbox, "GET", "/webhooks").body.decode()
    assert "&lt;b&gt;x" in page
    assert "<b>x" not in page
    assert "not JSON" in page
    assert SECRET.text() not in page


def test_what_is_no_secret_is_refused_with_the_form_of_a_secret() -> None:
    answer = ask(app(), "POST", "/webhooks/secret", b"secret=hunter2")
    assert answer.status == 400
    assert b"whsec_" in answer.body
    assert b"hunter2" not in answer.body


def test_the_newest_webhooks_are_kept() -> None:
    receiver = WebhookReceiver()
    for number in range(KEEP + 1):
        receiver.answer(ServerRequest("POST", "/webhooks", {"webhook-id": str(number)}, BODY))
    assert len(receiver.received) == KEEP
    assert receiver.received[0].headers["webhook-id"] == "1"


def test_a_page_of_another_site_sends_no_webhook() -> None:
    sandbox = app()
    headers = {"host": "127.0.0.1:8025", "origin": "https://evil.example"}
    assert ask(sandbox, "POST", "/webhooks", BODY, **headers).status == 403
    assert listed(sandbox) == []
