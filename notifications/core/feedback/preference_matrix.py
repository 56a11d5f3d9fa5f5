"""The preference matrix: the choices of a recipient by topic and channel, in a page language.

    of(recipient, preference, language=...) ──> Matrix ──> API, page, component, admin

A cell is on if the gate lets a message of the topic's own priority pass. A cell that the recipient
cannot change here is locked, with the reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.utils import translation
from django.utils.translation import gettext, gettext_noop

from notifications.core import gate
from notifications.core.gate import Place
from notifications.core.models import Preference, Recipient
from notifications.core.rules.lane import Priority
from notifications.core.rules.preferences import WHOLE_CHANNEL, Cell, Cells, covers
from notifications.core.rules.times import digest_times
from notifications.core.rules.times.digest_times import (
    DIGEST_CHANNEL,
    DIGEST_PRIORITIES,
    DigestChoice,
    Digests,
)
from notifications.core.store.cached import notification_types, topic_texts
from notifications.core.store.cached.notification_types import TypeRule
from notifications.core.store.postgres import preferences
from providers.contract import Channel


class Mandatory(StrEnum):
    """The reason for which a topic cannot be switched off; empty: it can."""

    NO = ""
    SECURITY = "security"
    """The type has priority P0."""
    REQUIRED = "required"
    """The setting of the type."""


class Lock(StrEnum):
    """The reason for which a cell cannot be changed; empty: it can."""

    NO = ""
    MANDATORY = "mandatory"
    CHANNEL_OFF = "channel_off"
    CATEGORY_OFF = "category_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellState:
    """A topic on a channel."""

    channel: Channel
    on: bool
    locked: Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """A channel of the recipient."""

    channel: Channel
    name: str
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicState:
    """A category or a type, with a cell for each channel."""

    topic: str
    name: str
    description: str
    mandatory: Mandatory
    mandatory_reason: str
    """In words; empty for a topic that can be switched off."""
    cells: Sequence[CellState]
    digest: DigestChoice | None
    """The choice that applies to e-mails of the topic; None: the topic offers no digest."""
    types: Sequence[TopicState] = ()
    """The types of a category; empty for a type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """All choices of a recipient, in the order for display."""

    language: str
    channels: Sequence[ChannelState]
    topics: Sequence[TopicState]
    """The categories by name, then the types without a category."""


_CHANNEL_NAMES: Final[Mapping[Channel, str]] = {
    Channel.PUSH: gettext_noop("Push"),
    Channel.SMS: gettext_noop("Text message"),
    Channel.EMAIL: gettext_noop("E-mail"),
    Channel.IN_APP: gettext_noop("In the app"),
    Channel.WEBHOOK: gettext_noop("Webhook"),
    Channel.CHAT: gettext_noop("Chat"),
}
_REASONS: Final[Mapping[Mandatory, str]] = {
    Mandatory.SECURITY: gettext_noop("Always on, for the security of your account."),
    Mandatory.REQUIRED: gettext_noop("Always on, because we have to inform you."),
}


def of(recipient: Recipient, preference: Preference, *, language: str) -> Matrix:
    """Return the matrix of a recipient, with the words of a page language."""
    channels = preferences.channels_of(recipient)
    off = preferences.off(preference)
    with translation.override(language):
        return Matrix(
            language=language,
            channels=[
                ChannelState(
                    channel=channel,
                    name=gettext(_CHANNEL_NAMES[channel]),
                    on=Cell(WHOLE_CHANNEL, channel) not in off,
                )
                for channel in channels
            ],
            topics=_Builder(
                channels=channels,
                off=off,
                digests=digest_times.read(preference.digests),
                language=language,
            ).topics(),
        )


def mandatory_topics() -> frozenset[str]:
    """Return the types that cannot be switched off, and the categories with only such types."""
    rules = notification_types.every()
    types = {name for name, rule in rules.items() if _mandatory(rule)}
    optional = {rule.category for name, rule in rules.items() if name not in types}
    categories = {rules[name].category for name in types} - optional - {""}
    return frozenset(types | categories)


def known_topics() -> frozenset[str]:
    """Return all types and categories."""
    rules = notification_types.every()
    return frozenset([*rules, *(rule.category for rule in rules.values() if rule.category)])


def digest_topics() -> frozenset[str]:
    """Return the types that offer a digest, and their categories; empty without digests."""
    if not gate.is_taken(Place.DIGEST):
        return frozenset()
    rules = notification_types.every()
    types = {name for name, rule in rules.items() if _offers_digest(rule)}
    return frozenset(types | {rules[name].category for name in types} - {""})


def _offers_digest(rule: TypeRule) -> bool:
    is_digestible = rule.priority in DIGEST_PRIORITIES and not rule.is_mandatory
    return is_digestible and bool(rule.digest_template)


def _mandatory(rule: TypeRule) -> Mandatory:
    if rule.priority is Priority.P0:
        return Mandatory.SECURITY
    return Mandatory.REQUIRED if rule.is_mandatory else Mandatory.NO


def _by_name(topics: Iterable[TopicState]) -> list[TopicState]:
    return sorted(topics, key=lambda each: (bool(each.mandatory), each.name.casefold(), each.topic))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Builder:
    """Builds the topics of a recipient in the active language."""

    channels: Sequence[Channel]
    off: Cells
    digests: Digests
    language: str

    def topics(self) -> list[TopicState]:
        by_category: dict[str, dict[str, TypeRule]] = defaultdict(dict)
        for name, rule in notification_types.every().items():
            if rule.is_listed:
                by_category[rule.category][name] = rule
        single = by_category.pop("", {})
        categories = [self._category(name, rules) for name, rules in by_category.items()]
        return [*_by_name(categories), *self._types("", single)]

    def _category(self, category: str, rules: Mapping[str, TypeRule]) -> TopicState:
        kinds = {_mandatory(rule) for rule in rules.values()}
        kind = min(kinds, key=list(Mandatory).index)
        return self._state(category, kind, types=self._types(category, rules))

    def _types(self, category: str, rules: Mapping[str, TypeRule]) -> list[TopicState]:
        return _by_name(
            self._state(name, _mandatory(rule), category=category) for name, rule in rules.items()
        )

    def _state(
        self, topic: str, kind: Mandatory, *, category: str = "", types: Sequence[TopicState] = ()
    ) -> TopicState:
        words = topic_texts.words(topic, locale=self.language)
        return TopicState(
            topic=topic,
            name=words.name,
            description=words.description,
            mandatory=kind,
            mandatory_reason=gettext(_REASONS[kind]) if kind else "",
            cells=[self._cell(topic, category, kind, channel) for channel in self.channels],
            digest=self._digest(topic, category),
            types=types,
        )

    def _digest(self, topic: str, category: str) -> DigestChoice | None:
        if topic not in digest_topics() or DIGEST_CHANNEL not in self.channels:
            return None
        return digest_times.choice_of(self.digests, type_=topic, category=category)

    def _cell(self, topic: str, category: str, kind: Mandatory, channel: Channel) -> CellState:
        on, locked = not covers(self.off, Cell(topic, channel)), Lock.NO
        if Cell(WHOLE_CHANNEL, channel) in self.off:
            on, locked = False, Lock.CHANNEL_OFF
        elif kind:
            on, locked = True, Lock.MANDATORY
        elif category and covers(self.off, Cell(category, channel)):
            on, locked = False, Lock.CATEGORY_OFF
        return CellState(channel=channel, on=on, locked=locked)
