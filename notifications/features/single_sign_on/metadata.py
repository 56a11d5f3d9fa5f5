"""The identity provider's endpoints and keys, and the calls to the provider.

The discovery document is read at the first sign-in and kept for an hour, so a process starts while
the provider is away. Calls go to the issuer's host and to the hosts of NOTIFY_OIDC_HOSTS only,
follow no redirect, and end after five seconds.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import orjson

from notifications.core import clock
from notifications.core.rules.single_sign_on import Options
from providers.transport.client import Transport
from providers.transport.exchange import Request, Response

DISCOVERY: Final = "/.well-known/openid-configuration"
_KEPT: Final = dt.timedelta(hours=1)
_DEADLINE: Final = dt.timedelta(seconds=5)
_JSON: Final = "Accept: application/json"
_FORM: Final = "Content-Type: application/x-www-form-urlencoded"


class ProviderUnavailable(Exception):
    """The identity provider gave no usable answer: check the provider and NOTIFY_OIDC_ISSUER."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """URLs of the identity provider, all on allowed hosts."""

    authorization: str
    token: str
    user_info: str
    keys: str
    end_session: str
    """Empty: the provider has no sign-out page."""
    read_at: dt.datetime


_lock = threading.Lock()
_endpoints: dict[str, Endpoints] = {}


def endpoints(options: Options) -> Endpoints:
    """Return the endpoints, read from the discovery document at most once in an hour.

    Raises:
        ProviderUnavailable: no answer, another issuer, a missing endpoint or a host not allowed.
    """
    with _lock:
        known = _endpoints.get(options.issuer)
    if known is not None and clock.now() - known.read_at < _KEPT:
        return known
    fresh = _parse(get_json(options, options.issuer + DISCOVERY), options)
    with _lock:
        _endpoints[options.issuer] = fresh
    return fresh


def forget() -> None:
    """Drop all discovery documents; tests change the provider."""
    with _lock:
        _endpoints.clear()


def get_json(options: Options, url: str, *, headers: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON object at a URL of the identity provider.

    Raises:
        ProviderUnavailable: a host not allowed, no answer, another status, or no JSON object.
    """
    return _object(_call(options, Request(url=url, method="GET", headers=(_JSON, *headers))))


def post_form(options: Options, url: str, form: Mapping[str, str]) -> dict[str, Any]:
    """Post a form to the identity provider; return the JSON object of the answer.

    Raises:
        ProviderUnavailable: as `get_json`.
    """
    body = urlencode(form).encode()
    return _object(_call(options, Request(url=url, headers=(_JSON, _FORM), body=body)))


def _call(options: Options, request: Request) -> bytes:
    _check_host(options, request.url)
    [(_, reply)] = _transport().send([request], deadline=_DEADLINE)
    if not isinstance(reply, Response):
        raise ProviderUnavailable(f"no answer: {reply.code}")
    if not (reply.is_success and reply.complete):
        raise ProviderUnavailable(f"HTTP status {reply.status}")
    return reply.body


def _object(body: bytes) -> dict[str, Any]:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise ProviderUnavailable("the answer is not JSON") from None
    if not isinstance(answer, dict):
        raise ProviderUnavailable("the answer is not a JSON object")
    return answer


def _parse(document: Mapping[str, Any], options: Options) -> Endpoints:
    if str(document.get("issuer", "")).rstrip("/") != options.issuer:
        raise ProviderUnavailable("the discovery document names another issuer")
    names = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
    if missing := [name for name in names if not isinstance(document.get(name), str)]:
        raise ProviderUnavailable(f"the discovery document lacks {', '.join(missing)}")
    found = [str(document[name]) for name in names]
    for url in found[1:]:  # the browser opens the first one, not the service
        _check_host(options, url)
    return Endpoints(
        authorization=found[0],
        token=found[1],
        user_info=found[2],
        keys=found[3],
        end_session=str(document.get("end_session_endpoint") or ""),
        read_at=clock.now(),
    )


def _check_host(options: Options, url: str) -> None:
    parts, issuer = urlsplit(url), urlsplit(options.issuer)
    if parts.hostname not in options.all_hosts:
        raise ProviderUnavailable(f"the host {parts.hostname} is not in NOTIFY_OIDC_HOSTS")
    if parts.scheme not in {"https", issuer.scheme}:
        raise ProviderUnavailable(f"the endpoint on {parts.hostname} has no https URL")


@cache
def _transport() -> Transport:
    return Transport()
