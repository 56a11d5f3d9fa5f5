"""Chat services on one server: an address, a refusal and a success of each."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from providers.conformance import Act
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from tests.providers.answering import AnsweringFake

TOKEN = "123456789:abcdefghijklmnopqrstuvwxyz123456789"
HOOK = "T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
MATTERMOST_HOOK = "3ccdd113474722377935511fc85d3dd4"
ROCKET_HOOK = "4b4s6D5N4hJLbcj3o/6qX4XBzJ7ZyD2S5nCTgk"


@dataclass(frozen=True, kw_only=True)
class Case:
    """An address, and what a message to it must come out as."""

    address: str
    origin: str
    target: str
    contains: tuple[str, ...] = ()
    """Besides title and text."""

    @property
    def scheme(self) -> str:
        return self.address.partition("://")[0]


CASES = {
    "slack webhook": Case(
        address=f"slack://{HOOK}/%23general",
        origin="https://hooks.slack.com",
        target=f"/services/{HOOK}",
        contains=('"channel":"#general"', '"footer":"Shop"'),
    ),
    "slack bot": Case(
        address="slack://xoxb-1234-1234-abc124/+U012345678",
        origin="https://slack.com",
        target="/api/chat.postMessage",
        contains=('"channel":"U012345678"',),
    ),
    "discord": Case(
        address="discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
        origin="https://discord.com",
        target="/api/webhooks/4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js?wait=true",
    ),
    "teams": Case(
        address="workflows://prod-01.westus.logic.azure.com:443/643e69f83c8944/438a3ee3d3ee4c2b",
        origin="https://prod-01.westus.logic.azure.com:443",
        target="/workflows/643e69f83c8944/triggers/manual/paths/invoke"
        "?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=438a3ee3d3ee4c2b",
        contains=('"type":"AdaptiveCard"',),
    ),
    "telegram": Case(
        address=f"tgram://{TOKEN}/-1001234567?topic=7",
        origin="https://api.telegram.org",
        target=f"/bot{TOKEN}/sendMessage",
        contains=('"chat_id":-1001234567', '"message_thread_id":7'),
    ),
    "google chat": Case(
        address="gchat://workspace/key/token",
        origin="https://chat.googleapis.com",
        target="/v1/spaces/workspace/messages?token=token&key=key",
    ),
    "mattermost": Case(
        address=f"mmosts://chat.example.com/{MATTERMOST_HOOK}",
        origin="https://chat.example.com",
        target=f"/hooks/{MATTERMOST_HOOK}",
        contains=('"username":"Shop"',),
    ),
    "rocket.chat": Case(
        address=f"rockets://{ROCKET_HOOK}@chat.example.com/%23general",
        origin="https://chat.example.com",
        target=f"/hooks/{ROCKET_HOOK}",
        contains=('"channel":"#general"',),
    ),
    "webex": Case(
        address="wxteams://" + "a" * 80,
        origin="https://api.ciscospark.com",
        target="/v1/webhooks/incoming//" + "a" * 80,
    ),
}


def refusal(scheme: str, code: str) -> ServerAnswer:
    """How a service says a code: a bare HTTP status, or a body in its own words."""
    if code.isdigit() and len(code) == 3:
        return ServerAnswer(status=int(code))
    if scheme == "slack":
        return _json(200, {"ok": False, "error": code})
    bodies = {
        "discord": {"code": int(code) if code.isdigit() else 0, "message": "No"},
        "tgram": {"ok": False, "error_code": 400, "description": f"Forbidden: {code}"},
        "gchat": {"error": {"code": 400, "message": "No", "status": code}},
        "workflow": {"error": {"code": code, "message": "No"}},
        "workflows": {"error": {"code": code, "message": "No"}},
        "mmosts": {"id": code, "message": "No", "status_code": 400},
    }
    return _json(400, bodies[scheme])


def _json(status: int, body: object) -> ServerAnswer:
    return ServerAnswer(status=status, body=orjson.dumps(body))


def _words_of_telegram(act: Act, request: ServerRequest) -> ServerAnswer:
    if act is Act.ACCEPT:
        return _json(200, {"ok": True, "result": {"message_id": 815}})
    status, words = {
        Act.REJECT: (400, f"Bad Request: message text is empty, {request.target}"),
        Act.THROTTLE: (429, "Too Many Requests: retry after 7"),
        Act.UNAVAILABLE: (502, "Bad Gateway"),
        Act.BAD_CREDENTIALS: (401, "Unauthorized"),
    }[act]
    body = {"ok": False, "error_code": status, "description": words}
    more = {"parameters": {"retry_after": 7}} if status == 429 else {}
    return _json(status, body | more)


def telegram_fake() -> AnsweringFake:
    return AnsweringFake(_words_of_telegram, key=lambda request: request.headers["idempotency-key"])
