"""Recipients: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from notify_client.types.shared import (
    Cause,
    Channel,
)


class AttributeAnswer(TypedDict):
    """A defined attribute."""

    name: str
    kind: Literal["text", "number", "boolean", "date", "list"]
    description: str
    created_at: str
    created_by: str


class AttributeRequest(TypedDict):
    """The definition of an attribute."""

    kind: Literal["text", "number", "boolean", "date", "list"]
    """The type of the values; a definition keeps the kind."""

    description: NotRequired[str]


class ChangeLine(TypedDict):
    """A change of a recipient, a contact or preferences."""

    at: str
    operation: str
    by: str
    """An operator, or a producer with the prefix of the key."""

    object_type: str
    object_id: str
    before: dict[str, Any]
    """The previous values of changed fields; addresses are masked."""

    after: dict[str, Any]
    request_id: str


class ContactAnswer(TypedDict):
    """A stored contact."""

    id: int
    channel: Channel
    kind: str
    address: str
    primary: bool
    valid: bool
    created_at: str
    created_by: str
    """An operator, or a producer with the prefix of the key."""

    changed_at: str | None
    changed_by: str
    invalid_reason: str
    suppressed_for: list[Cause]
    """Reasons for which the address is on the suppression list; empty: not on the list.

    Nothing is sent to a suppressed address. See `/v1/suppressions`.
    """

    needs_check: bool
    """A delivery to this address is an open dead letter: check the address."""


class ContactRequest(TypedDict):
    """An address on a channel."""

    channel: Channel
    address: str
    """At most 2,600 bytes in UTF-8.

    Phone number (stored as E.164), e-mail address (stored with the domain in lower-case
    ASCII), https URL, device token or chat target. Surrounding space and invisible characters
    are removed. An address that differs in the spelling alone, as in the case of a mailbox,
    updates the contact.
    """

    kind: NotRequired[str]
    """The kind of address on a channel with several kinds, such as `fcm_token` or `apns_token`."""

    primary: NotRequired[bool]
    """Use this contact when a channel sends to a single contact.

    Push sends to every device. Default: `false`.
    """


class ErasedCounts(TypedDict):
    """Counts of the erased data by place."""

    contacts: int
    notifications: int
    dead_letters: int
    inbox_items: NotRequired[int]
    """In-app messages in the inbox. Default: `0`."""

    archive_keys: int
    """Deleted keys of the recipient's data in the archive; without the key the data is
    unreadable.
    """


class ErasureJobAnswer(TypedDict):
    """The progress of an erasure job."""

    id: int
    created_at: str
    requested_by: str
    notifications: int
    """Notifications removed so far."""

    finished_at: str | None
    """null: the job is still running."""

    receipt: ErasureReceipt | None
    """null: the job is still running."""

    receipt_signature: str
    """HMAC-SHA256 of the receipt under a key of the service, hexadecimal; empty while it runs."""


class ErasureReceipt(TypedDict):
    """The evidence of a finished erasure."""

    job_id: int
    mode: str
    recipient_id: int
    """Number of the removed recipient; the receipt has no user id."""

    requested_by: str
    requested_at: str
    erased_at: str
    erased: ErasedCounts
    kept: list[str]
    """Data that an erasure leaves, with the reason."""


class RecipientChange(TypedDict):
    """Changes of a recipient. Omitted fields keep the current value."""

    locale: NotRequired[str | None]
    timezone: NotRequired[str | None]
    attributes: NotRequired[Mapping[str, Any] | None]
    """Attributes to set; null removes an attribute. Other attributes stay."""

    contacts: NotRequired[Sequence[ContactRequest] | None]
    """Contacts to add, or to change if the address is known. Other contacts stay."""


class RecipientAnswer(TypedDict):
    """A stored recipient."""

    user_id: str
    locale: str
    timezone: str
    attributes: dict[str, Any]
    """Values of defined attributes."""

    contacts: list[ContactAnswer]


class RecipientImportFault(TypedDict):
    """A line, or a part of a line, that was not imported."""

    place: str
    """The line, and the column if the fault is in one."""

    detail: str


class RecipientLine(TypedDict):
    """A recipient in a list."""

    user_id: str
    locale: str
    timezone: str
    created_at: str
    updated_at: str


class RecipientRequest(TypedDict):
    """A recipient. An omitted locale or timezone is reset to the default."""

    locale: NotRequired[str]
    """Default: `"en"`."""

    timezone: NotRequired[str]
    attributes: NotRequired[Mapping[str, Any] | None]
    """Replaces all attributes, for audiences: names and values by `/v1/attributes`.

    Omitted: attributes stay.
    """

    contacts: NotRequired[Sequence[ContactRequest] | None]
    """Replaces all contacts; contacts missing from the list are no longer used.

    Omitted: contacts stay.
    """


class RecipientTopics(TypedDict):
    """The topics of a recipient."""

    topics: list[str]


class RecipientsImported(TypedDict):
    """The result of an import."""

    imported: int
    """New and changed recipients; with `dry_run` those that an import would create or change."""

    unchanged: int
    """Recipients that have everything in the file already."""

    left_out: int
    """Choices of an earlier import that were changed since; the later change stays."""

    not_understood: int
    """Lines, and parts of lines, with a fault."""

    faults: list[RecipientImportFault]
    """The first 100 faults."""


class RefusedLine(TypedDict):
    """A rejected line of a file."""

    line: int
    detail: str


class SecretRotated(TypedDict):
    """The new secret.

    The response shows the secret once; a repeat with the same Idempotency-Key shows the
    secret again.
    """

    secret: str
    """`whsec_` and base64, as in Standard Webhooks."""

    fingerprint: str
    old_secret_signs_until: str


class SecretRotation(TypedDict):
    """Options of a rotation."""

    end_overlap: NotRequired[bool]
    """Rotate while the previous secret is still active, and end the previous secret at once.

    Default: `false`.
    """


class SigningSecret(TypedDict):
    """An active signing secret."""

    fingerprint: str
    """The first 16 hexadecimal digits of the SHA-256 of the secret's bytes."""

    current: bool
    """True for the newest secret."""

    signs_until: str | None
    """null: until the next rotation, or until removal of the encryption key."""


class SigningSecrets(TypedDict):
    """All active signing secrets of a contact."""

    secrets: list[SigningSecret]
    """Newest first. Every webhook has a signature for every active secret."""

    shared_secret_until: str | None
    """End of the signatures with the secret shared by all receivers; null: already ended."""


class SuppressionAnswer(TypedDict):
    """An entry of the suppression list."""

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
    """An address to suppress."""

    channel: Channel
    address: str
    note: NotRequired[str]


class SuppressionsImported(TypedDict):
    """The result of an import."""

    added: int
    known: int
    """Lines already on the list, or repeated in the file."""

    refused: int
    faults: list[RefusedLine]
    """The first 100 rejected lines."""


class ImportRecipientsQuery(TypedDict, total=False):
    """Parameters of `import_recipients`."""

    dry_run: bool
    """Report, and change nothing. Default: `false`."""

    partial: bool
    """Import the other lines although a line has a fault.

    Otherwise one fault refuses the file. Default: `false`.
    """


class ListRecipientsQuery(TypedDict, total=False):
    """Parameters of `list_recipients`."""

    cursor: int
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""

    user_id: Sequence[str]
    """Recipients with any of these user ids."""


class ListSuppressionsQuery(TypedDict, total=False):
    """Parameters of `list_suppressions`."""

    address: str
    """Entries of this address, in any spelling. Requires exactly one `channel`."""

    channel: Sequence[Channel]
    """Entries of any of these channels."""

    cursor: int
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""

    reason: Sequence[Cause]
    """Entries with any of these reasons."""

    undone: bool
    """`true` lists removed entries instead of active entries. Default: `false`."""


class UndoSuppressionQuery(TypedDict, total=False):
    """Parameters of `undo_suppression`."""

    note: str
    """The reason, shown to operators beside the entry."""
