"""FCM's OAuth access token: fetched with the service account, renewed in time.

    0 min                                        50 min         59 min   60 min
    |-- current() returns it --------------------|-- renewal ---|--------|
                                                 in the background; at 59 min the caller
                                                                waits

One renewal runs at a time; each renewal ends in time, because the call goes over the transport with
a deadline. firebase-admin writes the signed assertion and reads the answer; the first use of a
token in a process imports firebase-admin, because the import costs 19 MiB. google-auth would repeat
a failed call up to three times and sleep in between, so an answer without a token never reaches
google-auth.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final, cast

from providers import clock, configuration, http_outcomes
from providers.contract import Misconfigured, Throttled, Unavailable
from providers.push import keys
from providers.push.renewal import NoToken
from providers.transport import Failure, Reply, Request, Response, Transport

SCOPE: Final = "https://www.googleapis.com/auth/firebase.messaging"

RENEW_AHEAD: Final = timedelta(minutes=10)
"""Google's tokens live for an hour: time for many attempts before a caller has to wait."""

LAST_USE: Final = timedelta(minutes=1)
"""Time before the token's end at which the token is no longer used: clocks differ, and a call takes
time."""

PAUSE: Final = timedelta(seconds=10)
"""Time between two background attempts."""

SOONEST: Final = timedelta(minutes=1)
"""A token younger than the limit is not renewed after FCM's refusal, because a new token would be
refused too."""

TIMEOUT: Final = timedelta(seconds=10)
"""Timeout of one call to Google's token endpoint, within the caller's time."""

_OK: Final = 200


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """Google's JSON key file, checked."""

    project_id: str
    info: Mapping[str, str] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> ServiceAccount:
        """Read the JSON, or the file of a path.

        Raises:
            ValueError: the text is malformed.
        """
        try:
            info = json.loads(keys.text_or_file(text, opening="{"))
        except json.JSONDecodeError:
            raise ValueError("is invalid JSON") from None
        if not isinstance(info, dict) or info.get("type") != "service_account":
            raise ValueError('is not a service account key: "type" must be "service_account"')
        for name in ("project_id", "client_email", "private_key", "token_uri"):
            if not isinstance(info.get(name), str) or not info[name]:
                raise ValueError(f'has no "{name}"')
        configuration.http_url(info["token_uri"])
        if not keys.is_rsa_pem(info["private_key"]):
            raise ValueError('the value of "private_key" is not an RSA key in PEM')
        return cls(project_id=info["project_id"], info=info)


@dataclass(frozen=True, slots=True)
class _Held:
    token: str
    fetched_at: datetime
    expires_at: datetime


class AccessTokens:
    """See `renewal.Tokens`. Thread-safe."""

    def __init__(self, account: ServiceAccount, *, transport: Transport, now: clock.Clock) -> None:
        """Contact no server before the first use."""
        self._account = account
        self._transport = transport
        self._now = now
        self._credential: Any = None  # of a package without types
        self._held: _Held | None = None
        self._renewing = Lock()
        self._not_before = datetime.min.replace(tzinfo=UTC)

    def current(self, *, deadline: timedelta) -> str:
        """See `renewal.Tokens.current`."""
        held, now = self._held, self._now()
        if held is None or held.expires_at - now <= LAST_USE:
            return self._renew(refused="", deadline=deadline)
        if held.expires_at - now <= RENEW_AHEAD and now >= self._not_before:
            self._renew_behind(held)
        return held.token

    def renew(self, refused: str, *, deadline: timedelta) -> str:
        """See `renewal.Tokens.renew`."""
        held = self._held
        if held and held.token == refused and self._now() - held.fetched_at < SOONEST:
            return refused
        return self._renew(refused=refused, deadline=deadline)

    def _renew(self, *, refused: str, deadline: timedelta) -> str:
        began = monotonic()
        if not self._renewing.acquire(timeout=max(0.0, deadline.total_seconds())):
            raise NoToken(Unavailable(code="token_timeout"))
        try:
            held = self._held
            if held and held.token != refused and held.expires_at - self._now() > LAST_USE:
                return held.token  # another thread was quicker
            left = deadline - timedelta(seconds=monotonic() - began)
            self._held = held = self._fetch(deadline=left)
            return held.token
        finally:
            self._renewing.release()

    def _renew_behind(self, held: _Held) -> None:
        self._not_before = self._now() + PAUSE

        def renew() -> None:
            try:
                self._renew(refused=held.token, deadline=TIMEOUT)
            except NoToken:
                return  # the next caller tries again; the last of them will tell why it fails

        Thread(target=renew, name="fcm-token", daemon=True).start()

    def _fetch(self, *, deadline: timedelta) -> _Held:
        if self._credential is None:
            from firebase_admin import credentials  # noqa: PLC0415 - see the module

            certificate = credentials.Certificate(dict(self._account.info))
            self._credential = certificate.get_credential().with_scopes([SCOPE])
        fetched_at = self._now()
        self._credential.refresh(_Call(self._transport, deadline=min(deadline, TIMEOUT)))
        expires_at = cast("datetime", self._credential.expiry).replace(tzinfo=UTC)
        return _Held(cast("str", self._credential.token), fetched_at, expires_at)


@dataclass(frozen=True, slots=True)
class _Answer:
    """The attributes of a response for google-auth."""

    status: int
    data: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class _Call:
    """The network transport for google-auth: a call with a deadline, no repetition."""

    def __init__(self, transport: Transport, *, deadline: timedelta) -> None:
        self._transport = transport
        self._deadline = deadline

    def __call__(
        self,
        url: str,
        *,
        method: str,
        body: bytes,
        headers: Mapping[str, str],
        **_ignored: object,
    ) -> _Answer:
        del method  # POST: a token is asked for in no other way
        request = Request(url=url, headers=[f"{k}: {v}" for k, v in headers.items()], body=body)
        ((_index, reply),) = self._transport.send([request], deadline=self._deadline)
        if not isinstance(reply, Response) or reply.status != _OK:
            raise NoToken(_why(reply))
        if not _is_token(reply.body):  # google-auth would stumble over it
            raise NoToken(Unavailable(code="token_malformed"))
        return _Answer(reply.status, reply.body)


def _is_token(body: bytes) -> bool:
    try:
        match json.loads(body):
            case {"access_token": str(), "expires_in": int()}:
                return True
            case _:
                return False
    except ValueError:
        return False


def _why(reply: Reply) -> Unavailable | Throttled | Misconfigured:
    """Judge a refusal: no message was sent, and no message is at fault."""
    if isinstance(reply, Failure):
        return Unavailable(code=f"token_{reply.code}")
    code, detail = f"token_{reply.status}", http_outcomes.excerpt(reply.body, hide="")
    match http_outcomes.of_status(reply, detail=detail):
        case Unavailable(retry_after=after):
            return Unavailable(code=code, detail=detail, retry_after=after)
        case Throttled(retry_after=after):
            return Throttled(code=code, detail=detail, retry_after=after)
        case _:  # 400 invalid_grant: the key was deleted, or the local clock is wrong
            return Misconfigured(code=code, detail=detail)
