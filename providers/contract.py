"""The contract of provider adapters: messages, outcomes and receipts, alike for all vendors.

Each message of a call ends in exactly one of seven outcomes. Outcomes are values, not exceptions:
a batch has one for each message, and the caller handles every kind (`match`, `assert_never`).

    send(batch)             -> an Outcome for each message
    parse_receipt(request)  -> [Receipt | InboundText | Removal, ...]    later, by HTTP

`providers/` does not import Django, Celery or a database driver: an adapter runs alone in a shell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Protocol, runtime_checkable
from uuid import UUID

from providers.mail_headers import NO_HEADERS, MailHeaders
from providers.message_parts import Attachment, InApp
from providers.records import record
from providers.refused_parts import RefusedPart


class Channel(IntEnum):
    """A channel to a recipient. Postgres stores the number; API, lanes and logs show `label`."""

    PUSH = 1
    SMS = 2
    EMAIL = 3
    IN_APP = 4
    WEBHOOK = 5
    CHAT = 6

    label: str  # `push`, `in_app` ...

    def __init__(self, _number: int) -> None:
        self.label = self._name_.lower()

    @classmethod
    def from_label(cls, label: str) -> Channel:
        """Read a name back; raises KeyError for a name that is no channel."""
        return cls[label.upper()]


class Repeat(StrEnum):
    """The effect of a second call with the same message and the same idempotency key."""

    DEDUPLICATED = "deduplicated"
    """The provider recognises the key and sends once."""
    HIDDEN = "hidden"
    """The vendor sends both; the second replaces the first on the device (tag, collapse id)."""
    VISIBLE = "visible"
    """The recipient gets the message twice."""


@record
class Pace:
    """The allowed rate of calls to a vendor: a bucket of `burst` messages that refills steadily."""

    burst: int
    per_second: float

    @classmethod
    def even(cls, per_second: int) -> Pace:
        """Return a pace with the messages of one second as burst."""
        return cls(burst=per_second, per_second=per_second)


@record
class Capabilities:
    """The data about a provider that delivery needs before the call."""

    channels: frozenset[Channel]
    repeat: Repeat
    gives_receipts: bool
    """A receipt can come for each accepted message; otherwise `sent` is the last status."""
    receipts_by_get: bool = False
    """The vendor reports by GET: the receipt is the query of the URL."""
    receipt_headers: frozenset[str] = frozenset()
    """Headers, in lower case, of every receipt: a callback without one is refused unread."""
    batch_limit: int = 500
    """Largest number of messages in one `send`."""
    pace: Pace | None = None
    """Rate limit of the provider, or of each endpoint if `endpoint_of` is set; None: no limit."""
    address_kinds: frozenset[str] = frozenset()
    """The kinds of `Message.address_kind` that the provider takes; empty: all kinds."""
    takes: Mapping[Channel, Callable[[str], bool]] = field(default_factory=dict)
    """By channel a function that tells if the provider can send to an address; else: all."""
    concurrency: int = 2_000
    """Largest useful number of calls in flight from one process: a ceiling, not a goal."""
    withdraws: bool = False
    """The provider takes a `Message` with `is_withdrawal` on the channels push and in_app."""
    attachment_bytes: int = 0
    """Most bytes of a message's attachments together, before encoding; 0: no attachments."""
    sender_address: str = ""
    """Address of the From header in the setting (of e-mail), in the form of `mailboxes`."""
    inline_images: bool = True
    """The HTML of a message can show attached images."""
    marks_begin: bool = False
    """The adapter calls `Message.on_begin` of each message. False: calls begin with `send`."""
    endpoint_of: Callable[[str], str] | None = None
    """An address's endpoint, without a secret, if health is stored for each (webhook, chat)."""


@record
class Message:
    """A rendered message to an address: all data for an adapter."""

    delivery_id: UUID
    notification_id: UUID
    idempotency_key: str
    """Delivery id and generation: new only after a replay of a definite rejection."""
    channel: Channel
    address: str = field(repr=False)
    """Device token, E.164 number, mailbox, URL ... never logged."""
    address_kind: str = ""
    """Kind of address on a channel with several kinds (`fcm_token`, `apns_token`, `web_push`)."""
    title: str = field(default="", repr=False)
    body: str = field(default="", repr=False)
    html: str = field(default="", repr=False)
    """The text can contain sensitive values and is never logged."""
    collapse_key: str = ""
    urgent: bool = False
    """P0 and P1: the device may be woken."""
    time_to_live: timedelta = timedelta(days=1)
    """Time during which the provider may retry: the rest of the notification's TTL."""
    traceparent: str = ""
    """W3C trace context to pass on to a provider of the same installation (webhook, sandbox)."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Extra strings for the client: `type`; on push `url` and `image_url`, if the text has them."""
    signing_keys: tuple[bytes, ...] = field(default=(), repr=False)
    """The contact's own keys, if the provider signs for each contact (webhook)."""
    is_signed_for_all: bool = False
    """True if the provider's installation-wide secrets sign beside the contact's keys."""
    is_withdrawal: bool = False
    """True: the app removes the shown message with the same ids; texts and `data` are empty."""
    on_begin: Callable[[], None] | None = field(default=None, repr=False, compare=False)
    """Called before bytes leave that can make the provider act on the message, as late as the
    adapter can, from any thread, if `Capabilities.marks_begin`. Returns at once, raises nothing."""
    mail: MailHeaders = NO_HEADERS
    in_app: InApp | None = None
    """The further parts of a message on the channel in_app."""
    attachments: tuple[Attachment, ...] = ()
    """Files of an e-mail; only for a provider with `Capabilities.attachment_bytes`."""
    unsubscribe_url: str = field(default="", repr=False)
    """URL at which one POST unsubscribes (RFC 8058), in headers of an e-mail; never logged."""
    template_ids: Mapping[str, str] = field(default_factory=dict)
    """Chat: provider -> id of the template of WhatsApp in place of the text; empty: the text."""
    template_parameters: tuple[str, ...] = field(default=(), repr=False)
    """Values of the template's placeholders, in order; never logged."""


@record
class Accepted:
    """The provider accepted the message."""

    message_id: str = ""
    """The provider's own id, if the answer contains an id."""
    segments: int | None = None
    """SMS segments by the provider's count; None: the answer has no count."""
    new_address: str = field(default="", repr=False)
    """The address that replaced the message's address for good: the contact stores the new one."""


@record
class Throttled:
    """The provider refuses for the rate; nothing was sent. Try again after `retry_after`."""

    code: str = ""
    detail: str = ""
    retry_after: timedelta | None = None


@record
class Unavailable:
    """The provider is down or unreachable; nothing was sent. Try again."""

    code: str = ""
    detail: str = ""
    retry_after: timedelta | None = None


@record
class NotStarted:
    """The call did not begin, because the local queue was too long or the process is stopping.

    Nothing was sent, no attempt is spent, and the outcome says nothing of the provider's health.
    """

    code: str = ""
    detail: str = ""


@record
class Rejected:
    """The provider refused the message for good: a repeat by the same provider is useless."""

    code: str = ""
    detail: str = ""
    contact_is_dead: bool = False
    """The address is gone (unregistered token, no such mailbox): the address is not used again."""
    gone_since: datetime | None = None
    """Time since which the address is gone; None: the vendor names no time."""
    has_opted_out: bool = False
    """The recipient ended messages at the vendor: the suppression list gets the valid address."""
    may_be_misconfigured: bool = False
    """The code can also mean a wrong setting (another Firebase project): many answers mean that."""
    another_provider_may_accept: bool = False
    """The refusal is the provider's alone (sender, region, route, spam): the next one is asked."""
    refused_part: RefusedPart = RefusedPart.NONE


@record
class Misconfigured:
    """A local setting is wrong: credentials, sender, account. The backlog must be kept."""

    code: str = ""
    detail: str = ""
    refused_part: RefusedPart = RefusedPart.NONE


@record
class Unanswered:
    """Bytes were sent and no answer came: the vendor may have sent the message."""

    code: str = ""
    detail: str = ""


Outcome = Accepted | Throttled | Unavailable | NotStarted | Rejected | Misconfigured | Unanswered


@record
class Result:
    """The outcome of a message of a batch."""

    delivery_id: UUID
    outcome: Outcome
    latency: timedelta
    """Time from the start of the call to the outcome; 0 if no call started."""
    own_delay: timedelta = timedelta(0)
    """Part of `latency` in which the request or the answer waited for this process, if known."""
    http_status: int | None = None
    """Status of the provider's answer; None if no HTTP answer came."""
    retry_after: timedelta | None = None
    """Wait in the answer's Retry-After header, for every outcome."""
    signed_with: str = ""
    """Public key of the request's signature (Web Push: the VAPID key, base64url)."""


class ReceiptKind(StrEnum):
    """The later fate of an accepted message, as a provider or the client application reports."""

    DELIVERED = "delivered"
    """The message reached the device, handset or mailbox."""
    READ = "read"
    """The recipient opened the message."""
    BOUNCED = "bounced"
    """The message was accepted and came back (mailbox gone, handset unknown)."""
    FAILED = "failed"
    """The provider accepted the message and later gave up."""


@record
class Receipt:
    """An entry of a provider's callback, with at least one id."""

    kind: ReceiptKind
    delivery_id: UUID | None = None
    """Delivery id, if the provider repeats the id of the request."""
    provider_message_id: str = ""
    occurred_at: datetime | None = None
    code: str = ""
    detail: str = ""
    contact_is_dead: bool = False
    """The address is gone, or the vendor sends to the address no more: it is not used again."""
    has_complained: bool = False
    """The contact is dead because the recipient reported a message as spam."""
    has_opted_out: bool = False
    """As of `Rejected`."""
    segments: int | None = None
    """SMS segments by the provider's count; None: the callback has no count."""
    price_micros: int | None = None
    """Price of the message in millionths of a US dollar; None: no price, or another currency."""


class Keyword(StrEnum):
    """The request of a person in an inbound text."""

    STOP = "stop"
    """No more texts to the number."""
    START = "start"
    """Texts again."""
    HELP = "help"
    """The vendor answers it; here it is only logged (`feedback.inbound_sms`)."""


@record
class InboundText:
    """A person's text in answer."""

    from_address: str = field(repr=False)
    """Sender's number in E.164, a short code or a name; on chat the address of a contact."""
    to_address: str
    """Receiving number of the installation, as the provider writes the number."""
    text: str = field(repr=False)
    """Never logged."""
    provider_message_id: str = ""
    keyword: Keyword | None = None
    """The vendor's own reading of the text, which decides before the words; None: no keyword."""
    channel: Channel = Channel.SMS
    """Channel whose messages STOP ends."""


@record
class Removal:
    """The vendor took an address off its own suppression list, and sends to the address again."""

    channel: Channel
    address: str = field(repr=False)
    occurred_at: datetime | None = None
    ends_bounce: bool = False
    """The vendor called the address dead before."""
    ends_opt_out: bool = False
    """The recipient had ended messages at the vendor before."""


Said = Receipt | InboundText | Removal


@record
class ReceiptRequest:
    """A provider's callback as received."""

    url: str
    """The public URL that the provider called, with the query: some vendors sign the URL."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


@record
class Finding:
    """One line of a provider's check, for display in a shell."""

    subject: str
    """`credentials`, `reachability`, `quota` ..."""
    is_good: bool
    detail: str
    """The finding, or the error with its remedy; no secret, no address."""


@runtime_checkable
class AnswersChallenge(Protocol):
    """A provider whose vendor verifies the URL of callbacks by a GET with a challenge (Meta)."""

    def answer_challenge(self, query: Mapping[str, str]) -> str:
        """Return the text of the answer to a GET with a query.

        Raises:
            providers.errors.InvalidSignature: the query lacks the configured verify token.
        """


class Provider(Protocol):
    """An adapter: a configured vendor. Thread-safe."""

    @property
    def name(self) -> str:
        """The provider's name in routes, rows, metrics and logs."""

    @property
    def capabilities(self) -> Capabilities:
        """The provider's capabilities."""

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """Send a batch and yield results on completion, in any order.

        Yields exactly one Result per message, and raises no error of provider or network. A call
        ends within `deadline` of the start. A message without a call within half of `deadline` is
        NotStarted, so the last result comes after 1.5 deadlines and a margin. Urgent ones go first.
        """

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Said]:
        """Verify a callback and return its receipts, inbound texts and removals.

        Raises:
            providers.errors.InvalidSignature: the provider did not sign the callback.
            providers.errors.MalformedReceipt: the signed callback cannot be read.
            providers.errors.NoReceipts: the provider sends no receipts.
        """

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """Check with the vendor, without a message, that sending would work; yield the findings.

        Yields nothing for a provider without a vendor to ask. Network errors raise nothing.
        """
