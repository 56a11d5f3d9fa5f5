"""What the pipeline reads: how a person can be reached, what a claimed delivery needs."""

from __future__ import annotations

import datetime as dt
import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from notifications.rules import caps
from notifications.rules.caps import Caps
from notifications.rules.channels import Reach
from notifications.rules.lane import Mode
from notifications.store import db
from providers.contract import Channel

_NO_CAPS: Final[Caps] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A notification as the pipeline needs it."""

    id: UUID
    producer_id: int
    type: str
    category: str
    retry_preset: str
    user_id: str
    template: int | None
    content: dict[str, str] | None
    variables: dict[str, Any]
    sealed: bytes | None
    collapse_key: str
    ordering_key: str
    traceparent: str
    expires_at: dt.datetime
    is_cancelled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A contact, and what its person allows at this moment."""

    kind: str
    address: str
    is_valid: bool
    is_suppressed: bool
    """Whether its address is on the suppression list."""
    locale: str
    channels_off: frozenset[Channel]
    categories_off: frozenset[str]
    timezone: str
    """Theirs, or what their phone number suggests; empty where nobody knows."""
    quiet_hours: str
    """JSON, as `rules.times.quiet_hours` reads it."""
    do_not_disturb_until: dt.datetime | None
    caps: Caps


def asked(notification_ids: Iterable[UUID]) -> dict[UUID, Asked]:
    """The notifications of these ids that exist."""
    return {
        row["id"]: Asked(
            id=row["id"],
            producer_id=row["producer_id"],
            type=row["type"],
            category=row["category"],
            retry_preset=row["retry_preset"],
            user_id=row["user_id"],
            template=row["template"],
            content=orjson.loads(row["content"]) if row["content"] else None,
            variables=orjson.loads(row["variables"]),
            sealed=row["secrets"],
            collapse_key=row["collapse_key"],
            ordering_key=row["ordering_key"],
            traceparent=row["traceparent"],
            expires_at=row["expires_at"],
            is_cancelled=row["cancelled_at"] is not None,
        )
        for row in db.rows("notifications_of", {"ids": list(notification_ids)})
    }


def destinations(contact_ids: Iterable[int]) -> dict[int, Destination]:
    """The contacts of these ids that exist."""
    return {
        row["id"]: Destination(
            kind=row["kind"],
            address=row["address"],
            is_valid=row["invalidated_at"] is None,
            is_suppressed=row["suppressed"],
            locale=row["locale"],
            channels_off=frozenset(Channel(off) for off in row["channels_off"] or ()),
            categories_off=frozenset(row["categories_off"] or ()),
            timezone=row["timezone"],
            quiet_hours=row["quiet_hours"] or "[]",
            do_not_disturb_until=row["do_not_disturb_until"],
            caps=_caps(row["caps"]) if row["caps"] else _NO_CAPS,
        )
        for row in db.rows("contacts", {"ids": list(set(contact_ids)), "live": Mode.LIVE})
    }


@functools.lru_cache(maxsize=4096)
def _caps(written: str) -> Caps:
    # The doors let nothing unreadable in. One that came another way must not stop its whole batch:
    # it counts as not written.
    try:
        return caps.parsed(orjson.loads(written))
    except (KeyError, ValueError):
        return _NO_CAPS


def reaches(mode: Mode, user_ids: Collection[str]) -> dict[str, Reach]:
    """How these users can be reached now; unknown users are missing."""
    parameters = {"mode": mode, "user_ids": list(user_ids), "ids": [], "live": Mode.LIVE}
    found = db.rows("reaches", parameters)
    return {row["user_id"]: _reach(row) for row in found}


def reaches_by_id(recipient_ids: Collection[int]) -> dict[int, Reach]:
    """The same by recipient id."""
    live = Mode.LIVE
    parameters = {"mode": live, "user_ids": [], "ids": list(recipient_ids), "live": live}
    return {row["id"]: _reach(row) for row in db.rows("reaches", parameters)}


def _reach(row: Mapping[str, Any]) -> Reach:
    contacts: dict[Channel, list[int]] = defaultdict(list)
    pairs = zip(row["contact_channels"] or (), row["contact_ids"] or (), strict=True)
    for channel, contact_id in pairs:
        contacts[_CHANNELS[channel]].append(contact_id)
    return Reach(
        recipient_id=row["id"],
        timezone=row["timezone"],
        contacts=contacts,
        suppressed=frozenset(_CHANNELS[each] for each in row["channels_suppressed"] or ()),
        channel_order=[_CHANNELS[channel] for channel in row["channel_order"] or ()],
        channels_off=frozenset(_CHANNELS[channel] for channel in row["channels_off"] or ()),
        categories_off=frozenset(row["categories_off"] or ()),
    )


_CHANNELS: Final = {channel.value: channel for channel in Channel}
