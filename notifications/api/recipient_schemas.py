"""Request and response schemas of recipients."""

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

from notifications.api.schemas import ChannelLabel, ChannelWord, RequestModel, ResponseModel
from notifications.rules.rate_limits.frequency_caps import PATTERN, Cap
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
"""Maximum contacts of a recipient; every device is a contact."""
Member = TypeVar("Member")


def _cap(written: str) -> str:
    return str(Cap.parse(written))


def _windows(windows: Windows) -> Windows:
    quiet_hours.check(windows)
    return windows


def _once(given: list[Member]) -> list[Member]:
    return list(dict.fromkeys(given))


Channels = Annotated[list[AskedChannel], Field(max_length=len(Channel)), AfterValidator(_once)]
CapText = Annotated[
    str,
    AfterValidator(_cap),
    WithJsonSchema({"type": "string", "pattern": PATTERN, "examples": ["3/day"]}),
]
QuietHours = Annotated[Windows, Field(max_length=quiet_hours.MAX_WINDOWS), AfterValidator(_windows)]


class ContactRequest(RequestModel):
    """An address on a channel."""

    channel: AskedChannel
    address: Annotated[Text, Field(min_length=1, max_length=LONGEST_ADDRESS)]
    """At most 2,600 bytes in UTF-8. Phone number (stored as E.164), e-mail address (stored with the
    domain in ASCII), https URL, device token or chat target."""
    kind: Annotated[Text, Field(max_length=24)] = ""
    """The kind of address on a channel with several kinds, such as `fcm_token` or `apns_token`."""
    primary: bool = False
    """Use this contact when a channel sends to a single contact. Push sends to every device."""

    @field_validator("address")
    @classmethod
    def _check_address(cls, address: str, info: ValidationInfo) -> str:
        channel: Channel | None = info.data.get("channel")
        # Without a valid channel, only the channel's error is reported.
        return address if channel is None else contact_addresses.normalize(channel, address)

    def as_address(self) -> Address:
        """Return the contact as an address of the store."""
        return Address(
            channel=self.channel, address=self.address, kind=self.kind, primary=self.primary
        )


class RecipientRequest(RequestModel):
    """A recipient. An omitted locale or timezone is reset to the default."""

    locale: Locale = "en"
    timezone: Zone = ""
    contacts: Annotated[list[ContactRequest], Field(max_length=MAX_CONTACTS)] | None = None
    """Replaces all contacts; contacts missing from the list are no longer used. Omitted: contacts
    stay."""

    def profile(self) -> dict[str, str]:
        """Return the columns of the recipient."""
        return {"locale": self.locale, "timezone": self.timezone}


class RecipientChange(RequestModel):
    """Changes of a recipient. Omitted fields keep the current value."""

    locale: Locale | None = None
    timezone: Zone | None = None
    contacts: Annotated[list[ContactRequest], Field(max_length=MAX_CONTACTS)] | None = None
    """Contacts to add, or to change if the address is known. Other contacts stay."""

    def profile(self) -> dict[str, str]:
        """Return the columns of the recipient to change."""
        given = {"locale": self.locale, "timezone": self.timezone}
        return {name: value for name, value in given.items() if value is not None}


class PreferencesRequest(RequestModel):
    """Preferences of a recipient. Omitted fields keep the current value."""

    channels_off: Channels | None = None
    channel_order: Channels | None = None
    categories_off: Annotated[list[Name], Field(max_length=100), AfterValidator(_once)] | None = (
        None
    )
    quiet_hours: QuietHours | None = None
    """Replaces all quiet hours. During quiet hours only P0 is sent; other priorities wait."""
    do_not_disturb_until: Instant | None = None
    """Quiet until this instant; null ends the quiet time."""

    caps: Annotated[dict[ChannelLabel, CapText], Field(max_length=len(Channel))] | None = None
    """Frequency caps by channel: `{"sms": "1/day", "push": "5/hour"}`. Replaces all caps of the
    recipient; channels without a cap use the default cap."""

    def changes(self) -> dict[str, object]:
        """Return the columns of the preferences to change."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        if self.quiet_hours is not None:
            given["quiet_hours"] = quiet_hours.to_json(self.quiet_hours)
        return {
            name: value
            for name, value in given.items()
            if value is not None or name == "do_not_disturb_until"
        }


class ContactAnswer(ResponseModel):
    """A stored contact."""

    id: int
    channel: ChannelWord
    kind: str
    address: str
    primary: bool
    valid: bool
    created_at: dt.datetime
    created_by: str
    """An operator, or a producer with the prefix of the key."""
    changed_at: dt.datetime | None
    changed_by: str
    invalid_reason: str
    suppressed_for: list[Cause]
    """Reasons for which the address is on the suppression list; empty: not on the list. Nothing is
    sent to a suppressed address. See `/v1/suppressions`."""
    needs_check: bool
    """A delivery to this address is an open dead letter: check the address."""


class RecipientAnswer(ResponseModel):
    """A stored recipient."""

    user_id: str
    locale: str
    timezone: str
    contacts: list[ContactAnswer]


class PreferencesReplacement(PreferencesRequest):
    """All preferences of a recipient. Omitted fields are reset to the default."""

    def changes(self) -> dict[str, object]:
        """Return all columns of the preferences."""
        return dict(_NOTHING_SAID) | super().changes()


_NOTHING_SAID: Final[Mapping[str, object]] = MappingProxyType({
    "channels_off": [],
    "channel_order": [],
    "categories_off": [],
    "quiet_hours": [],
    "do_not_disturb_until": None,
    "caps": {},
})


class RecipientLine(ResponseModel):
    """A recipient in a list."""

    user_id: str
    locale: str
    timezone: str
    created_at: dt.datetime
    updated_at: dt.datetime


class ErasureJobAnswer(ResponseModel):
    """The progress of an erasure job."""

    id: int
    created_at: dt.datetime
    requested_by: str
    notifications: int
    """Notifications removed so far."""
    finished_at: dt.datetime | None
    """null: the job is still running."""


class PreferencesAnswer(ResponseModel):
    """The preferences of a recipient."""

    channels_off: list[ChannelWord]
    channel_order: list[ChannelWord]
    categories_off: list[str]
    categories_left: list[str]
    """Categories from `categories_off` which the person switched off; no key can switch these on
    again."""
    quiet_hours: list[Window]
    do_not_disturb_until: dt.datetime | None
    caps: dict[str, str]


class ChangeLine(ResponseModel):
    """A change of a recipient, a contact or preferences."""

    at: dt.datetime
    operation: str
    by: str
    """An operator, or a producer with the prefix of the key."""
    object_type: str
    object_id: str
    before: dict[str, Any]
    """The previous values of changed fields; addresses are masked."""
    after: dict[str, Any]
    request_id: str
