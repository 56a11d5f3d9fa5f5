"""What callers say of recipients, and what they are told."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from notifications.api.schemas import Answer, Asked, ChannelLabel, ChannelWord
from notifications.rules.rate_limits import frequency_caps as caps
from notifications.rules.recipient import Locale, Zone
from notifications.rules.request import Instant, Name, Text
from notifications.rules.request_fields import AskedChannel
from notifications.rules.suppression import LONGEST_ADDRESS, Cause
from notifications.rules.times import quiet_hours
from notifications.rules.times.quiet_hours import Window, Windows
from notifications.store.postgres import contact_addresses
from notifications.store.postgres.recipients import Address
from providers.contract import Channel

MAX_CONTACTS: Final = 100
"""Of one recipient: every device counts."""
Member = TypeVar("Member")


def _cap(written: str) -> str:
    return str(caps.Cap.parse(written))


def _windows(windows: Windows) -> Windows:
    quiet_hours.check(windows)
    return windows


def _once(given: list[Member]) -> list[Member]:
    return list(dict.fromkeys(given))


Channels = Annotated[list[AskedChannel], Field(max_length=len(Channel)), AfterValidator(_once)]
CapText = Annotated[
    str,
    AfterValidator(_cap),
    WithJsonSchema({"type": "string", "pattern": caps.PATTERN, "examples": ["3/day"]}),
]
QuietHours = Annotated[Windows, Field(max_length=quiet_hours.MAX_WINDOWS), AfterValidator(_windows)]


class ContactRequest(Asked):
    """One address on one channel."""

    channel: AskedChannel
    address: Annotated[Text, Field(min_length=1, max_length=LONGEST_ADDRESS)]
    """At most 2,600 bytes in UTF-8. Phone number (stored as E.164), mailbox (stored with its
    domain in ASCII), https URL, device token, chat target."""
    kind: Annotated[Text, Field(max_length=24)] = ""
    """Where a channel has several sorts of address: `fcm_token`, `apns_token` ..."""
    primary: bool = False
    """The one that is used where only one is: not for push, which goes to every device."""

    @field_validator("address")
    @classmethod
    def _check_address(cls, address: str, info: ValidationInfo) -> str:
        channel: Channel | None = info.data.get("channel")
        # Without a channel, only the mistake of the channel is reported.
        return address if channel is None else contact_addresses.stored(channel, address)

    def as_address(self) -> Address:
        """In the words of the store."""
        return Address(
            channel=self.channel, address=self.address, kind=self.kind, primary=self.primary
        )


class RecipientRequest(Asked):
    """A person: a locale or timezone that is left out is empty from now on."""

    locale: Locale = "en"
    timezone: Zone = ""
    contacts: Annotated[list[ContactRequest], Field(max_length=MAX_CONTACTS)] | None = None
    """All of their contacts from now on, others are no longer used. Left out: they stay."""

    def profile(self) -> dict[str, str]:
        """The columns of a recipient."""
        return {"locale": self.locale, "timezone": self.timezone}


class RecipientChange(Asked):
    """What changes of a person; what is left out stays as it is."""

    locale: Locale | None = None
    timezone: Zone | None = None
    contacts: Annotated[list[ContactRequest], Field(max_length=MAX_CONTACTS)] | None = None
    """Contacts that are added, or changed where the address is known; the others stay."""

    def profile(self) -> dict[str, str]:
        """The columns of a recipient that change."""
        given = {"locale": self.locale, "timezone": self.timezone}
        return {name: value for name, value in given.items() if value is not None}


class PreferencesRequest(Asked):
    """What a person allows. What is left out stays as it is."""

    channels_off: Channels | None = None
    channel_order: Channels | None = None
    categories_off: Annotated[list[Name], Field(max_length=100), AfterValidator(_once)] | None = (
        None
    )
    quiet_hours: QuietHours | None = None
    """All of them from now on. Nothing but a P0 is sent meanwhile: it waits."""
    do_not_disturb_until: Instant | None = None
    """The same until an instant; null ends it."""

    caps: Annotated[dict[ChannelLabel, CapText], Field(max_length=len(Channel))] | None = None
    """How much at most, by channel: `{"sms": "1/day", "push": "5/hour"}`. All of their caps from
    now on; other channels have the usual ones."""

    def changes(self) -> dict[str, object]:
        """What is to change, as the columns of a preference take it."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        if self.quiet_hours is not None:
            given["quiet_hours"] = quiet_hours.stored(self.quiet_hours)
        return {
            name: value
            for name, value in given.items()
            if value is not None or name == "do_not_disturb_until"
        }


class ContactAnswer(Answer):
    """A contact as it is known."""

    id: int
    channel: ChannelWord
    kind: str
    address: str
    primary: bool
    valid: bool
    created_at: dt.datetime
    created_by: str
    """An operator, or a producer and the prefix of its key."""
    changed_at: dt.datetime | None
    changed_by: str
    invalid_reason: str
    suppressed_for: list[Cause]
    """Why its address is on the suppression list, by which nothing is sent to it; empty: it is not
    there. See `/v1/suppressions`."""
    needs_check: bool
    """An open dead letter was to reach this address: check whether the address still works."""


class RecipientAnswer(Answer):
    """A person as they are known."""

    user_id: str
    locale: str
    timezone: str
    contacts: list[ContactAnswer]


class PreferencesReplacement(PreferencesRequest):
    """What a person allows, as a whole: what is left out is as if they had said nothing."""

    def changes(self) -> dict[str, object]:
        """All columns of a preference."""
        return dict(_NOTHING_SAID) | super().changes()


_NOTHING_SAID: Final[Mapping[str, object]] = MappingProxyType({
    "channels_off": [],
    "channel_order": [],
    "categories_off": [],
    "quiet_hours": [],
    "do_not_disturb_until": None,
    "caps": {},
})


class RecipientLine(Answer):
    """A person in a list."""

    user_id: str
    locale: str
    timezone: str
    created_at: dt.datetime
    updated_at: dt.datetime


class ErasureJobAnswer(Answer):
    """How far an erasure is."""

    id: int
    created_at: dt.datetime
    requested_by: str
    notifications: int
    """Notifications removed so far."""
    finished_at: dt.datetime | None
    """null: the job is not done."""


class PreferencesAnswer(Answer):
    """What a person allows."""

    channels_off: list[ChannelWord]
    channel_order: list[ChannelWord]
    categories_off: list[str]
    categories_left: list[str]
    """Those of `categories_off` that the person switched off: no key switches them on again."""
    quiet_hours: list[Window]
    do_not_disturb_until: dt.datetime | None
    caps: dict[str, str]


class ChangeLine(Answer):
    """One change of a recipient, a contact or the preferences."""

    at: dt.datetime
    operation: str
    by: str
    """An operator, or a producer and the prefix of its key."""
    object_type: str
    object_id: str
    before: dict[str, Any]
    """The fields that differ, as they were; addresses are masked."""
    after: dict[str, Any]
    request_id: str
