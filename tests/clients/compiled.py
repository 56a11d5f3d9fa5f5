"""Setting and expectations of the programs of the Go and Java tests, which make the same calls.

A program reads the environment variable NOTIFY_TEST_SETTING, a JSON object: `url` and `key` of the
service, `relay`, which loses and replaces the answers of `acts` in their order, `user_id` of a new
recipient, and `webhooks`, a list of requests with the result of a verification.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from notifications.core.clock import now
from providers import standard_webhooks
from providers.standard_webhooks import Secret
from tests.clients.python import relay as acts
from tests.clients.python.relay import Act, Relay
from tests.clients.service import Service

NEW: Final = "whsec_bmV3LXNlY3JldC1uZXctc2VjcmV0LW5ldw=="
OLD: Final = "whsec_b2xkLXNlY3JldC1vbGQtc2VjcmV0LW9sZA=="
OTHER: Final = "whsec_b3RoZXItc2VjcmV0LW90aGVyLXNlY3JldA=="
_BODY: Final = '{"type": "notification", "timestamp": "", "data": {"title": "Ready ✓"}}'.encode()
_LATER: Final = json.dumps({
    "notification_id": "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1b42",
    "status": "teleported",
    "priority": "P9",
    "deliveries": [{"channel": "telepathy", "field_of_a_later_version": {"a": [1, None]}}],
    "created_at": "2027-06-09T12:45:00.123456Z",
    "field_of_a_later_version": [{}],
}).encode()
"""A response of a later version of the service."""


def webhooks() -> list[dict[str, Any]]:
    """Requests of a receiver; `error`: empty, `signature` or `body`."""
    at = now()
    good = standard_webhooks.sign(_BODY, message_id="msg_1", at=at, secrets=_parsed(NEW, OLD))
    single = standard_webhooks.sign(_BODY, message_id="msg_1", at=at, secrets=_parsed(OLD))
    array = standard_webhooks.sign(b"[]", message_id="msg_1", at=at, secrets=_parsed(NEW))
    seconds = dt.timedelta(seconds=1)
    return [
        _webhook("the new secret of a rotation", good, secrets=[NEW]),
        _webhook("the old secret of a rotation", good, secrets=[OLD]),
        _webhook("a receiver with both secrets", single, secrets=[NEW, OLD]),
        _webhook("five minutes late", good, at=at + 299 * seconds),
        _webhook("five minutes early", good, at=at - 299 * seconds),
        _webhook("too late", good, at=at + 301 * seconds, error="signature"),
        _webhook("too early", good, at=at - 302 * seconds, error="signature"),
        _webhook("another secret", good, secrets=[OTHER], error="signature"),
        _webhook("another body", good, body=_BODY + b" ", error="signature"),
        _webhook("another id", {**good, "webhook-id": "msg_2"}, error="signature"),
        *(
            _webhook(f"{name}: {value[:9]!r}", {**good, name: value}, error="signature")
            for name, value in (
                *(("webhook-id", ""), ("webhook-timestamp", "nan"), ("webhook-timestamp", "1")),
                *(("webhook-timestamp", "9" * 5000), ("webhook-timestamp", "-1")),
                *(("webhook-signature", each) for each in ("", "v1,", "é")),
                ("webhook-signature", good["webhook-signature"].replace("v1,", "v2,")),
            )
        ),
        _webhook("no headers", {}, error="signature"),
        _webhook("an array", array, body=b"[]", error="body"),
    ]


def _parsed(*secrets: str) -> list[Secret]:
    return [Secret.parse(each) for each in secrets]


def _webhook(
    name: str,
    headers: Mapping[str, str],
    *,
    body: bytes = _BODY,
    secrets: list[str] | None = None,
    at: dt.datetime | None = None,
    error: str = "",
) -> dict[str, Any]:
    return {
        "name": name,
        "body": base64.b64encode(body).decode(),
        "headers": dict(headers),
        "secrets": secrets or [NEW],
        "now": int((at or now()).timestamp()),
        "error": error,
    }


def plan() -> list[Act]:
    """The answers of the relay, call by call."""
    full = acts.instead(429, **{"Retry-After": "3600"})
    huge = acts.instead(429, **{"Retry-After": "99999999999"})
    return [
        # A send: two lost answers, a refusal of a proxy, and the first answer again.
        *(acts.lose, acts.halve, acts.instead(503, **{"Retry-After": "0"}), acts.pass_on),
        # A send with the key in the body, whose first answer is lost.
        *(acts.lose, acts.pass_on),
        # Not repeated: a client token, which takes no key; a long Retry-After; a problem; a huge
        # Retry-After.
        *(acts.lose, full, acts.instead(500, b'{"errors": "down"}'), huge),
        # A list and a send that a proxy answers with an object of its own.
        *(acts.instead(200, b"{}"), acts.instead(200, b"{}")),
        # A redirect, a page of a proxy, and a response of a later version.
        *(acts.instead(302, Location="/v1/me"), acts.instead(200, b"<html>")),
        acts.instead(200, _LATER),
        # A deletion whose first answer is lost, and a write whose recipient does not exist.
        *(acts.lose, acts.pass_on, acts.instead(502), acts.pass_on),
        # A deletion that a proxy answers with a page.
        acts.instead(200, b"<html>"),
        # Two calls with a deadline: no answer, and an answer that never ends.
        *(acts.hang_before, acts.drip),
    ]


@dataclass(frozen=True, slots=True)
class Tool:
    """A compiler or a program, with the variables of its environment."""

    program: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    def beside(self, name: str) -> Tool:
        """Return another program of the same folder."""
        return Tool(self.program.with_name(name), self.environ)

    def succeed(self, *arguments: str, folder: Path, **environ: str) -> str:
        """Run the program in a folder; return its output."""
        done = subprocess.run(
            [self.program, *arguments],
            cwd=folder,
            env={**os.environ, **self.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, f"{arguments}:\n{done.stdout}\n{done.stderr}"
        return done.stdout


def run_program(tool: Tool, *arguments: str, folder: Path, service: Service, relay: Relay) -> None:
    """Run the program of a client, then look at its requests and notifications."""
    user_id = f"compiled-{uuid4().hex[:8]}"
    relay.plan(*plan())
    setting = {
        "url": service.url,
        "relay": relay.url,
        "key": service.key,
        "user_id": user_id,
        "webhooks": webhooks(),
    }
    tool.succeed(*arguments, folder=folder, NOTIFY_TEST_SETTING=json.dumps(setting))
    keys = [each.key for each in relay.seen]
    assert len(keys) == len(plan())
    assert keys[0]
    assert len(set(keys[:4])) == 1, "each repeat has the key of the first request"
    assert keys[4:7] == ["", "", ""], "the key is in the body, or the operation takes none"
    assert relay.seen[4].body == relay.seen[5].body
    stored = {name: service.count(f"{user_id}-{name}") for name in ("lost", "own", "same")}
    assert stored == {"lost": 1, "own": 1, "same": 1}


def demo(service: Service) -> dict[str, str]:
    """Return the variables that the demo prints."""
    return {"NOTIFY_URL": service.url, "NOTIFY_KEY": service.tutorial_key}


def code_of(text: str) -> list[str]:
    """Return the lines of code without comments: the words of the document may change."""
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith(("//", "/**", "*"))]
