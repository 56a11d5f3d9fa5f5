"""Firebase Cloud Messaging, HTTP v1: Android, and iOS and browsers through Firebase.

    POST {url}/v1/projects/{project}/messages:send  ->  200 {"name": "projects/p/messages/ID"}

One call for each message (FCM has no batch call any more), many at once on one HTTP/2 connection.
FCM's error code is in `error.details` of FCM's own type, not in `error.status`: 404 without a code
is a wrong path, 404 with UNREGISTERED is a gone device. INVALID_ARGUMENT has many causes; the
address is dead only if the error names the registration token.

Sources: https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode,
https://firebase.google.com/docs/cloud-messaging/error-codes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import orjson

from providers import clock, configuration, http_outcomes, rounds, verdicts
from providers.configuration import parse_with
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Outcome,
    Pace,
    Repeat,
    Result,
)
from providers.push import fcm_body, renewal
from providers.push.fcm_token import AccessTokens, ServiceAccount
from providers.transport import Failure, Reply, Request, Response, Transport
from providers.vendor import OneWay, Vendor
from providers.verdicts import Verdict

NAME: Final = "fcm"

ADDRESS_KINDS: Final = frozenset({"fcm_token", "fcm_fid"})
"""Registration token, or Firebase installation id."""

PER_SECOND: Final = 10_000
"""600,000 a minute for a project.
https://firebase.google.com/docs/cloud-messaging/scale-fcm"""

QUOTA_PAUSE: Final = timedelta(minutes=1)
"""Least wait after QUOTA_EXCEEDED without a Retry-After (ErrorCode page)."""

LOOKED_AT: Final = frozenset({200, 400})
"""Statuses after which the login is known to work, because FCM looked at the message."""

STALE: Final = "UNAUTHENTICATED"
"""Code of a 401 without FCM's own code: the access token is stale."""

BAD_ADDRESS: Final = "INVALID_ARGUMENT.token"
"""A local code: INVALID_ARGUMENT about the registration token."""

TABLE: Final[verdicts.Table] = {
    # errorCode of the FcmError in `details`: the ErrorCode page
    "UNREGISTERED": Verdict.DEAD,
    # The token is of another Firebase project; if all are, the service account is.
    "SENDER_ID_MISMATCH": Verdict.DEAD_OR_MISCONFIGURED,
    BAD_ADDRESS: Verdict.DEAD,
    "INVALID_ARGUMENT": Verdict.REJECTED,
    "QUOTA_EXCEEDED": Verdict.THROTTLED,
    "UNAVAILABLE": Verdict.UNAVAILABLE,
    "INTERNAL": Verdict.UNAVAILABLE,
    # The project lacks a good APNs or VAPID key: for iOS or browsers only, Android is sent to.
    "THIRD_PARTY_AUTH_ERROR": Verdict.REJECTED_OR_MISCONFIGURED,
    "APNS_AUTH_ERROR": Verdict.REJECTED_OR_MISCONFIGURED,  # its former name
    # `status` of answers without one: google.rpc.Code
    STALE: Verdict.MISCONFIGURED,
    "PERMISSION_DENIED": Verdict.MISCONFIGURED,
    "RESOURCE_EXHAUSTED": Verdict.THROTTLED,
    "DEADLINE_EXCEEDED": Verdict.UNAVAILABLE,
    "CANCELLED": Verdict.UNAVAILABLE,  # HTTP 499; a repeat is hidden
    "NOT_FOUND": Verdict.MISCONFIGURED,  # the project, or the path: a device has an FcmError
    # HTTP status of an answer without either
    "404": Verdict.MISCONFIGURED,
}
"""The HTTP status decides for UNSPECIFIED_ERROR and for unknown codes."""

_FCM_ERROR: Final = "type.googleapis.com/google.firebase.fcm.v1.FcmError"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_FCM_*`."""

    credentials: ServiceAccount = field(repr=False, metadata=parse_with(ServiceAccount.parse))
    """The service account's JSON key, or the path of the file; the key names the project too."""
    url: str = field(
        default="https://fcm.googleapis.com", metadata=parse_with(configuration.http_url)
    )
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    """The project's quota."""
    codes: verdicts.Table = field(default_factory=dict, metadata=parse_with(verdicts.overrides))


class Fcm(OneWay):
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(
        self, config: Config, *, transport: Transport, now: clock.Clock = clock.now
    ) -> None:
        """Store the settings; the first `send` connects."""
        self.capabilities: Final = Capabilities(
            marks_begin=True,
            channels=frozenset({Channel.PUSH}),
            repeat=Repeat.HIDDEN,
            gives_receipts=False,
            pace=Pace.even(config.per_second),
            address_kinds=ADDRESS_KINDS,
            withdraws=True,
        )
        self._transport = transport
        self._now = now
        self._codes = config.codes
        self._url = f"{config.url}/v1/projects/{config.credentials.project_id}/messages:send"
        self._tokens = AccessTokens(config.credentials, transport=transport, now=now)

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        return renewal.send(
            batch,
            attempt=self._attempt,
            tokens=self._tokens,
            stale_code=STALE,
            deadline=deadline,
        )

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """Get a token, and have FCM validate a test message: see `Provider.check`."""
        try:
            token = self._tokens.current(deadline=deadline)
        except renewal.NoToken as error:
            detail = f"no access token: {error.outcome.code} {error.outcome.detail}"
            yield Finding(subject="credentials", is_good=False, detail=detail)
            return
        yield Finding(subject="credentials", is_good=True, detail="Google gave an access token")
        probe = orjson.dumps({"validate_only": True, "message": {"token": "none"}})
        request = Request(url=self._url, headers=_headers(token), body=probe)
        for _index, reply in self._transport.send([request], deadline=deadline):
            if isinstance(reply, Failure):
                yield http_outcomes.reachability(reply)
                return
            detail = f"HTTP {reply.status} {_code(reply)}".rstrip()
            yield Finding(subject="project", is_good=reply.status in LOOKED_AT, detail=detail)

    def _attempt(
        self, batch: Sequence[Message], token: str, deadline: timedelta
    ) -> Iterator[Result]:
        now, headers = self._now(), _headers(token)

        def prepare(message: Message) -> Request:
            body = fcm_body.encode(message, now=now)
            return Request(url=self._url, headers=headers, body=body)

        return rounds.send_one_request_each(
            batch,
            prepare=prepare,
            judge=partial(_judge, codes=self._codes),
            transport=self._transport,
            deadline=deadline,
        )


def _headers(token: str) -> list[str]:
    return [
        "Authorization: Bearer " + token,
        "Content-Type: application/json",
        "X-GOOG-API-FORMAT-VERSION: 2",
    ]


def _judge(reply: Reply, message: Message, *, codes: verdicts.Table) -> Outcome:
    if not isinstance(reply, Response) or reply.status < HTTPStatus.BAD_REQUEST:
        return http_outcomes.outcome_of(reply, accepted=_outcome_of_success, hide=message.address)
    code = _code(reply) or str(reply.status)
    verdict = verdicts.look_up(code, TABLE, codes)
    if verdict is None:
        return http_outcomes.outcome_of(reply, accepted=_outcome_of_success, hide=message.address)
    after = reply.retry_after
    if verdict is Verdict.THROTTLED:
        after = after or QUOTA_PAUSE
    detail = http_outcomes.excerpt(reply.body, hide=message.address)
    return verdicts.outcome(verdict, code=code, detail=detail, retry_after=after)


def _code(response: Response) -> str:
    """Read the error: FcmError's code, else the status' name; "" without either."""
    try:
        error: Any = orjson.loads(response.body)["error"]
        details = error.get("details", [])
        said = [each["errorCode"] for each in details if each.get("@type") == _FCM_ERROR]
        if not said:
            return str(error.get("status", ""))
        if said[0] == "INVALID_ARGUMENT" and _is_about_token(error):
            return BAD_ADDRESS
        return str(said[0])
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""  # an error page of some machine on the way


def _is_about_token(error: Any) -> bool:  # noqa: ANN401 - JSON
    """Return True for "The registration token is not a valid FCM registration token".

    An installation id (`fid`) is an address too.
    """
    fields = [
        violation.get("field")
        for each in error["details"]
        for violation in each.get("fieldViolations", [])
    ]
    about_address = not {"message.token", "message.fid"}.isdisjoint(fields)
    return about_address or "registration token" in str(error.get("message", ""))


def _outcome_of_success(response: Response) -> Outcome:
    try:
        return Accepted(message_id=str(orjson.loads(response.body)["name"]))
    except (ValueError, KeyError, TypeError):
        return Accepted()  # a 2xx is the promise


VENDOR: Final = Vendor(NAME, Config, Fcm)
