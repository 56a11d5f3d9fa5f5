"""The template cache: template versions for rendering, kept in each process.

An edit acts within two seconds in every process, even if the invalidation message is lost. A
notification renders the version pinned at accept.

`with_uncommitted` shows a version of a transaction, or of a text that is not stored, to its thread.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import orjson

from notifications.core import clock
from notifications.core.models import Template
from notifications.core.rules import attachments, request_faults
from notifications.core.rules.attachments import Attachment
from notifications.core.rules.language import locales, syntax, templating, variables
from notifications.core.rules.language.variables import Variable
from notifications.core.rules.templates import one_off
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.rules.texts import variants, wording
from notifications.core.rules.texts.wording import TextSource, Wording
from notifications.core.store.postgres import db
from notifications.core.store.templates import invalidation
from notifications.core.store.templates.rows import ONE_OFF
from providers.contract import Channel

_FRESH: Final = 1.0
"""Seconds for which the current version of a name is cached without an invalidation."""
_MOST_NAMES: Final = 1_000
"""Upper bound of the names that a misspelled name is compared with."""
_KEPT: Final = 300.0
"""Seconds for which a pinned version is cached; bounded, because a database can be restored."""

_MOST_KEPT: Final = 1_000
"""Upper bound of the pinned versions in a process, with parsed texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateVersion:
    """A template version; each text is compiled at the first use."""

    id: int
    template_id: str
    sensitive: frozenset[str]
    default_locale: str
    fallback_on: str
    """A value of `FallbackOn`; empty: as the notification type."""
    confirm_within: dt.timedelta | None
    """Confirm window; None: as the notification type."""
    declared: tuple[Variable, ...]
    """Variables that producers must send; empty: the variables needed by the texts."""
    needed: Mapping[Channel, frozenset[str]]
    """Variables needed by the texts of a channel, for templates without declarations."""
    texts: Mapping[Channel, Mapping[str, TextSource]]
    """Channel -> locale -> text."""
    mentioned: frozenset[str] | None
    """Variables that are declared or mentioned in a text; None: a text cannot be parsed."""
    attachments: tuple[Attachment, ...] = ()
    """Files of each e-mail."""
    variant: str = ""
    """The variant whose recipients get `texts`; empty: the base texts."""
    variants: Mapping[str, TemplateVersion] = field(default_factory=dict, repr=False)
    """Name of a variant -> the version with the texts of the variant's recipients."""
    _chosen: dict[tuple[Channel, str], Wording | None] = field(
        default_factory=dict, compare=False, repr=False
    )
    """Earlier answers of `text`."""

    @property
    def label(self) -> str:
        """Name and variant, for people."""
        if one_off.is_one_off(self.template_id):
            return one_off.label(self.template_id).capitalize()
        return f"{self.template_id}, variant {self.variant}" if self.variant else self.template_id

    def of_variant(self, variant: str) -> TemplateVersion | None:
        """Return the version with the texts of a variant; None for an unknown variant."""
        return self.variants.get(variant) if variant else self

    def attachments_on(self, channels: Collection[Channel]) -> tuple[Attachment, ...]:
        """Return the files of a notification; none without the channel e-mail.

        `channels`: those of the notification; empty: those of the texts.
        """
        has_mail = self.attachments and Channel.EMAIL in (channels or self.texts)
        return self.attachments if has_mail else ()

    def text(self, channel: Channel, locale: str) -> Wording | None:
        """Return the text for a channel in the nearest locale; None for an invalid text."""
        wanted = channel, locale
        if wanted not in self._chosen:
            found = self.texts.get(channel, {})
            nearest = locales.choose(tuple(found), locale, default=self.default_locale)
            self._chosen[wanted] = _compile(found[nearest]) if nearest is not None else None
        return self._chosen[wanted]


class _TemplateCache:
    """Template versions of this process, by name and by id."""

    def __init__(self) -> None:
        self._by_id: dict[int, tuple[float, TemplateVersion]] = {}
        self._by_name: dict[str, tuple[float, TemplateVersion]] = {}
        self._heard = 0
        self._ears = invalidation.InvalidationListener(self._hear)

    def forget(self) -> None:
        """Clear the cache."""
        self._by_id.clear()
        self._by_name.clear()

    def _hear(self, name: str) -> None:
        self._heard += 1
        if name:
            self._by_name.pop(name, None)
        else:
            self._by_name.clear()

    def by_id(self, wanted: Collection[int]) -> dict[int, TemplateVersion]:
        """Return pinned versions; a deleted version is missing."""
        held, now = self._by_id, clock.monotonic()
        stale = [each for each in wanted if held.get(each, (-_KEPT, None))[0] + _KEPT < now]
        if stale:
            # A new dict takes the place of the old one: other threads look at the same time.
            held = {**held, **{version.id: (now, version) for version in _load(ids=stale)}}
            self._by_id = _newest(held, wanted) if len(held) > _MOST_KEPT else held
        return {each: held[each][1] for each in wanted if each in held}

    def by_name(self, wanted: Collection[str]) -> dict[str, TemplateVersion]:
        """Return the current version of each name; unknown and unpublished names are missing."""
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


def _newest(
    held: Mapping[int, tuple[float, TemplateVersion]], wanted: Collection[int]
) -> dict[int, tuple[float, TemplateVersion]]:
    """Return the newer half of the cached versions, and all wanted versions."""
    newest = sorted(held, key=lambda each: held[each][0])[-_MOST_KEPT // 2 :]
    return {each: held[each] for each in {*newest, *wanted} if each in held}


_cache = _TemplateCache()
_uncommitted: ContextVar[TemplateVersion | None] = ContextVar("uncommitted", default=None)


def by_id(wanted: Collection[int]) -> dict[int, TemplateVersion]:
    """Return pinned versions; a deleted version is missing."""
    own = _uncommitted.get()
    if own is None or own.id not in wanted:
        return _cache.by_id(wanted)
    return _cache.by_id([each for each in wanted if each != own.id]) | {own.id: own}


def by_name(wanted: Collection[str]) -> dict[str, TemplateVersion]:
    """Return the current version of each name; unknown and unpublished names are missing."""
    own = _uncommitted.get()
    if own is None or own.template_id not in wanted:
        return _cache.by_name(wanted)
    others = [each for each in wanted if each != own.template_id]
    return _cache.by_name(others) | {own.template_id: own}


@contextlib.contextmanager
def with_uncommitted(
    template_id: str, content: TemplateContent, *, version_id: int
) -> Iterator[None]:
    """Let this thread find a version that other threads do not see, until the block ends.

    The cache of the process does not keep the version, so a rollback leaves nothing in the cache.

    Args:
        template_id: name of the template.
        content: texts, default locale and declared variables.
        version_id: id of the row in the present transaction; 0: the version is not stored.
    """
    columns = {
        "id": version_id,
        "template_id": template_id,
        "variables": orjson.dumps(content.settings["variables"]).decode(),
        "sensitive_variables": (),
        "fallback_on": "",
        "confirm_seconds": 0,
        "default_locale": content.settings["default_locale"],
        "attachments": "[]",
    }
    token = _uncommitted.set(_of_variant(columns, content.texts, ""))
    try:
        yield
    finally:
        _uncommitted.reset(token)


def did_you_mean(name: str) -> str:
    """Return the most similar published name, as `request_faults.did_you_mean`."""
    return _suggestion(name, _names(int(clock.monotonic() / _FRESH)))


def forget() -> None:
    """Clear the cache."""
    _cache.forget()
    _names.cache_clear()


@functools.lru_cache(maxsize=1)
def _names(second: int) -> tuple[str, ...]:  # noqa: ARG001 - one reading serves a second of mistakes
    published = Template.objects.exclude(published_at=None).exclude(ONE_OFF)
    names = published.order_by("template_id").values_list("template_id", flat=True).distinct()
    return tuple(names[:_MOST_NAMES])


@functools.lru_cache(maxsize=1024)
def _suggestion(name: str, names: tuple[str, ...]) -> str:
    return request_faults.did_you_mean(name, names)


def _load(*, ids: Sequence[int] = (), names: Sequence[str] = ()) -> list[TemplateVersion]:
    rows = db.rows("templates", {"ids": list(ids), "names": list(names)})
    by_version: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_version[row["id"]].append(row)
    return [_version(texts) for texts in by_version.values()]


def _version(rows: list[dict[str, Any]]) -> TemplateVersion:
    found = list(_sources(rows))
    by_variant = {name: _of_variant(rows[0], found, name) for name in variants.names(found)}
    return _of_variant(rows[0], found, "", by_variant)


def _sources(rows: Iterable[dict[str, Any]]) -> Iterator[TextSource]:
    for row in rows:
        if row["channel"] in _CHANNELS:  # else of a newer release
            for name in ("in_app", "vendor_template"):
                row[name] = orjson.loads(row[name])
            yield wording.source_of(Channel(row["channel"]), row)


def _of_variant(
    row: Mapping[str, Any],
    sources: Sequence[TextSource],
    variant: str,
    by_variant: Mapping[str, TemplateVersion] = MappingProxyType({}),
) -> TemplateVersion:
    texts: dict[Channel, dict[str, TextSource]] = defaultdict(dict)
    declared = _declarations(row["variables"])
    sensitive = frozenset(row["sensitive_variables"])
    for source in wording.for_declarations(variants.texts_of(sources, variant), declared):
        is_open = source.shorten_links and wording.mentions(source) & sensitive
        texts[source.channel][source.locale] = (
            dataclasses.replace(source, shorten_links=False) if is_open else source
        )
    return TemplateVersion(
        id=row["id"],
        template_id=row["template_id"],
        sensitive=sensitive,
        default_locale=row["default_locale"],
        fallback_on=row["fallback_on"],
        confirm_within=dt.timedelta(seconds=row["confirm_seconds"]) or None,
        declared=declared,
        needed={}
        if declared
        else {
            channel: frozenset[str]().union(*map(_needs, of.values()))
            for channel, of in texts.items()
        },
        texts=texts,
        mentioned=_mentions(declared, [each for of in texts.values() for each in of.values()]),
        attachments=attachments.of_template(orjson.loads(row["attachments"])),
        variant=variant,
        variants=by_variant,
    )


_CHANNELS: Final = frozenset(Channel)


@functools.lru_cache(maxsize=4096)
def _compile(source: TextSource) -> Wording | None:
    # No broken source is published. One that came another way is no text: its deliveries fail,
    # alone.
    with contextlib.suppress(syntax.BrokenTemplate):
        return wording.compile_text(source)
    return None


def _mentions(declared: Iterable[Variable], sources: Sequence[TextSource]) -> frozenset[str] | None:
    if not all(map(_is_readable, sources)):
        return None
    return frozenset(each.name for each in declared).union(*map(wording.mentions, sources))


@functools.lru_cache(maxsize=4096)
def _is_readable(source: TextSource) -> bool:
    return not any(map(templating.check, source.parts))


@functools.lru_cache(maxsize=4096)
def _needs(source: TextSource) -> frozenset[str]:
    with contextlib.suppress(syntax.BrokenTemplate):
        return wording.required_variables(source)
    return frozenset()


@functools.lru_cache(maxsize=1024)
def _declarations(stored: str) -> tuple[Variable, ...]:
    # Nor is a malformed declaration published: what came another way asks for nothing.
    with contextlib.suppress(variables.MalformedDeclaration):
        return variables.parse_declarations(orjson.loads(stored))
    return ()
