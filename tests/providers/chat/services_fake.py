"""Chat services on one server: an address, a refusal and a success of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import orjson

from providers.chat.answers import NO_CODE, WECOM_GONE
from providers.chat.services import SERVICES
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
    "matrix": Case(
        address=f"matrixs://{MATTERMOST_HOOK}@hooks.example.com/?mode=hookshot",
        origin="https://hooks.example.com",
        target=f"/webhook/{MATTERMOST_HOOK}",
        contains=('"username":"Shop"', "<strong>Order</strong><br>It is ready"),
    ),
    "zulip": Case(
        address=f"zulip://news@acme/{MATTERMOST_HOOK}/general",
        origin="https://acme.zulipchat.com",
        target="/api/v1/messages",
        contains=('"topic":"Order"', '"type":"stream"', '"to":"general"'),
    ),
    "nextcloud talk": Case(
        address="nctalks://news:appPassword12@cloud.example.com/room2345",
        origin="https://cloud.example.com",
        target="/ocs/v2.php/apps/spreed/api/v1/chat/room2345",
    ),
    "lark": Case(
        address="lark://643e69f8-3c89-44aa-b7c1",
        origin="https://open.larksuite.com",
        target="/open-apis/bot/v2/hook/643e69f8-3c89-44aa-b7c1",
        contains=('"msg_type":"text"',),
    ),
    "feishu": Case(
        address="feishu://643e69f8-3c89-44aa-b7c1",
        origin="https://open.feishu.cn",
        target="/open-apis/bot/v2/hook/643e69f8-3c89-44aa-b7c1/",
        contains=('"msg_type":"text"',),
    ),
    "dingtalk": Case(
        address=f"dingtalk://{MATTERMOST_HOOK}",
        origin="https://oapi.dingtalk.com",
        target=f"/robot/send?access_token={MATTERMOST_HOOK}",
        contains=('"isAtAll":false',),
    ),
    "wecom": Case(
        address="wecombot://643e69f8-3c89-44aa-b7c1",
        origin="https://qyapi.weixin.qq.com",
        target="/cgi-bin/webhook/send?key=643e69f8-3c89-44aa-b7c1",
    ),
    "line": Case(
        address="line://abcdef%2Fghi%2Bjkl%3D/U4af4980629",
        origin="https://api.line.me",
        target="/v2/bot/message/push",
        contains=('"to":"U4af4980629"', '"sender":{"name":"Shop"}'),
    ),
    "viber": Case(
        address="viber://4453b6ac1s345678-e02c5f12174805f9/01234567890A=",
        origin="https://chatapi.viber.com",
        target="/pa/send_message",
        contains=('"receiver":"01234567890A="',),
    ),
    "threema": Case(
        address="threema://*THEGWID@secretOfTheGateway/ABCD1234",
        origin="https://msgapi.threema.ch",
        target="/send_simple",
        contains=('"to":"ABCD1234"', '"from":"*THEGWID"', '"secret":"secretOfTheGateway"'),
    ),
    "pushover": Case(
        address=f"pover://{'u' * 30}@{'a' * 30}",
        origin="https://api.pushover.net",
        target="/1/messages.json",
        contains=(f'"user":"{"u" * 30}"', f'"token":"{"a" * 30}"'),
    ),
    "ntfy": Case(
        address="ntfy://orders-of-ada-815",
        origin="https://ntfy.sh",
        target="/",
        contains=('"topic":"orders-of-ada-815"',),
    ),
    "ntfy server": Case(
        address="ntfys://tk_abcdefabcdef@ntfy.example.com/orders-of-ada",
        origin="https://ntfy.example.com",
        target="/",
        contains=('"topic":"orders-of-ada"',),
    ),
    "gotify": Case(
        address="gotifys://push.example.com/Aabcdefghijklmn",
        origin="https://push.example.com",
        target="/message",
        contains=('"priority":5',),
    ),
}


def fields(case: Case, body: bytes) -> dict[str, Any]:
    """Return what a request carries: JSON, or a form."""
    if SERVICES[case.scheme].is_form:
        return dict(parse_qsl(body.decode(), strict_parsing=True))
    found: dict[str, Any] = orjson.loads(body)
    return found


def _errcode(code: str, number: int) -> dict[str, object]:
    words = f"{WECOM_GONE}, hint: [1]" if code == WECOM_GONE else "No"
    return {"errcode": 93000 if code == WECOM_GONE else number, "errmsg": words}


_REFUSES_BY_200: Mapping[str, Callable[[str, int], object]] = {
    "lark": lambda _, number: {"code": number, "msg": "No", "data": {}},
    "feishu": lambda _, number: {"code": number, "msg": "No", "data": {}},
    "dingtalk": _errcode,
    "wecombot": _errcode,
    "viber": lambda _, number: {"status": number, "status_message": "No"},
}


ACCEPTED = ServerAnswer(status=200, body=b'{"code": 0, "errcode": 0, "status": 0}')
"""A success of each service."""


def refusal(scheme: str, code: str) -> ServerAnswer:
    """How a service says a code: a bare HTTP status, or a body in its own words."""
    if code.isdigit() and len(code) == 3:
        return ServerAnswer(status=int(code))
    number = int(code) if code.lstrip("-").isdigit() else 0
    if code == NO_CODE:
        return ServerAnswer(status=200, body=b"<html>")
    if scheme in _REFUSES_BY_200:
        return _json(200, _REFUSES_BY_200[scheme](code, number))
    if scheme == "slack":
        return _json(200, {"ok": False, "error": code})
    bodies = {
        "discord": {"code": number, "message": "No"},
        "tgram": {"ok": False, "error_code": 400, "description": f"Forbidden: {code}"},
        "gchat": {"error": {"code": 400, "message": "No", "status": code}},
        "workflow": {"error": {"code": code, "message": "No"}},
        "workflows": {"error": {"code": code, "message": "No"}},
        "mmosts": {"id": code, "message": "No", "status_code": 400},
        "zulip": {"result": "error", "msg": "No", "code": code, "retry-after": 7},
        "line": {"message": f"{code} (line: -, column: -)"},
        "pover": {code.partition(" ")[0]: "invalid", "errors": ["No"], "status": 0},
        "ntfy": {"code": number, "http": 400, "error": "No"},
        "ntfys": {"code": number, "http": 400, "error": "No"},
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
