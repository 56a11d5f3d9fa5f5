"""AWS on a real socket: checks each request as AWS does, with botocore's own knowledge.

The signature is computed again by botocore's signer, and a JSON body is held to the service model.
What does not fit is refused, and kept in `complaints`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import cache
from typing import Any, ClassVar, Protocol
from urllib.parse import parse_qsl
from uuid import uuid4

import orjson
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.session import Session
from botocore.validate import ParamValidator

from providers.conformance import Act
from providers.sandbox_server.wire import Connection, ServerAnswer, ServerRequest
from tests.providers.fakes import Listener, cut, never

KEY_ID = "AKIDEXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
TOKEN = "a-session-token-of-one-hour"
REGION = "eu-west-1"
ACCOUNT = {"region": REGION, "access_key_id": KEY_ID, "secret_access_key": SECRET}
TOPIC = "arn:aws:sns:eu-west-1:123456789012:events"

# botocore logs canonical requests and bodies when the fake checks them; that log is not ours.
logging.getLogger("botocore").setLevel(logging.INFO)


@cache
def model(service: str) -> Any:  # noqa: ANN401 - botocore has no types
    return Session().get_service_model(service)


def complaints(service: str, operation: str, fields: object) -> str:
    """What botocore's model says against the arguments of a call; empty: nothing."""
    shape = model(service).operation_model(operation).input_shape
    return str(ParamValidator().validate(fields, shape).generate_report())


def signature(request: ServerRequest, *, url: str, service: str, token: str = "") -> str:
    """What botocore would have written into Authorization for this request."""
    signed = request.headers["authorization"].split("SignedHeaders=")[1].split(",")[0]
    again = AWSRequest(
        method=request.method,
        url=url,
        headers={name: request.headers[name] for name in signed.split(";") if name != "host"},
        data=request.body,
    )
    again.context["timestamp"] = request.headers["x-amz-date"]
    signer = SigV4Auth(Credentials(KEY_ID, SECRET, token or None), service, REGION)
    canonical = signer.canonical_request(again)
    digest = signer.signature(signer.string_to_sign(again, canonical), again)
    return (
        f"AWS4-HMAC-SHA256 Credential={signer.scope(again)}, "
        f"SignedHeaders={signed}, Signature={digest}"
    )


class Speaker(Protocol):
    """One service's protocol."""

    signing_name: str

    def keys(self, request: ServerRequest) -> list[str]: ...
    def complaints(self, request: ServerRequest) -> str: ...
    def accept(self, request: ServerRequest) -> ServerAnswer: ...
    def refuse(self, act: Act) -> ServerAnswer: ...


class AwsFake:
    """A service that misbehaves on demand; `answer`, when set, is what ACCEPT answers."""

    retry_after: timedelta | None = None

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._act = Act.ACCEPT
        self.requests: list[ServerRequest] = []
        self.complaints: list[str] = []
        self.answer: Callable[[ServerRequest], ServerAnswer] | None = None
        self._listener = Listener(lambda: Connection(self._handle))
        self.url = f"http://127.0.0.1:{self._listener.port}"
        self.start, self.stop = self._listener.start, self._listener.stop

    @property
    def keys(self) -> list[str]:
        return [key for request in self.requests for key in self._speaker.keys(request)]

    def act(self, act: Act) -> None:
        self._act = act

    def close(self) -> None:
        self._listener.close()
        assert self.complaints == []

    def _handle(self, request: ServerRequest) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        self.requests.append(request)
        self._check(request)
        match self._act:
            case Act.HANG:
                return never()
            case Act.CUT:
                return cut()
            case Act.ACCEPT:
                return (self.answer or self._speaker.accept)(request)
            case act:
                return self._speaker.refuse(act)

    def _check(self, request: ServerRequest) -> None:
        url = self.url + request.target
        expected = signature(request, url=url, service=self._speaker.signing_name)
        if request.headers["authorization"] != expected:
            self.complaints.append("the signature is wrong")
        if said := self._speaker.complaints(request):
            self.complaints.append(said)


class SesSpeaker:
    """REST-JSON: the code of a refusal is in a header, the body has the message alone."""

    signing_name = "ses"
    operations: ClassVar = {
        "/v2/email/outbound-emails": "SendEmail",
        "/v2/email/outbound-bulk-emails": "SendBulkEmail",
    }

    def keys(self, request: ServerRequest) -> list[str]:
        said = orjson.loads(request.body or b"{}")
        lines = said.get("BulkEmailEntries", [{"ReplacementTags": said.get("EmailTags", [])}])
        return [tag["Value"] for line in lines for tag in line["ReplacementTags"]]

    def complaints(self, request: ServerRequest) -> str:
        if request.method == "GET":
            return ""
        said = orjson.loads(request.body)
        if len(said.get("BulkEmailEntries", [])) > 50:
            return "more than 50 entries"  # the model does not know
        return complaints("sesv2", self.operations[request.path], said)

    def accept(self, request: ServerRequest) -> ServerAnswer:
        said = orjson.loads(request.body)
        if "BulkEmailEntries" not in said:
            return json_answer({"MessageId": str(uuid4())})
        lines = [{"Status": "SUCCESS", "MessageId": key} for key in self.keys(request)]
        return json_answer({"BulkEmailEntryResults": lines})

    def refuse(self, act: Act) -> ServerAnswer:
        code, status = {
            Act.REJECT: ("MessageRejected", 400),
            Act.THROTTLE: ("TooManyRequestsException", 429),
            Act.UNAVAILABLE: ("ServiceUnavailable", 503),
            Act.BAD_CREDENTIALS: ("UnrecognizedClientException", 403),
        }[act]
        return self.error(code, status=status, message="Refused: maria@mailbox.example")

    @staticmethod
    def error(code: str, *, status: int = 400, message: str = "why") -> ServerAnswer:
        kind = ("x-amzn-ErrorType", f"{code}:http://internal.amazon.com/coral/")
        return json_answer({"message": message}, status=status, headers=(kind,))


class EumSpeaker:
    """JSON 1.0: the operation is in a header, the code of a refusal in the body."""

    signing_name = "sms-voice"

    def keys(self, request: ServerRequest) -> list[str]:
        context = orjson.loads(request.body).get("Context", {})
        return [context["delivery_id"]] if context else []

    def complaints(self, request: ServerRequest) -> str:
        prefix, _, operation = request.headers["x-amz-target"].partition(".")
        if prefix != model("pinpoint-sms-voice-v2").metadata["targetPrefix"]:
            return f"target {prefix}"
        return complaints("pinpoint-sms-voice-v2", operation, orjson.loads(request.body))

    def accept(self, request: ServerRequest) -> ServerAnswer:
        del request
        return json_answer({"MessageId": str(uuid4())})

    def refuse(self, act: Act) -> ServerAnswer:
        code, status = {
            Act.REJECT: ("ValidationException", 400),
            Act.THROTTLE: ("ThrottlingException", 400),
            Act.UNAVAILABLE: ("InternalServerException", 500),
            Act.BAD_CREDENTIALS: ("UnrecognizedClientException", 400),
        }[act]
        return self.error(code, status=status, message="Refused: +14155550100")

    @staticmethod
    def error(
        code: str, *, status: int = 400, reason: str = "", message: str = "why"
    ) -> ServerAnswer:
        said = {"__type": f"com.amazonaws.sms#{code}", "Message": message}
        return json_answer(said | ({"Reason": reason} if reason else {}), status=status)


class SnsSpeaker:
    """The query protocol: a form in, XML out."""

    signing_name = "sns"

    def keys(self, request: ServerRequest) -> list[str]:
        return [dict(parse_qsl(request.body.decode()))["PhoneNumber"]]

    def complaints(self, request: ServerRequest) -> str:
        del request
        return ""  # the bytes are held to botocore's serializer in a test of their own

    def accept(self, request: ServerRequest) -> ServerAnswer:
        del request
        return xml_answer(f"<PublishResult><MessageId>{uuid4()}</MessageId></PublishResult>")

    def refuse(self, act: Act) -> ServerAnswer:
        code, status = {
            Act.REJECT: ("InvalidParameter", 400),
            Act.THROTTLE: ("Throttling", 400),
            Act.UNAVAILABLE: ("InternalError", 500),
            Act.BAD_CREDENTIALS: ("InvalidClientTokenId", 403),
        }[act]
        return self.error(code, status=status, message="PhoneNumber: +14155550100")

    @staticmethod
    def error(code: str, *, status: int = 400, message: str = "why") -> ServerAnswer:
        said = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
        return xml_answer(f"<ErrorResponse>{said}</ErrorResponse>", status=status)


def environ(vendor: str) -> dict[str, str]:
    """The account's settings, of a vendor such as `AWS_SNS`."""
    return {f"NOTIFY_{vendor}_{field.upper()}": value for field, value in ACCOUNT.items()}


def json_answer(
    said: object, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
) -> ServerAnswer:
    return ServerAnswer(status=status, body=orjson.dumps(said), headers=headers)


def xml_answer(said: str, *, status: int = 200) -> ServerAnswer:
    return ServerAnswer(status=status, body=said.encode(), content_type="text/xml")
