"""FCM, APNs, Expo and a Web Push service as their documents describe them: HTTP/2 over TLS."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson

from providers.conformance import Act
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from tests.providers.fakes import cut, never
from tests.providers.push.http2 import Http2Server

FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"


class PushFake:
    """The seven acts; a vendor says how it answers each, and what it knows a repeat by."""

    retry_after: timedelta | None = timedelta(seconds=90)

    def __init__(self, *, certificate: Path) -> None:
        self._act = Act.ACCEPT
        self.requests: list[ServerRequest] = []
        """Messages that it read."""
        self.script: list[ServerAnswer] = []
        """Answers to give before the act decides."""
        self._server = Http2Server(self.serve, certificate=certificate)
        self.url = self._server.url
        self.counts = self._server.counts
        self.start, self.stop, self.close = (
            self._server.start,
            self._server.stop,
            self._server.close,
        )

    @property
    def keys(self) -> list[str]:
        return [self.key(request) for request in self.requests]

    def act(self, act: Act) -> None:
        self._act = act

    def serve(self, request: ServerRequest) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        self.requests.append(request)
        if self.script:
            return self.script.pop(0)
        match self._act:
            case Act.HANG:
                return never()
            case Act.CUT:
                return cut()
            case act:
                return self.answer(act, request)

    def key(self, request: ServerRequest) -> str:
        raise NotImplementedError

    def answer(self, act: Act, request: ServerRequest) -> ServerAnswer:
        raise NotImplementedError


def fcm_error(
    status: int, name: str, *, code: str = "", message: str = "", **more: str
) -> ServerAnswer:
    """Make an error as FCM words it; `code` is the FcmError's, `field` a violation's."""
    details: list[dict[str, Any]] = [{"@type": FCM_ERROR, "errorCode": code}] if code else []
    if "field" in more:
        violation = {"field": more["field"], "description": "Invalid"}
        details.append({"@type": BAD_REQUEST, "fieldViolations": [violation]})
    error = {"code": status, "message": message, "status": name, "details": details}
    headers = (("Retry-After", more["retry_after"]),) if "retry_after" in more else ()
    return ServerAnswer(status=status, body=orjson.dumps({"error": error}), headers=headers)


class FcmFake(PushFake):
    """messages:send, and Google's token endpoint at /token."""

    def __init__(self, *, certificate: Path) -> None:
        super().__init__(certificate=certificate)
        self.token_calls: list[ServerRequest] = []
        self.token_script: list[ServerAnswer | Awaitable[ServerAnswer | None]] = []
        self.lifetime = timedelta(hours=1)

    def serve(self, request: ServerRequest) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        if request.path != "/token":
            return super().serve(request)
        self.token_calls.append(request)
        if self.token_script:
            return self.token_script.pop(0)
        body = {
            "access_token": f"ya29.token-{len(self.token_calls)}",
            "expires_in": int(self.lifetime.total_seconds()),
            "token_type": "Bearer",
        }
        return ServerAnswer(status=200, body=orjson.dumps(body))

    def key(self, request: ServerRequest) -> str:
        return str(orjson.loads(request.body)["message"]["android"]["notification"]["tag"])

    def answer(self, act: Act, request: ServerRequest) -> ServerAnswer:
        token = orjson.loads(request.body)["message"]["token"]
        match act:
            case Act.REJECT:
                return fcm_error(404, "NOT_FOUND", code="UNREGISTERED", message=f"{token} is gone")
            case Act.THROTTLE:
                return fcm_error(429, "RESOURCE_EXHAUSTED", code="QUOTA_EXCEEDED", retry_after="90")
            case Act.UNAVAILABLE:
                return fcm_error(503, "UNAVAILABLE", code="UNAVAILABLE")
            case Act.BAD_CREDENTIALS:
                return fcm_error(401, "UNAUTHENTICATED", message="Invalid credentials.")
            case _:
                return ServerAnswer(status=200, body=b'{"name": "projects/shop/messages/1"}')


class ApnsFake(PushFake):
    """/3/device/{token}."""

    def key(self, request: ServerRequest) -> str:
        return request.headers["apns-collapse-id"]

    def answer(self, act: Act, request: ServerRequest) -> ServerAnswer:
        del request
        match act:
            case Act.REJECT:
                return apns_error(410, "Unregistered", timestamp=1_764_000_000_000)
            case Act.THROTTLE:
                return apns_error(429, "TooManyRequests", retry_after="90")
            case Act.UNAVAILABLE:
                return apns_error(503, "ServiceUnavailable")
            case Act.BAD_CREDENTIALS:
                return apns_error(403, "InvalidProviderToken")
            case _:
                return ServerAnswer(status=200)


def apns_error(
    status: int, reason: str, *, timestamp: int | None = None, retry_after: str = ""
) -> ServerAnswer:
    """Make an error as Apple words it."""
    body: dict[str, object] = {"reason": reason}
    if timestamp is not None:
        body["timestamp"] = timestamp
    headers = (("Retry-After", retry_after),) if retry_after else ()
    return ServerAnswer(status=status, body=orjson.dumps(body), headers=headers)


class WebPushFake(PushFake):
    """A push service with one subscription."""

    def key(self, request: ServerRequest) -> str:
        return request.headers["topic"]

    def answer(self, act: Act, request: ServerRequest) -> ServerAnswer:
        status = {
            Act.ACCEPT: 201,
            Act.REJECT: 410,
            Act.THROTTLE: 429,
            Act.UNAVAILABLE: 503,
            Act.BAD_CREDENTIALS: 401,
        }[act]
        headers = (("Retry-After", "90"),) if act is Act.THROTTLE else ()
        echo = b"" if status == 201 else f"{self.url}{request.path} says no".encode()
        return ServerAnswer(status=status, body=echo, headers=headers)


class ExpoFake(PushFake):
    """push/send and push/getReceipts of Expo."""

    def __init__(self, *, certificate: Path) -> None:
        super().__init__(certificate=certificate)
        self.projects: dict[str, str] = {}
        """Project of a token; another token belongs to `@shop/app`."""
        self.malformed: set[str] = set()
        """Tokens for which a request is refused as a whole."""
        self.receipts: dict[str, object] = {}
        """Receipt of a ticket; another ticket has no receipt yet."""

    @property
    def sent(self) -> list[list[dict[str, Any]]]:
        """The messages of each request."""
        return [orjson.loads(each.body) for each in self.requests if each.path.endswith("/send")]

    @property
    def keys(self) -> list[str]:
        return [each["data"]["delivery_id"] for part in self.sent for each in part]

    def answer(self, act: Act, request: ServerRequest) -> ServerAnswer:
        match act:
            case Act.THROTTLE:
                return expo_error(429, "TOO_MANY_REQUESTS", retry_after="90")
            case Act.UNAVAILABLE:
                return expo_error(503, "INTERNAL_SERVER_ERROR")
            case Act.BAD_CREDENTIALS:
                return expo_error(401, "UNAUTHORIZED")
            case _ if request.path.endswith("/getReceipts"):
                return self._receipts(orjson.loads(request.body)["ids"])
            case _:
                return self._tickets(act, orjson.loads(request.body))

    def _receipts(self, tickets: list[str]) -> ServerAnswer:
        if len(tickets) > 1_000:
            return expo_error(400, "PUSH_TOO_MANY_RECEIPTS")
        known = {each: self.receipts[each] for each in tickets if each in self.receipts}
        return ServerAnswer(status=200, body=orjson.dumps({"data": known}))

    def _tickets(self, act: Act, messages: list[dict[str, Any]]) -> ServerAnswer:
        if len(messages) > 100:
            return expo_error(400, "PUSH_TOO_MANY_NOTIFICATIONS")
        if any(each["to"] in self.malformed for each in messages):
            return expo_error(400, "VALIDATION_ERROR")
        projects: dict[str, list[str]] = {}
        for each in messages:
            projects.setdefault(self.projects.get(each["to"], "@shop/app"), []).append(each["to"])
        if len(projects) > 1:
            return expo_error(400, "PUSH_TOO_MANY_EXPERIENCE_IDS", details=projects)
        if act is Act.REJECT:
            return expo_tickets(
                *(expo_refusal("DeviceNotRegistered", to=each["to"]) for each in messages)
            )
        return expo_tickets(*({"status": "ok", "id": str(uuid4())} for _ in messages))


def expo_refusal(code: str, *, to: str = "") -> dict[str, Any]:
    """Make the ticket of a refused message."""
    said = f'"{to}" is not a registered push notification recipient'
    return {"status": "error", "message": said, "details": {"error": code}}


def expo_tickets(*tickets: object) -> ServerAnswer:
    return ServerAnswer(status=200, body=orjson.dumps({"data": tickets}))


def expo_error(
    status: int, code: str, *, details: object = None, retry_after: str = ""
) -> ServerAnswer:
    """Make the answer to a request that is refused as a whole."""
    error = {"code": code, "message": "No.", **({"details": details} if details else {})}
    headers = (("Retry-After", retry_after),) if retry_after else ()
    return ServerAnswer(status=status, body=orjson.dumps({"errors": [error]}), headers=headers)
