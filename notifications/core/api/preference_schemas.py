"""Request and response schemas of preferences."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Self, TypeVar

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from notifications.core.api.schemas import ChannelLabel, ChannelWord, RequestModel, ResponseModel
from notifications.core.feedback.preference_changes import PreferenceChange
from notifications.core.feedback.preference_matrix import Lock, Mandatory
from notifications.core.rules import request_faults
from notifications.core.rules.preferences import WHOLE_CHANNEL, Cell, CellChange
from notifications.core.rules.rate_limits.frequency_caps import PATTERN, Cap
from notifications.core.rules.recipient import Locale, Zone
from notifications.core.rules.request import Instant, Name
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.times import quiet_hours
from notifications.core.rules.times.digest_times import DigestChoice
from notifications.core.rules.times.quiet_hours import Window, Windows
from providers.contract import Channel

MAX_TOPICS: Final = 100
"""Maximum topics in a list."""
Member = TypeVar("Member")


def _cap(written: str) -> str:
    return str(Cap.parse(written))


def _windows(windows: Windows) -> Windows:
    quiet_hours.check(windows)
    return windows


def _once(given: list[Member]) -> list[Member]:
    return list(dict.fromkeys(given))


Channels = Annotated[list[AskedChannel], Field(max_length=len(Channel)), AfterValidator(_once)]
Topics = Annotated[list[Name], Field(max_length=MAX_TOPICS), AfterValidator(_once)]
CapText = Annotated[
    str,
    AfterValidator(_cap),
    WithJsonSchema({"type": "string", "pattern": PATTERN, "examples": ["3/day"]}),
]
QuietHours = Annotated[Windows, Field(max_length=quiet_hours.MAX_WINDOWS), AfterValidator(_windows)]


class ChoiceRequest(RequestModel):
    """A topic, a channel, or a topic on a channel, to switch on or off."""

    topic: Name | None = None
    """A category or a notification type. Omitted: the whole channel."""
    channel: AskedChannel | None = None
    """Omitted: the topic on each channel."""
    on: bool

    @model_validator(mode="after")
    def _check_the_cell(self) -> Self:
        if self.topic is None and self.channel is None:
            raise request_faults.error_at("give topic, channel or both", "topic")
        return self

    def choice(self) -> CellChange:
        """Return the choice as the store takes it."""
        return CellChange(Cell(self.topic or WHOLE_CHANNEL, self.channel), self.on)


class PreferencesRequest(RequestModel):
    """Preferences of a recipient. Omitted fields keep the current value."""

    channels_off: Channels | None = None
    channel_order: Channels | None = None
    categories_off: Topics | None = None
    """Categories and notification types that are off on each channel."""
    topics_off: Annotated[dict[ChannelLabel, Topics], Field(max_length=len(Channel))] | None = None
    """Categories and notification types that are off on one channel: `{"email": ["orders"]}`.
    Replaces all of these."""
    choices: Annotated[list[ChoiceRequest], Field(max_length=500)] = Field(default_factory=list)
    """Topics and channels to switch on or off, after the fields above. Everything else stays."""
    digests: Annotated[dict[Name, DigestChoice], Field(max_length=MAX_TOPICS)] = Field(
        default_factory=dict
    )
    """E-mails of a category or type: `at_once`, or together `daily` or `weekly`, as
    `{"social": "weekly"}`. The choice for a type wins over that for its category. Other topics
    keep their choice."""
    quiet_hours: QuietHours | None = None
    """Replaces all quiet hours. During quiet hours only P0 is sent; other priorities wait."""
    do_not_disturb_until: Instant | None = None
    """Quiet until this instant; null ends the quiet time."""

    caps: Annotated[dict[ChannelLabel, CapText], Field(max_length=len(Channel))] | None = None
    """Frequency caps by channel: `{"sms": "1/day", "push": "5/hour"}`. Replaces all caps of the
    recipient; channels without a cap use the default cap."""
    locale: Locale | None = None
    """The recipient's language, for every message."""
    timezone: Zone | None = None
    """The recipient's IANA timezone, for quiet hours; empty: unknown."""

    def change(self) -> PreferenceChange:
        """Return the change of the stored preferences and profile."""
        profile = {"locale": self.locale, "timezone": self.timezone}
        return PreferenceChange(
            columns=self.columns(),
            choices=[each.choice() for each in self.choices],
            digests=self.digests,
            profile={name: value for name, value in profile.items() if value is not None},
        )

    def columns(self) -> dict[str, object]:
        """Return the columns of the preferences to change."""
        names = self.model_fields_set - {"choices", "digests", "locale", "timezone"}
        given = {name: getattr(self, name) for name in names}
        if self.quiet_hours is not None:
            given["quiet_hours"] = quiet_hours.to_json(self.quiet_hours)
        if self.topics_off is not None:
            given["topics_off"] = {name: some for name, some in self.topics_off.items() if some}
        return {
            name: value
            for name, value in given.items()
            if value is not None or name == "do_not_disturb_until"
        }


class PreferencesReplacement(PreferencesRequest):
    """All preferences of a recipient. Omitted fields are reset to the default.

    An omitted `locale` or `timezone` stays.
    """

    def columns(self) -> dict[str, object]:
        """Return all columns of the preferences."""
        return dict(_DEFAULTS) | super().columns()


_DEFAULTS: Final[Mapping[str, object]] = MappingProxyType({
    "channels_off": [],
    "channel_order": [],
    "categories_off": [],
    "topics_off": {},
    "digests": {},
    "quiet_hours": [],
    "do_not_disturb_until": None,
    "caps": {},
})


class StoredPreferences(ResponseModel):
    """The stored preferences of a recipient."""

    channels_off: list[ChannelWord]
    channels_left: list[ChannelWord]
    """Channels from `channels_off` which the person switched off; no key can switch these on
    again."""
    channel_order: list[ChannelWord]
    categories_off: list[str]
    categories_left: list[str]
    """Categories from `categories_off` which the person switched off; no key can switch these on
    again."""
    topics_off: dict[str, list[str]]
    """Categories and types that are off on one channel."""
    topics_left: dict[str, list[str]]
    """Those of `topics_off` which the person switched off; no key can switch these on again."""
    digests: dict[str, str]
    """The choices of the recipient: `at_once`, `daily` or `weekly` by category or type."""
    quiet_hours: list[Window]
    do_not_disturb_until: dt.datetime | None
    caps: dict[str, str]


class ChannelChoice(ResponseModel):
    """A channel of the recipient."""

    channel: ChannelWord
    name: str
    """In the language of the answer."""
    on: bool
    """false: nothing is sent on the channel, not even a P0."""


class CellChoice(ResponseModel):
    """A topic on a channel."""

    channel: ChannelWord
    on: bool
    """A message of this topic is sent on the channel."""
    locked: Lock
    """The reason for which the cell cannot be changed: `mandatory`, `channel_off`, or
    `category_off`; empty: it can be changed."""


class TypeChoice(ResponseModel):
    """A notification type, with a cell for each channel."""

    topic: str
    """The key for `choices`."""
    name: str
    """In the language of the answer; without a text of an operator, from the key."""
    description: str
    mandatory: Mandatory
    """`security`: the type has priority P0. `required`: the setting of the type. Empty: the
    recipient can switch the topic off."""
    mandatory_reason: str
    """In the language of the answer; empty if the topic can be switched off."""
    cells: list[CellChoice]
    digest: DigestChoice | None
    """The choice that applies to e-mails of the topic; null: the topic offers no digest."""


class TopicChoice(TypeChoice):
    """A category with its types, or a type without a category."""

    types: list[TypeChoice]


class PreferencesAnswer(StoredPreferences):
    """The preferences of a recipient, and the choices for display."""

    locale: str
    timezone: str
    language: str
    """The language of the names: the parameter `language`, else of the locale, else `en`."""
    channels: list[ChannelChoice]
    """Channels with a valid contact, and in-app."""
    topics: list[TopicChoice]
