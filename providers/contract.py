"""What a provider adapter is: the words that every vendor's habits are translated into.

A message that is handed to a provider ends in exactly one of seven outcomes. They are values, not
exceptions, because a batch has one each, and because the caller must answer every one of them
(`match` with `assert_never`).

    send(batch)             -> an Outcome for each message
    parse_receipt(request)  -> [Receipt | InboundText, ...]    later, by HTTP

Nothing in `providers/` knows Django, Celery or a database: an adapter runs alone in a shell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Protocol
from uuid import UUID


class Channel(IntEnum):
    """A way to a person. The number is what Postgres stores; `label` is what people read."""

    PUSH = 1
    SMS = 2
    EMAIL = 3
    IN_APP = 4
    WEBHOOK = 5
    CHAT = 6

    @property
    def label(self) -> str:
        """The name in the API, in lanes and in logs: `push`, `in_app` ..."""
        return self.name.lower()

    @classmethod
    def from_label(cls, label: str) -> Channel:
        """Read a name back; raises KeyError for a name that is no channel."""
        return cls[label.upper()]


class Repeat(StrEnum):
    """What happens when the same message is handed over twice with the same idempotency key."""

    DEDUPLICATED = "deduplicated"
    """The provider recognises the key and sends once."""
    HIDDEN = "hidden"
    """Sent twice, but the second replaces the first where the person looks (push tag, collapse
    id)."""
    VISIBLE = "visible"
    """The person gets it twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a vendor may be called: a bucket of `burst` messages that refills steadily."""

    burst: int
    per_second: float

    @classmethod
    def even(cls, per_second: int) -> Pace:
        """Give the pace whose burst is what one second allows."""
        return cls(burst=per_second, per_second=per_second)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a delivery must know of a provider before the call."""

    channels: frozenset[Channel]
    repeat: Repeat
    gives_receipts: bool
    """A receipt can come for each accepted message (else `sent` is all that we will ever know)."""
    receipt_headers: frozenset[str] = frozenset()
    """Headers, in lower case, that each receipt has: a callback without one of them is refused
    before its body is read."""
    batch_limit: int = 500
    """Most messages that one `send` may be given."""
    pace: Pace | None = None
    """How fast the provider may be called, or each endpoint of it where `endpoint_of` is set; None
    where only our own machines are the limit."""
    address_kinds: frozenset[str] = frozenset()
    """The `Message.address_kind`s that it takes; empty: any."""
    concurrency: int = 2_000
    """Most calls in flight at once that make sense from one process: a ceiling, not a goal."""
    endpoint_of: Callable[[str], str] | None = None
    """Set where each address leads to a server or account of its own (webhook, chat): names that
    endpoint for an address, without a secret. The health of such a provider is kept for each
    endpoint; None: for the provider as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One rendered message to one address: all that an adapter may know."""

    delivery_id: UUID
    notification_id: UUID
    idempotency_key: str
    """Delivery id and generation; the same on every retry, new only after a replay of a definite
    rejection."""
    channel: Channel
    address: str = field(repr=False)
    """Device token, E.164 number, mailbox, URL ... never logged."""
    address_kind: str = ""
    """What sort of address where a channel has several (`fcm_token`, `apns_token`, `web_push`)."""
    title: str = field(default="", repr=False)
    body: str = field(default="", repr=False)
    html: str = field(default="", repr=False)
    """The words can hold sensitive values, so none of them is ever logged."""
    collapse_key: str = ""
    urgent: bool = False
    """P0 and P1: the device may be woken."""
    time_to_live: timedelta = timedelta(days=1)
    """How long the provider may keep trying: what is left of the notification's TTL."""
    traceparent: str = ""
    """W3C trace context to pass on where the provider is ours (webhook, sandbox)."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Extra strings for the client: `type`, and whatever the template names."""
    signing_keys: tuple[bytes, ...] = field(default=(), repr=False)
    """The contact's own keys, where its provider signs for each contact (webhook)."""
    is_signed_for_all: bool = False
    """Whether the provider's installation-wide secrets sign beside the contact's own."""
    unsubscribe_url: str = field(default="", repr=False)
    """Where one POST unsubscribes (RFC 8058); an e-mail says it in its headers. Never logged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The provider took it and answered so."""

    message_id: str = ""
    """The provider's own id, where it gives one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttled:
    """Too much, too fast; nothing was sent. Try again, not before `retry_after`."""

    code: str = ""
    detail: str = ""
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """The provider is down or could not be reached; nothing was sent. Try again."""

    code: str = ""
    detail: str = ""
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStarted:
    """The call did not begin, because our own queue was too long or the process is stopping.

    Nothing was sent, no attempt is spent, and the outcome says nothing of the provider's health.
    """

    code: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The provider refused the message for good: a repeat by this provider is useless."""

    code: str = ""
    detail: str = ""
    contact_is_dead: bool = False
    """The address itself is gone (unregistered token, no such mailbox, opted out): it is not used
    again."""
    may_be_misconfigured: bool = False
    """The same code is the answer to a wrong setting of ours (another Firebase project, another
    bundle id): one such answer concerns this address, a wave of them concerns us."""
    another_provider_may_accept: bool = False
    """The refusal is this provider's own: sender not verified, region not enabled, no route to the
    number, spam block. It is final only after the last provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Misconfigured:
    """Our fault, not the recipient's: credentials, sender, account. Never burn the backlog."""

    code: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Bytes were sent and no answer came: it may or may not have been sent."""

    code: str = ""
    detail: str = ""


Outcome = Accepted | Throttled | Unavailable | NotStarted | Rejected | Misconfigured | Unanswered


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of one message of a batch."""

    delivery_id: UUID
    outcome: Outcome
    latency: timedelta
    """From the start of the call until its outcome; 0 where no call was started."""
    http_status: int | None = None
    """Of the provider's answer; None where no HTTP answer came."""
    retry_after: timedelta | None = None
    """What the answer's own Retry-After header asked for, whatever the outcome."""
    signed_with: str = ""
    """The public key that the request was signed with (Web Push: the VAPID key, base64url)."""


class ReceiptKind(StrEnum):
    """What a provider, or our own client, says later about a message that it took."""

    DELIVERED = "delivered"
    """It reached the device, handset or mailbox."""
    READ = "read"
    """The person opened it."""
    BOUNCED = "bounced"
    """It was taken and came back (mailbox gone, handset unknown)."""
    FAILED = "failed"
    """The provider gave up on it after taking it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One line of a provider's callback. At least one of the two ids is set."""

    kind: ReceiptKind
    delivery_id: UUID | None = None
    """Where the provider echoes what we gave it."""
    provider_message_id: str = ""
    occurred_at: datetime | None = None
    code: str = ""
    detail: str = ""
    contact_is_dead: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundText:
    """What a person answered to a text of ours."""

    from_address: str = field(repr=False)
    """Their number in E.164; a short code or a name as the provider has it."""
    to_address: str
    """Our number, as the provider has it."""
    text: str = field(repr=False)
    """Never logged."""
    provider_message_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRequest:
    """A provider's callback as it came in."""

    url: str
    """The public URL that the provider called, query included: some vendors sign it."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of what a provider's check found: for a person at a shell."""

    subject: str
    """`credentials`, `reachability`, `quota` ..."""
    is_good: bool
    detail: str
    """What was seen, or what is wrong and how to mend it; no secret, no address."""


class Provider(Protocol):
    """An adapter: one vendor, configured and ready. Safe to use from several threads at once."""

    @property
    def name(self) -> str:
        """The name in routes, rows, metrics and logs."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """Hand over a batch and yield each outcome as soon as it is known, in any order.

        Yields exactly one Result for each message, whatever the provider does; raises nothing for
        what a provider or a network can do. Each call ends within `deadline` of its own start. A
        message whose call has not started within half of `deadline` is NotStarted, so the last
        result is there after one and a half (plus a little). Urgent messages start first.
        """

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt | InboundText]:
        """Verify a callback's signature and translate it: receipts, and texts that people sent.

        Raises:
            providers.errors.InvalidSignature: it was not signed by the provider.
            providers.errors.MalformedReceipt: signed, but not understood.
            providers.errors.NoReceipts: this provider sends none.
        """

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """Ask the vendor, without sending anything, whether we could send: yields what is seen.

        Yields nothing where there is nobody to ask. Raises nothing for what a network can do.
        """
