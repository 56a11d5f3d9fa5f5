"""Preferences: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from notify_client.types.shared import (
    Channel,
    Weekday,
)


class CellChoice(TypedDict):
    """A topic on a channel."""

    channel: Channel
    on: bool
    """A message of this topic is sent on the channel."""

    locked: Literal["", "mandatory", "channel_off", "category_off"]
    """The reason for which the cell cannot be changed: `mandatory`, `channel_off`, or
    `category_off`; empty: it can be changed.
    """


class ChannelChoice(TypedDict):
    """A channel of the recipient."""

    channel: Channel
    name: str
    """In the language of the answer."""

    on: bool
    """false: nothing is sent on the channel, not even a P0."""


class ChoiceRequest(TypedDict):
    """A topic, a channel, or a topic on a channel, to switch on or off."""

    topic: NotRequired[str | None]
    """A category or a notification type. Omitted: the whole channel."""

    channel: NotRequired[Channel | None]
    """Omitted: the topic on each channel."""

    on: bool


class PreferencesRequest(TypedDict):
    """Preferences of a recipient. Omitted fields keep the current value."""

    channels_off: NotRequired[Sequence[Channel] | None]
    channel_order: NotRequired[Sequence[Channel] | None]
    categories_off: NotRequired[Sequence[str] | None]
    """Categories and notification types that are off on each channel."""

    topics_off: NotRequired[Mapping[str, Sequence[str]] | None]
    """Categories and notification types that are off on one channel: `{"email": ["orders"]}`.

    Replaces all of these.
    """

    choices: NotRequired[Sequence[ChoiceRequest]]
    """Topics and channels to switch on or off, after the fields above. Everything else stays."""

    digests: NotRequired[Mapping[str, Any]]
    """E-mails of a category or type: `at_once`, or together `daily` or `weekly`, as `{"social":
    "weekly"}`. The choice for a type wins over that for its category. Other topics keep their
    choice.
    """

    quiet_hours: NotRequired[Sequence[Window] | None]
    """Replaces all quiet hours. During quiet hours only P0 is sent; other priorities wait."""

    do_not_disturb_until: NotRequired[str | datetime | None]
    """Quiet until this instant; null ends the quiet time."""

    caps: NotRequired[Mapping[str, str] | None]
    """Frequency caps by channel: `{"sms": "1/day", "push": "5/hour"}`.

    Replaces all caps of the recipient; channels without a cap use the default cap.
    """

    locale: NotRequired[str | None]
    """The recipient's language, for every message."""

    timezone: NotRequired[str | None]
    """The recipient's IANA timezone, for quiet hours; empty: unknown."""


class PreferencesAnswer(TypedDict):
    """The preferences of a recipient, and the choices for display."""

    channels_off: list[Channel]
    channels_left: list[Channel]
    """Channels from `channels_off` which the person switched off; no key can switch these on
    again.
    """

    channel_order: list[Channel]
    categories_off: list[str]
    categories_left: list[str]
    """Categories from `categories_off` which the person switched off; no key can switch these on
    again.
    """

    topics_off: dict[str, list[str]]
    """Categories and types that are off on one channel."""

    topics_left: dict[str, list[str]]
    """Those of `topics_off` which the person switched off; no key can switch these on again."""

    digests: dict[str, str]
    """The choices of the recipient: `at_once`, `daily` or `weekly` by category or type."""

    quiet_hours: list[Window]
    do_not_disturb_until: str | None
    caps: dict[str, str]
    locale: str
    timezone: str
    language: str
    """The language of the names: the parameter `language`, else of the locale, else `en`."""

    channels: list[ChannelChoice]
    """Channels with a valid contact, and in-app."""

    topics: list[TopicChoice]


class PreferencesReplacement(TypedDict):
    """All preferences of a recipient.

    Omitted fields are reset to the default. An omitted `locale` or `timezone` stays.
    """

    channels_off: NotRequired[Sequence[Channel] | None]
    channel_order: NotRequired[Sequence[Channel] | None]
    categories_off: NotRequired[Sequence[str] | None]
    """Categories and notification types that are off on each channel."""

    topics_off: NotRequired[Mapping[str, Sequence[str]] | None]
    """Categories and notification types that are off on one channel: `{"email": ["orders"]}`.

    Replaces all of these.
    """

    choices: NotRequired[Sequence[ChoiceRequest]]
    """Topics and channels to switch on or off, after the fields above. Everything else stays."""

    digests: NotRequired[Mapping[str, Any]]
    """E-mails of a category or type: `at_once`, or together `daily` or `weekly`, as `{"social":
    "weekly"}`. The choice for a type wins over that for its category. Other topics keep their
    choice.
    """

    quiet_hours: NotRequired[Sequence[Window] | None]
    """Replaces all quiet hours. During quiet hours only P0 is sent; other priorities wait."""

    do_not_disturb_until: NotRequired[str | datetime | None]
    """Quiet until this instant; null ends the quiet time."""

    caps: NotRequired[Mapping[str, str] | None]
    """Frequency caps by channel: `{"sms": "1/day", "push": "5/hour"}`.

    Replaces all caps of the recipient; channels without a cap use the default cap.
    """

    locale: NotRequired[str | None]
    """The recipient's language, for every message."""

    timezone: NotRequired[str | None]
    """The recipient's IANA timezone, for quiet hours; empty: unknown."""


class TopicChoice(TypedDict):
    """A category with its types, or a type without a category."""

    topic: str
    """The key for `choices`."""

    name: str
    """In the language of the answer; without a text of an operator, from the key."""

    description: str
    mandatory: Literal["", "security", "required"]
    """`security`: the type has priority P0.

    `required`: the setting of the type. Empty: the recipient can switch the topic off.
    """

    mandatory_reason: str
    """In the language of the answer; empty if the topic can be switched off."""

    cells: list[CellChoice]
    digest: Literal["at_once", "daily", "weekly"] | None
    """The choice that applies to e-mails of the topic; null: the topic offers no digest."""

    types: list[TypeChoice]


class TypeChoice(TypedDict):
    """A notification type, with a cell for each channel."""

    topic: str
    """The key for `choices`."""

    name: str
    """In the language of the answer; without a text of an operator, from the key."""

    description: str
    mandatory: Literal["", "security", "required"]
    """`security`: the type has priority P0.

    `required`: the setting of the type. Empty: the recipient can switch the topic off.
    """

    mandatory_reason: str
    """In the language of the answer; empty if the topic can be switched off."""

    cells: list[CellChoice]
    digest: Literal["at_once", "daily", "weekly"] | None
    """The choice that applies to e-mails of the topic; null: the topic offers no digest."""


class Window(TypedDict):
    """A period of quiet hours, on the given days and channels."""

    days: NotRequired[Sequence[Weekday]]
    """The days on which it begins; none named: every day."""

    channels: NotRequired[Sequence[Channel]]
    """The channels that it quietens; none named: all."""

    start: str
    """In the person's local time."""

    end: str
    """The same; not after `start`: on the next day. Equal to it: a day later."""


class GetPreferencesQuery(TypedDict, total=False):
    """Parameters of `get_preferences`."""

    language: str
    """Language of the names in the answer, such as `de`: `en`, `de`, `fr`, `es`, `ar` or `pt-BR`.

    Default: the recipient's locale.
    """


class PutPreferencesQuery(TypedDict, total=False):
    """Parameters of `put_preferences`."""

    language: str
    """Language of the names in the answer, such as `de`: `en`, `de`, `fr`, `es`, `ar` or `pt-BR`.

    Default: the recipient's locale.
    """


class ChangePreferencesQuery(TypedDict, total=False):
    """Parameters of `change_preferences`."""

    language: str
    """Language of the names in the answer, such as `de`: `en`, `de`, `fr`, `es`, `ar` or `pt-BR`.

    Default: the recipient's locale.
    """
