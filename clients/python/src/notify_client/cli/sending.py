"""`notify login` and `notify send`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from getpass import getpass
from typing import Any, Final

from notify_client import Client, _timing
from notify_client.cli import profiles, waiting
from notify_client.cli.faults import Fault

_OPEN: Final = frozenset({"scheduled", "queued", "sending", "retrying", "unknown"})
_GOOD: Final = frozenset({"sent", "unconfirmed", "delivered", "read"})
_PAUSE_SECONDS: Final = 1.0


def login(chosen: Namespace) -> int:
    """Check a key at the service and store it."""
    profile = chosen.profile or profiles.DEFAULT
    key = _key()
    limit = waiting.TOTAL_SECONDS
    with waiting.told(chosen.url), Client(chosen.url, key, total_timeout=limit) as client:
        me = client.me()
    path = profiles.store(profile, chosen.url, key)
    print(f"Profile {profile}: producer {me['producer']}, {me['mode']} key, in {path}.")
    print(f"Scopes: {', '.join(me['scopes'])}")
    return 0


def send(chosen: Namespace) -> int:
    """Send a notification, and wait for its final status with `--wait`."""
    request = _recipient(chosen.to) | {"type": chosen.type}
    if chosen.template:
        request["template_id"] = chosen.template
    if chosen.body is not None:
        request["content"] = {"title": chosen.title or "", "body": chosen.body}
    if chosen.var:
        request["variables"] = dict(chosen.var)
    if chosen.priority:
        request["priority"] = chosen.priority
    if chosen.channel:
        request["channels"] = chosen.channel
    if chosen.idempotency_key:
        request["idempotency_key"] = chosen.idempotency_key
    with profiles.client(chosen.profile, takes_key=True) as client:
        accepted = client.send(**request)
    print(accepted["notification_id"], flush=True)
    if chosen.wait is None:
        return 0
    url, key = profiles.access(chosen.profile)
    with Client(url, key, total_timeout=waiting.TOTAL_SECONDS) as client:
        return _wait(client, accepted["notification_id"], chosen.wait)


def variable(text: str) -> tuple[str, Any]:
    """Parse `name=text`, or `name:=JSON`.

    Raises:
        ValueError: the text has another form.
    """
    name, sign, value = text.partition("=")
    if not sign or not name.rstrip(":"):
        raise ValueError("give name=text, or name:=JSON")
    if name.endswith(":"):
        return name[:-1], json.loads(value)
    return name, value


def _key() -> str:
    key = getpass("Key: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not key.strip():
        raise Fault("a key is missing: type the key, or give it on standard input")
    return key.strip()


def _recipient(to: str) -> dict[str, Any]:
    if to.startswith("+"):
        return {"to": {"phone": to}}
    return {"to": {"email": to}} if "@" in to else {"user_id": to}


def _wait(client: Client, notification_id: str, seconds: float) -> int:
    """Print each delivery when it has a final status; 1 if one failed or is open at the end."""
    ends = _timing.monotonic() + seconds
    told: set[str] = set()
    while True:
        found = client.notifications.get(notification_id)
        for each in found["deliveries"]:
            if each["status"] not in _OPEN and each["delivery_id"] not in told:
                told.add(each["delivery_id"])
                print(f"{each['channel']}: {each['status']} {each['reason'] or ''}".rstrip())
        if found["status"] not in _OPEN:
            return 0 if found["status"] in _GOOD else 1
        if _timing.monotonic() > ends:
            print(f"{found['status']} after {seconds:g} s", file=sys.stderr)
            return 1
        _timing.sleep(_PAUSE_SECONDS)
