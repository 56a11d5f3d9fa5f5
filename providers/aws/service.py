"""Signed calls to one service, many in flight, and one outcome for each message.

    adapter: messages -> Call (1 or 50 messages) -> Service.deliver -> Answer -> Result

A refusal of a call, or a missing answer, is the outcome of every message of the call: no message
was sent, or sending is uncertain. Only a 2xx answer is read message by message.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from time import monotonic
from typing import Final, Literal
from urllib.parse import quote, urlsplit

from providers import clock, http_outcomes
from providers.aws import credentials, faults
from providers.aws.credentials import Keys, NoKeys
from providers.aws.faults import Judge
from providers.aws.settings import Account
from providers.contract import Accepted, Finding, Message, Outcome, Result, Unanswered
from providers.hmac_sha256 import hmac_sha256
from providers.transport import Failure, Reply, Request, Response, Transport

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class Signer:
    """Signs the requests of one moment: the day's key is derived once for a whole batch.

    Signature Version 4 for requests with a plain path and an empty query.

    botocore's signer is not used, because botocore rebuilds a header map for each request and logs
    the signed text. The tests compare the two signers byte for byte.

    Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
    """

    def __init__(self, keys: Keys, *, region: str, service: str, at: datetime) -> None:
        """Derive the key; `at` is aware, in UTC. AWS takes a request within 15 minutes of `at`."""
        self._keys = keys
        self._stamp = at.strftime("%Y%m%dT%H%M%SZ")
        self._scope = f"{self._stamp[:8]}/{region}/{service}/aws4_request"
        key = b"AWS4" + keys.secret_access_key.encode()
        for part in self._scope.split("/"):
            key = hmac.digest(key, part.encode(), sha256)
        self._key = key

    def sign_headers(
        self, headers: Sequence[str], *, method: str, url: str, body: bytes
    ) -> list[str]:
        """Return all header lines: the given lines, then date, token and signature.

        Each given line is `Name: value`, without repeated spaces.
        """
        lines = [*headers, "X-Amz-Date: " + self._stamp]
        if self._keys.session_token:
            lines.append("X-Amz-Security-Token: " + self._keys.session_token)
        parts = urlsplit(url)
        named = {"host": _host(parts.scheme, parts.hostname or "", parts.port)}
        for line in lines:
            name, _, value = line.partition(":")
            named[name.lower()] = value.strip()
        names = sorted(named)
        signed_names = ";".join(names)
        canonical = "\n".join((
            method,
            quote(parts.path or "/", safe="/~"),
            "",
            *(f"{name}:{named[name]}" for name in names),
            "",
            signed_names,
            sha256(body).hexdigest(),
        ))
        digest = sha256(canonical.encode()).hexdigest()
        to_sign = f"{_ALGORITHM}\n{self._stamp}\n{self._scope}\n{digest}"
        signature = hmac_sha256(self._key, to_sign.encode()).hex()
        credential = f"{self._keys.access_key_id}/{self._scope}"
        lines.append(
            f"Authorization: {_ALGORITHM} Credential={credential}, "
            f"SignedHeaders={signed_names}, Signature={signature}"
        )
        return lines


def _host(scheme: str, host: str, port: int | None) -> str:
    """Return the Host header as libcurl writes the header: without the scheme's default port."""
    host = f"[{host}]" if ":" in host else host
    return host if port in {None, _DEFAULT_PORTS[scheme]} else f"{host}:{port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """Address and protocol of a service."""

    host: str
    """First part of the service's host name: `email`, `sns`, `sms-voice`."""
    signing_name: str
    """Name of the service in the signature: `ses`."""
    content_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsCall:
    """A request with messages."""

    messages: Sequence[Message] = ()
    body: bytes = b""
    path: str = "/"
    headers: Sequence[str] = ()
    """Whole header lines, beside Content-Type."""
    method: Literal["POST", "GET"] = "POST"


Read = Callable[[Response], Sequence[Outcome]]
"""Reads a 2xx answer: an outcome for each message of the call, in the call's order."""
ReadFindings = Callable[[Response], Iterator[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A call without a message, and the reader of the 2xx answer."""

    call: AwsCall
    read: ReadFindings


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsAnswer:
    """The result of a call."""

    call: AwsCall
    outcomes: Sequence[Outcome]
    """In the order of the call's messages."""
    latency: timedelta
    response: Response | None = None
    """The service's answer; None if no answer came."""
    refused: Outcome | None = None
    """Set if the call as a whole failed: the outcome of each message of the call."""

    def results(self) -> Iterator[Result]:
        """Return a result per message."""
        for message, outcome in zip(self.call.messages, self.outcomes, strict=True):
            yield Result(
                delivery_id=message.delivery_id,
                outcome=outcome,
                latency=self.latency,
                own_delay=self.response.own_delay if self.response else timedelta(0),
                http_status=self.response.status if self.response else None,
                retry_after=self.response.retry_after if self.response else None,
            )


_UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError)
"""Errors of reading a body that differs from the service's documentation."""


class AwsService:
    """A service of AWS in a region, with the credentials of an account. Thread-safe."""

    def __init__(
        self,
        account: Account,
        *,
        api: Api,
        judge: Judge,
        transport: Transport,
        now: clock.Clock = clock.now,
    ) -> None:
        """Contact no server before the first call."""
        self._credentials: Final = credentials.of(account)
        self._region: Final = account.region
        self._url: Final = account.endpoint_of(api.host)
        self._api: Final = api
        self._judge: Final = judge
        self._transport: Final = transport
        self._now: Final = now

    def deliver(
        self, calls: Sequence[AwsCall], *, read: Read, deadline: timedelta
    ) -> Iterator[AwsAnswer]:
        """Make all calls within `deadline` and yield each answer on arrival."""
        began = monotonic()
        try:
            requests = self._requests(calls, patience=deadline)
        except NoKeys as error:
            for call in calls:
                yield _whole(call, error.outcome, latency=timedelta(seconds=monotonic() - began))
            return
        waited = timedelta(seconds=monotonic() - began)
        for index, reply in self._transport.send(requests, deadline=deadline - waited):
            yield self._answer(calls[index], reply, read=read, waited=waited)

    def ask(self, questions: Sequence[Question], *, deadline: timedelta) -> Iterator[Finding]:
        """Make a call that sends no message, and return the finding for display."""
        try:
            requests = self._requests([each.call for each in questions], patience=deadline)
        except NoKeys as error:
            yield Finding(subject="credentials", is_good=False, detail=str(error.outcome))
            return
        accepted = False
        for index, reply in self._transport.send(requests, deadline=deadline):
            if not isinstance(reply, Response):
                yield http_outcomes.reachability(reply)
            elif not reply.is_success:
                yield _refusal_finding(reply)
            else:
                if not accepted:
                    yield Finding(subject="credentials", is_good=True, detail="accepted")
                accepted = True
                yield from _findings(reply, read=questions[index].read)

    def _requests(self, calls: Sequence[AwsCall], *, patience: timedelta) -> list[Request]:
        """Sign all calls.

        Raises:
            NoKeys: no credentials are available.
        """
        if not calls:
            return []
        signer = Signer(
            self._credentials.keys(patience=patience),
            region=self._region,
            service=self._api.signing_name,
            at=self._now(),
        )
        return [self._request(call, signer=signer) for call in calls]

    def _request(self, call: AwsCall, *, signer: Signer) -> Request:
        url = self._url + call.path
        lines = [*call.headers, "Content-Type: " + self._api.content_type]
        return Request(
            url=url,
            method=call.method,
            headers=signer.sign_headers(lines, method=call.method, url=url, body=call.body),
            body=call.body,
            wanted_header=faults.ERROR_TYPE,
            urgent=any(message.urgent for message in call.messages),
        )

    def _answer(self, call: AwsCall, reply: Reply, *, read: Read, waited: timedelta) -> AwsAnswer:
        latency = waited + reply.elapsed
        match reply:
            case Failure():
                return _whole(call, http_outcomes.of_failure(reply), latency=latency)
            case Response() if not reply.is_success:
                return _whole(call, self._judge.refusal(reply), latency=latency, response=reply)
            case Response():
                return AwsAnswer(
                    call=call, outcomes=_each(call, read, reply), latency=latency, response=reply
                )


def _each(call: AwsCall, read: Read, response: Response) -> Sequence[Outcome]:
    """Read an accepted answer, even if cut short or different from the documentation."""
    try:
        outcomes = read(response)
    except _UNREADABLE:
        outcomes = ()
    if len(outcomes) == len(call.messages):
        return outcomes
    if len(call.messages) == 1:
        return [Accepted()]  # the 2xx means acceptance; receipts still name the delivery
    return [Unanswered(code="unreadable_answer")] * len(call.messages)


def _findings(response: Response, *, read: ReadFindings) -> Iterator[Finding]:
    try:
        yield from read(response)
    except _UNREADABLE:
        yield Finding(subject="reachability", is_good=False, detail="not an answer of this service")


def _refusal_finding(response: Response) -> Finding:
    fault = faults.parse(response)
    said = f"HTTP {response.status} {fault.code}: {faults.redact(fault.message)}"
    return Finding(subject="credentials", is_good=False, detail=said)


def _whole(
    call: AwsCall, outcome: Outcome, *, latency: timedelta, response: Response | None = None
) -> AwsAnswer:
    outcomes = [outcome] * len(call.messages)
    return AwsAnswer(
        call=call, outcomes=outcomes, latency=latency, response=response, refused=outcome
    )
