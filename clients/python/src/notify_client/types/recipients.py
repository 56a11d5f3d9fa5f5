"""Recipients: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NotRequired, TypedDict

from notify_client.types.shared import (
    Cause,
    Channel,
    Weekday,
)


class ChangeLine(TypedDict):
    """One change of a recipient, a contact or the preferences."""

    at: str
    operation: str
    by: str
    """An operator, or a producer and the prefix of its key."""

    object_type: str
    object_id: str
    before: dict[str, Any]
    """The fields that differ, as they were; addresses are masked."""

    after: dict[str, Any]
    request_id: str


class ContactAnswer(TypedDict):
    """A contact as it is known."""

    id: int
    channel: Channel
    kind: str
    address: str
    primary: bool
    valid: bool
    created_at: str
    created_by: str
    """An operator, or a producer and the prefix of its key."""

    changed_at: str | None
    changed_by: str
    invalid_reason: str
    suppressed_for: list[Cause]
    """Why its address is on the suppression list, by which nothing is sent to it; empty: it is
    not there. See `/v1/suppressions`."""

    needs_check: bool
    """An open dead letter was to reach this address: check whether the address still works."""


class ContactRequest(TypedDict):
    """One address on one channel."""

    channel: Channel
    address: str
    """At most 2,600 bytes in UTF-8. Phone number (stored as E.164), mailbox (stored with its
    domain in ASCII), https URL, device token, chat target."""

    kind: NotRequired[str]
    """Where a channel has several sorts of address: `fcm_token`, `apns_token` ..."""

    primary: NotRequired[bool]
    """The one that is used where only one is: not for push, which goes to every device. Default:
    `false`."""


class ErasureJobAnswer(TypedDict):
    """How far an erasure is."""

    id: int
    created_at: str
    requested_by: str
    notifications: int
    """Notifications removed so far."""

    finished_at: str | None
    """null: the job is not done."""


class PreferencesRequest(TypedDict):
    """What a person allows. What is left out stays as it is."""

    channels_off: NotRequired[Sequence[Channel] | None]
    channel_order: NotRequired[Sequence[Channel] | None]
    categories_off: NotRequired[Sequence[str] | None]
    quiet_hours: NotRequired[Sequence[Window] | None]
    """All of them from now on. Nothing but a P0 is sent meanwhile: it waits."""

    do_not_disturb_until: NotRequired[str | datetime | None]
    """The same until an instant; null ends it."""

    caps: NotRequired[Mapping[str, str] | None]
    """How much at most, by channel: `{"sms": "1/day", "push": "5/hour"}`. All of their caps from
    now on; other channels have the usual ones."""


class RecipientChange(TypedDict):
    """What changes of a person; what is left out stays as it is."""

    locale: NotRequired[str | None]
    timezone: NotRequired[str | None]
    contacts: NotRequired[Sequence[ContactRequest] | None]
    """Contacts that are added, or changed where the address is known; the others stay."""


class PreferencesAnswer(TypedDict):
    """What a person allows."""

    channels_off: list[Channel]
    channel_order: list[Channel]
    categories_off: list[str]
    categories_left: list[str]
    """Those of `categories_off` that the person switched off: no key switches them on again."""

    quiet_hours: list[Window]
    do_not_disturb_until: str | None
    caps: dict[str, str]


class PreferencesReplacement(TypedDict):
    """What a person allows, as a whole: what is left out is as if they had said nothing."""

    channels_off: NotRequired[Sequence[Channel] | None]
    channel_order: NotRequired[Sequence[Channel] | None]
    categories_off: NotRequired[Sequence[str] | None]
    quiet_hours: NotRequired[Sequence[Window] | None]
    """All of them from now on. Nothing but a P0 is sent meanwhile: it waits."""

    do_not_disturb_until: NotRequired[str | datetime | None]
    """The same until an instant; null ends it."""

    caps: NotRequired[Mapping[str, str] | None]
    """How much at most, by channel: `{"sms": "1/day", "push": "5/hour"}`. All of their caps from
    now on; other channels have the usual ones."""


class RecipientAnswer(TypedDict):
    """A person as they are known."""

    user_id: str
    locale: str
    timezone: str
    contacts: list[ContactAnswer]


class RecipientLine(TypedDict):
    """A person in a list."""

    user_id: str
    locale: str
    timezone: str
    created_at: str
    updated_at: str


class RecipientRequest(TypedDict):
    """A person: a locale or timezone that is left out is empty from now on."""

    locale: NotRequired[str]
    """Default: `"en"`."""

    timezone: NotRequired[str]
    contacts: NotRequired[Sequence[ContactRequest] | None]
    """All of their contacts from now on, others are no longer used. Left out: they stay."""


class RefusedLine(TypedDict):
    """A line of a file that was not taken."""

    line: int
    detail: str


class SecretRotated(TypedDict):
    """The new secret. It is shown once, and again to a repeat with the same Idempotency-Key."""

    secret: str
    """`whsec_` and base64, as Standard Webhooks writes secrets."""

    fingerprint: str
    old_secret_signs_until: str


class SecretRotation(TypedDict):
    """What may end."""

    end_overlap: NotRequired[bool]
    """Rotate although the secret before the current one still signs, and end that one at once.
    Default: `false`."""


class SigningSecret(TypedDict):
    """A secret that signs now."""

    fingerprint: str
    """The first 16 hexadecimal digits of the SHA-256 of the secret's bytes."""

    current: bool
    """It was made last."""

    signs_until: str | None
    """null: until the next rotation, or until its encryption key is removed."""


class SigningSecrets(TypedDict):
    """All secrets that sign the webhooks of a contact."""

    secrets: list[SigningSecret]
    """The newest first. Each webhook has a signature of each."""

    shared_secret_until: str | None
    """Until when the secret of all receivers signs too; null: it does not."""


class SuppressionAnswer(TypedDict):
    """An entry of the list."""

    id: int
    channel: Channel
    address: str
    reason: Cause
    provider: str
    note: str
    created_at: str
    created_by: str
    undone_at: str | None
    undone_by: str
    undo_note: str


class SuppressionRequest(TypedDict):
    """An address that shall not be used."""

    channel: Channel
    address: str
    note: NotRequired[str]


class SuppressionsImported(TypedDict):
    """What became of a file."""

    added: int
    known: int
    """On the list already, or twice in the file."""

    refused: int
    faults: list[RefusedLine]
    """The first hundred of those refused."""


class Window(TypedDict):
    """One quiet time, on each of its days and channels."""

    days: NotRequired[Sequence[Weekday]]
    """The days on which it begins; none named: every day."""

    channels: NotRequired[Sequence[Channel]]
    """The channels that it quietens; none named: all."""

    start: str
    """In the person's local time."""

    end: str
    """The same; not after `start`: on the next day. Equal to it: a day later."""


class ListRecipientsQuery(TypedDict, total=False):
    """What `list_recipients` is asked for."""

    cursor: int
    """`next` of the page before."""

    limit: int
    """Most results of one page. Default: `50`."""

    user_id: Sequence[str]
    """The recipients with any of these names."""


class ListRecipientChangesQuery(TypedDict, total=False):
    """What `list_recipient_changes` is asked for."""

    cursor: int
    """`next` of the page before."""

    limit: int
    """Most results of one page. Default: `50`."""


class ListSuppressionsQuery(TypedDict, total=False):
    """What `list_suppressions` is asked for."""

    address: str
    """Entries of this address, in any spelling; needs one `channel`."""

    channel: Sequence[Channel]
    """Entries of any of these channels."""

    cursor: int
    """`next` of the page before."""

    limit: int
    """Most results of one page. Default: `50`."""

    reason: Sequence[Cause]
    """Entries with any of these reasons."""

    undone: bool
    """`true`: the entries that were taken back. Default: `false`."""


class UndoSuppressionQuery(TypedDict, total=False):
    """What `undo_suppression` is asked for."""

    note: str
    """Why; operators see it beside the entry."""
