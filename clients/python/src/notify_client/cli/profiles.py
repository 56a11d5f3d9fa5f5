"""Stored installations: a URL and a key under a name.

The file is `$XDG_CONFIG_HOME/notify/profiles.json`, or `~/.config/notify/profiles.json`; only its
owner can read the file. `NOTIFY_URL` and `NOTIFY_KEY` win if no profile is named.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from notify_client import Client
from notify_client.cli import waiting
from notify_client.cli.faults import Fault

DEFAULT: Final = "default"


@contextmanager
def client(profile: str | None, *, takes_key: bool = False) -> Iterator[Client]:
    """Open the client of a profile; without a name that of the environment, or of `default`.

    Args:
        profile: the name of the profile.
        takes_key: as `waiting.told`.

    Raises:
        Fault: there is no such profile, or the service gives no answer.
    """
    url, key = access(profile)
    limit = waiting.TOTAL_SECONDS
    with waiting.told(url, takes_key=takes_key), Client(url, key, total_timeout=limit) as opened:
        yield opened


def access(profile: str | None) -> tuple[str, str]:
    """Return URL and key of a profile, as `client`.

    Raises:
        Fault: there is no such profile.
    """
    url, key = os.environ.get("NOTIFY_URL"), os.environ.get("NOTIFY_KEY")
    if profile is None and url and key:
        return url, key
    if profile is None and (url or key):
        given, missing = ("NOTIFY_URL", "NOTIFY_KEY") if url else ("NOTIFY_KEY", "NOTIFY_URL")
        raise Fault(f"{given} is set and {missing} is not: set both, or name a profile")
    name = profile or DEFAULT
    stored = _read()
    if name not in stored:
        there_are = f" There are: {', '.join(sorted(stored))}." if stored else ""
        raise Fault(
            f"there is no profile {name!r}: run `notify login URL --profile {name}`,"
            f" or set NOTIFY_URL and NOTIFY_KEY.{there_are}"
        )
    return stored[name]["url"], stored[name]["key"]


def store(profile: str, url: str, key: str) -> Path:
    """Store a profile; another one of the same name is replaced. Return the path of the file."""
    profiles = _read() | {profile: {"url": url, "key": key}}
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_suffix(f".{os.getpid()}")
    new.touch(mode=0o600)
    new.write_text(json.dumps(profiles, indent=2))
    new.replace(path)
    return path


def _path() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "notify" / "profiles.json"


def _read() -> dict[str, dict[str, str]]:
    path = _path()
    try:
        stored = json.loads(path.read_text())
        return {name: {"url": each["url"], "key": each["key"]} for name, each in stored.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Fault(f"{path} cannot be read: delete the file and run `notify login`") from error
