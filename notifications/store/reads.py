"""What the pipeline reads: reach, templates, and what a claimed delivery needs to be sent."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from notifications import clock
from notifications.models import NotificationType
from notifications.rules import caps
from notifications.rules.caps import Caps
from notifications.rules.channels import Reach
from notifications.rules.lane import Mode, Priority
from notifications.rules.language import locales, syntax, variables
from notifications.rules.language.variables import Variable
from notifications.rules.texts import wording
from notifications.rules.texts.wording import Source, Wording
from notifications.store import db
from notifications.store.templates import news
from providers.contract import Channel

_NO_CAPS: Final[Caps] = {}
_FRESH: Final = 1.0
"""Seconds that a cached template or type is believed.

An edit acts within two seconds everywhere.
"""
_KEPT: Final = 300.0
"""Seconds that a pinned version is believed. It never changes, but a database can be restored."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """What the router knows of a type."""

    priority: Priority
    category: str
    retry_preset: str
    digest_template: str = ""
    """Of one message in place of many that a cap has held back; empty: there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateVersion:
    """A pinned version; a text is compiled when it is first used."""

    id: int
    template_id: str
    sensitive: frozenset[str]
    default_locale: str
    declared: tuple[Variable, ...]
    """What producers must send; empty: whatever the texts need."""
    needed: Mapping[Channel, frozenset[str]]
    """Where nothing is declared: the variables that a channel's texts cannot do without."""
    texts: Mapping[Channel, Mapping[str, Source]]
    """Channel -> locale -> text."""

    def text(self, channel: Channel, locale: str) -> Wording | None:
        """The text for a channel in the nearest locale that there is; None for a broken one."""
        found = self.texts.get(channel, {})
        chosen = _nearest(tuple(found), locale, self.default_locale)
        return _compiled(found[chosen]) if chosen is not None else None


@functools.lru_cache(maxsize=4096)
def _nearest(available: tuple[str, ...], wanted: str, default: str) -> str | None:
    return locales.choose(available, wanted, default=default)


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


class _Shelf:
    """Template versions of this process: by name until there is news, by id for much longer.

    A version that was pinned never changes. What is current does: news of it are heard within
    milliseconds, and without them it is believed for _FRESH seconds.
    """

    def __init__(self) -> None:
        self._by_id: dict[int, tuple[float, TemplateVersion]] = {}
        self._by_name: dict[str, tuple[float, TemplateVersion]] = {}
        self._heard = 0
        self._ears = news.Ears(self._hear)

    def clear(self) -> None:
        self._by_id.clear()
        self._by_name.clear()

    def _hear(self, name: str) -> None:
        self._heard += 1
        if name:
            self._by_name.pop(name, None)
        else:
            self._by_name.clear()

    def by_id(self, wanted: Collection[int]) -> dict[int, TemplateVersion]:
        now = clock.monotonic()
        stale = [each for each in wanted if self._by_id.get(each, (-_KEPT, None))[0] + _KEPT < now]
        if stale:
            for version in _load(ids=stale):
                self._by_id[version.id] = (now, version)
        return {each: self._by_id[each][1] for each in wanted if each in self._by_id}

    def by_name(self, wanted: Collection[str]) -> dict[str, TemplateVersion]:
        self._ears.open()
        heard, now = self._heard, clock.monotonic()
        held = {name: self._by_name.get(name) for name in wanted}
        known = {
            name: entry[1] for name, entry in held.items() if entry and entry[0] + _FRESH >= now
        }
        missing = [name for name in held if name not in known]
        if missing:
            found = {version.template_id: version for version in _load(names=missing)}
            # A name that is unknown now is forgotten again: whoever sends names must not fill this
            # process.
            for name in missing:
                self._by_name.pop(name, None)
            # News that came while the rows were read may be of what they do not show yet.
            if heard == self._heard:
                self._by_name.update({name: (now, version) for name, version in found.items()})
            known |= found
        return known


_shelf = _Shelf()


def templates_by_id(wanted: Collection[int]) -> dict[int, TemplateVersion]:
    """Pinned versions; one that was deleted is missing."""
    return _shelf.by_id(wanted)


def templates_by_name(wanted: Collection[str]) -> dict[str, TemplateVersion]:
    """The current version of each name; an unknown or unpublished one is missing."""
    return _shelf.by_name(wanted)


def forget() -> None:
    """Read templates and types anew on their next use."""
    _shelf.clear()
    _types.cache_clear()


def _load(*, ids: Sequence[int] = (), names: Sequence[str] = ()) -> list[TemplateVersion]:
    rows = db.rows("templates", {"ids": list(ids), "names": list(names)})
    by_version: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_version[row["id"]].append(row)
    return [_version(texts) for texts in by_version.values()]


def _version(rows: list[dict[str, Any]]) -> TemplateVersion:
    texts: dict[Channel, dict[str, Source]] = defaultdict(dict)
    sensitive = frozenset(rows[0]["sensitive_variables"])
    for row in rows:
        source = Source(
            channel=Channel(row["channel"]),
            **{name: row[name] for name in _SOURCE_COLUMNS},
        )
        if source.shorten_links and wording.mentioned(source) & sensitive:
            source = dataclasses.replace(source, shorten_links=False)
        texts[source.channel][source.locale] = source
    declared = _declared(rows[0]["variables"])
    return TemplateVersion(
        id=rows[0]["id"],
        template_id=rows[0]["template_id"],
        sensitive=sensitive,
        default_locale=rows[0]["default_locale"],
        declared=declared,
        needed={}
        if declared
        else {channel: _needed_by_all(of.values()) for channel, of in texts.items()},
        texts=texts,
    )


_SOURCE_COLUMNS: Final = (
    *("locale", "title", "body", "html"),
    *("transliterate", "max_segments", "shorten_links"),
)


@functools.lru_cache(maxsize=4096)
def _compiled(source: Source) -> Wording | None:
    # No broken source is published. One that came another way is no text: its deliveries fail,
    # alone.
    with contextlib.suppress(syntax.BrokenTemplate):
        return wording.compiled(source)
    return None


def _needed_by_all(sources: Iterable[Source]) -> frozenset[str]:
    return frozenset[str]().union(*map(_needed, sources))


@functools.lru_cache(maxsize=4096)
def _needed(source: Source) -> frozenset[str]:
    with contextlib.suppress(syntax.BrokenTemplate):
        return wording.needed(source)
    return frozenset()


@functools.lru_cache(maxsize=1024)
def _declared(stored: str) -> tuple[Variable, ...]:
    # Nor is a malformed declaration published: what came another way asks for nothing.
    with contextlib.suppress(variables.MalformedDeclaration):
        return variables.read(orjson.loads(stored))
    return ()


@functools.lru_cache(maxsize=1)
def _types(_moment: int) -> dict[str, TypeRule]:
    return {
        row.name: TypeRule(
            priority=Priority(row.priority),
            category=row.category,
            retry_preset=row.retry_preset,
            digest_template=row.digest_template,
        )
        for row in NotificationType.objects.all()
    }


def type_rules() -> Mapping[str, TypeRule]:
    """The router's table, read again each second."""
    return _types(int(clock.monotonic() / _FRESH))
