"""Request and response schemas of recipients."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final

from pydantic import (
    Field,
    ValidationInfo,
    field_validator,
)

from notifications.core.api.schemas import ChannelWord, RequestModel, ResponseModel
from notifications.core.rules.recipient import Locale, Zone
from notifications.core.rules.request import Text
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.suppression import LONGEST_ADDRESS, Cause
from notifications.core.store.postgres import contact_addresses
from notifications.core.store.postgres.contact_book import Address
from providers.contract import Channel

MAX_CONTACTS: Final = 100
"""Maximum contacts of a recipient; every device is a contact."""


class ContactRequest(RequestModel):
    """An address on a channel."""

    channel: AskedChannel
    address: Annotated[Text, Field(min_length=1, max_length=LONGEST_ADDRESS)]
    """At most 2,600 bytes in UTF-8. Phone number (stored as E.164), e-mail address (stored with the
    domain in lower-case ASCII), https URL, device token or chat target. Surrounding space and
    invisible characters are removed. An address that differs in the spelling alone, as in the case
    of a mailbox, updates the contact."""
    kind: Annotated[Text, Field(max_length=24, validate_default=True)] = ""
    """The kind of address on a channel with several kinds, such as `fcm_token` or `apns_token`."""
    primary: bool = False
    """Use this contact when a channel sends to a single contact. Push sends to every device."""

    @field_validator("address")
    @classmethod
    def _check_address(cls, address: str, info: ValidationInfo) -> str:
        channel: Channel | None = info.data.get("channel")
        # Without a valid channel, only the channel's error is reported.
        return address if channel is None else contact_addresses.normalize(channel, address)

    @field_validator("kind")
    @classmethod
    def _check_kind(cls, kind: str, info: ValidationInfo) -> str:
        channel, address = info.data.get("channel"), info.data.get("address")
        # Without a valid channel and address, only their errors are reported.
        if channel is None or address is None:
            return kind
        return contact_addresses.kind_of(channel, address, kind)

    def as_address(self) -> Address:
        """Return the contact as an address of the store."""
        return Address(
            channel=self.channel, address=self.address, kind=self.kind, primary=self.primary
        )


class RecipientRequest(RequestModel):
    """A recipient. An omitted locale or timezone is reset to the default."""

    locale: Locale = "en"
    timezone: Zone = ""
    attributes: dict[str, Any] | None = None
    """Replaces all attributes, for audiences: names and values by `/v1/attributes`. Omitted:
    attributes stay."""
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
    attributes: dict[str, Any] | None = None
    """Attributes to set; null removes an attribute. Other attributes stay."""
    contacts: Annotated[list[ContactRequest], Field(max_length=MAX_CONTACTS)] | None = None
    """Contacts to add, or to change if the address is known. Other contacts stay."""

    def profile(self) -> dict[str, str]:
        """Return the columns of the recipient to change."""
        given = {"locale": self.locale, "timezone": self.timezone}
        return {name: value for name, value in given.items() if value is not None}


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
    attributes: dict[str, Any]
    """Values of defined attributes."""
    contacts: list[ContactAnswer]


class RecipientLine(ResponseModel):
    """A recipient in a list."""

    user_id: str
    locale: str
    timezone: str
    created_at: dt.datetime
    updated_at: dt.datetime


class ErasedCounts(ResponseModel):
    """Counts of the erased data by place."""

    contacts: int
    notifications: int
    dead_letters: int
    inbox_items: int = 0
    """In-app messages in the inbox."""
    archive_keys: int
    """Deleted keys of the recipient's data in the archive; without the key the data is
    unreadable."""


class ErasureReceipt(ResponseModel):
    """The evidence of a finished erasure."""

    job_id: int
    mode: str
    recipient_id: int
    """Number of the removed recipient; the receipt has no user id."""
    requested_by: str
    requested_at: dt.datetime
    erased_at: dt.datetime
    erased: ErasedCounts
    kept: list[str]
    """Data that an erasure leaves, with the reason."""


class ErasureJobAnswer(ResponseModel):
    """The progress of an erasure job."""

    id: int
    created_at: dt.datetime
    requested_by: str
    notifications: int
    """Notifications removed so far."""
    finished_at: dt.datetime | None
    """null: the job is still running."""
    receipt: ErasureReceipt | None
    """null: the job is still running."""
    receipt_signature: str
    """HMAC-SHA256 of the receipt under a key of the service, hexadecimal; empty while it runs."""


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
