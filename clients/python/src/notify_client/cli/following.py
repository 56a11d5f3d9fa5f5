"""`notify tail` and `notify listen`: the change feed, as lines or as status webhooks.

`listen` calls a URL of this machine, which the service cannot reach, with the body and the
signature of a status webhook. The feed does not have `provider`, `message` and `request_id`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import sys
from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx

from notify_client import Client, _timing
from notify_client.cli import profiles, waiting
from notify_client.cli.faults import Fault
from notify_client.errors import RateLimited, ServiceError
from notify_client.types import StatusChangeLine

_VARIABLE: Final = "NOTIFY_LISTEN_SECRET"
"""Variable with the signing secret: an argument would be in the list of processes."""
_LONGEST_SECONDS: Final = 366 * 24 * 3600
"""The service keeps 90 days by default; a calendar has no instant for much longer times."""
_PAUSE_SECONDS: Final = 2.0
_TIMEOUT_SECONDS: Final = 30.0
_FILTERS: Final = ("user_id", "type", "status", "channel")
_FAILED: Final = frozenset({"failed", "bounced"})
"""Statuses whose event is `notification.failed`."""


def tail(chosen: Namespace) -> int:
    """Print a line for each status change until Ctrl-C."""
    url, key = profiles.access(chosen.profile)
    with Client(url, key, total_timeout=waiting.TOTAL_SECONDS) as client:
        for change in _changes(client, chosen, url=url):
            print(json.dumps(change) if chosen.json else _line(change), flush=True)
    return 0


def listen(chosen: Namespace) -> int:
    """Call a URL for each status change until Ctrl-C."""
    secret = (
        os.environ.get(_VARIABLE) or "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
    )
    key = _key_of(secret)
    url, api_key = profiles.access(chosen.profile)
    limit = waiting.TOTAL_SECONDS
    with (
        Client(url, api_key, total_timeout=limit) as client,
        httpx.Client(timeout=_TIMEOUT_SECONDS) as http,
    ):
        with waiting.told(url):
            producer = client.me()["producer"]
        print(f"Signing secret: {secret}", flush=True)
        for change in _changes(client, chosen, url=url):
            body = json.dumps(_event(change, producer)).encode()
            print(f"{_line(change)} -> {_call(http, chosen.url, body, change, key)}", flush=True)
    return 0


def since(text: str) -> timedelta:
    """Parse a duration such as `30s`, `10m` or `2h`.

    Raises:
        ValueError: the text has another form, or the time is too long.
    """
    units = {"s": 1, "m": 60, "h": 3600}
    try:
        seconds = float(text[:-1]) * units[text[-1:]]
    except (KeyError, ValueError):
        raise ValueError("give seconds, minutes or hours: 30s, 10m or 2h") from None
    if not 0 <= seconds <= _LONGEST_SECONDS:
        raise ValueError(f"give a time of at most {_LONGEST_SECONDS // 3600}h")
    return timedelta(seconds=seconds)


def _changes(client: Client, chosen: Namespace, *, url: str) -> Iterator[StatusChangeLine]:
    """Yield the changes that pass the filters; an outage is told and waited for."""
    query: dict[str, Any] = {"since": datetime.fromtimestamp(_timing.wall(), UTC) - chosen.since}
    while True:
        try:
            with waiting.told(url):
                page = client.notifications.changes(**query)
        except (Fault, RateLimited, ServiceError) as error:
            print(f"notify: {error}; the command goes on", file=sys.stderr)
            _timing.sleep(_PAUSE_SECONDS)
            continue
        query = {"cursor": page["next"]}
        yield from (each for each in page["results"] if _is_wanted(each, chosen))
        if not page["results"]:
            _timing.sleep(_PAUSE_SECONDS)


def _is_wanted(change: StatusChangeLine, chosen: Namespace) -> bool:
    facts: dict[str, Any] = {**change}
    return all(facts[name] in (getattr(chosen, name) or [facts[name]]) for name in _FILTERS)


def _line(change: StatusChangeLine) -> str:
    at = datetime.fromisoformat(change["occurred_at"]).astimezone()
    words = (
        f"{at:%H:%M:%S}",
        f"{change['status']:<11}",
        f"{change['channel'] or '-':<7}",
        change["user_id"],
        change["type"],
        change["notification_id"],
        change["reason"],
    )
    return " ".join(words).rstrip()


def _event(change: StatusChangeLine, producer: str) -> dict[str, object]:
    status = "failed" if change["status"] in _FAILED else change["status"]
    names = ("notification_id", "delivery_id", "user_id", "channel", "status", "reason")
    facts: dict[str, Any] = {**change}
    data = {"producer": producer} | {
        name: facts[name] for name in (*names, "metadata", "occurred_at")
    }
    return {"type": f"notification.{status}", "timestamp": change["occurred_at"], "data": data}


def _call(http: httpx.Client, url: str, body: bytes, change: StatusChangeLine, key: bytes) -> str:
    """Call the URL once; return the status of the answer, or the error."""
    facts = (change["notification_id"], change["delivery_id"], change["status"])
    named = "|".join(map(str, (*facts, change["occurred_at"])))
    message_id = "msg_" + hashlib.sha256(named.encode()).hexdigest()[:24]
    at = str(int(_timing.wall()))
    digest = hmac.digest(key, f"{message_id}.{at}.".encode() + body, "sha256")
    headers = {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": at,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
    try:
        return str(http.post(url, content=body, headers=headers).status_code)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f"{type(error).__name__}: {error}"


def _key_of(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError as error:
        raise Fault(f"{_VARIABLE} is a webhook secret: whsec_ and base64") from error
