"""Amazon SES, API v2: up to fifty recipients a call.

    NOTIFY_SES_REGION=eu-west-1  NOTIFY_SES_FROM="Shop <no-reply@shop.example>"

Bounces, complaints, deliveries and opens come back through SNS, for the topics of
NOTIFY_SES_TOPICS: subscribe the receipts URL to each topic; the provider confirms subscriptions.
Each mail carries the delivery id as a tag, and events of a configuration set repeat the tag
(NOTIFY_SES_CONFIGURATION_SET, unless the identity has a default set).

SES knows no idempotency key: a mail without an answer may be sent twice.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from email.headerregistry import Address
from functools import lru_cache
from time import monotonic
from typing import Any, Final

import orjson

from providers import clock, configuration, mailboxes, verdicts
from providers.aws import faults, settings
from providers.aws.faults import Fault, Judge
from providers.aws.service import Api, AwsAnswer, AwsCall, AwsService, Question
from providers.aws.topics import SNS_HEADERS, Topics
from providers.configuration import parse_with
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Outcome,
    Pace,
    Receipt,
    ReceiptRequest,
    Rejected,
    Repeat,
    Result,
)
from providers.email import mime, ses_bodies, ses_events
from providers.email.ses_bodies import BulkEntry, Letter, Sender
from providers.email.ses_rate import AccountRate
from providers.errors import NoReceipts
from providers.rounds import HALF_A_CHARACTER, unsent
from providers.transport import Response, Transport
from providers.vendor import Vendor
from providers.verdicts import Verdict

NAME: Final = "ses"

API: Final = Api(host="email", signing_name="ses", content_type="application/json")
SINGLE: Final = "/v2/email/outbound-emails"
BULK: Final = "/v2/email/outbound-bulk-emails"
ACCOUNT: Final = "/v2/email/account"

_log = logging.getLogger(__name__)

DAILY_QUOTA: Final = "ACCOUNT_DAILY_QUOTA_EXCEEDED"
NOT_VERIFIED: Final = "IDENTITY_NOT_VERIFIED"
RECIPIENT_NOT_VERIFIED: Final = "RECIPIENT_NOT_VERIFIED"

TABLE: Final[verdicts.Table] = {
    **faults.COMMON,
    # Errors of SendEmail and SendBulkEmail. Source: service model 2019-09-27.
    "TooManyRequestsException": Verdict.THROTTLED,
    "LimitExceededException": Verdict.THROTTLED,
    "AccountSuspendedException": Verdict.MISCONFIGURED,
    "SendingPausedException": Verdict.MISCONFIGURED,
    "MailFromDomainNotVerifiedException": Verdict.SENDER_REFUSED,
    "NotFoundException": Verdict.MISCONFIGURED,  # the configuration set
    "MessageRejected": Verdict.REJECTED_HERE,  # SES takes it for spam or a virus
    "BadRequestException": Verdict.REJECTED,
    # Status of an entry of SendBulkEmail. Source: the same, BulkEmailStatus.
    "MESSAGE_REJECTED": Verdict.REJECTED_HERE,
    "INVALID_PARAMETER": Verdict.REJECTED,
    "MAIL_FROM_DOMAIN_NOT_VERIFIED": Verdict.SENDER_REFUSED,
    "CONFIGURATION_SET_NOT_FOUND": Verdict.MISCONFIGURED,
    "TEMPLATE_NOT_FOUND": Verdict.MISCONFIGURED,
    "ACCOUNT_SUSPENDED": Verdict.MISCONFIGURED,
    "INVALID_SENDING_POOL_NAME": Verdict.MISCONFIGURED,
    "ACCOUNT_SENDING_PAUSED": Verdict.MISCONFIGURED,
    "CONFIGURATION_SET_SENDING_PAUSED": Verdict.MISCONFIGURED,
    "ACCOUNT_THROTTLED": Verdict.THROTTLED,
    DAILY_QUOTA: Verdict.THROTTLED,
    "TRANSIENT_FAILURE": Verdict.UNAVAILABLE,
    "FAILED": Verdict.UNAVAILABLE,
    # Told apart by the message alone, see SAID.
    NOT_VERIFIED: Verdict.SENDER_REFUSED,
    RECIPIENT_NOT_VERIFIED: Verdict.IN_SANDBOX,
}

SAID: Final[Mapping[str, str]] = {
    # https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html
    "Daily message quota exceeded": DAILY_QUOTA,
    # The identities that SES lists: the From, or only the To of an account in
    # SES's sandbox (`_local_code`).
    "Email address is not verified": NOT_VERIFIED,
}

_IDENTITIES: Final = re.compile(r"identities failed[^:]*:(.+)", re.DOTALL)
"""SES lists the identities that are not verified, for a search in lower case."""
_ADDRESS: Final = re.compile(r"[^\s<>,;]+@[^\s<>,;]+[^\s<>,;.]")

WAITS: Final = {DAILY_QUOTA: timedelta(hours=1)}
"""The quota covers the last 24 hours: each hour returns a part of the quota."""

ASK_PATIENCE: Final = timedelta(seconds=5)
"""Timeout of the background call for the account's data."""

SIZE_LIMIT_BYTES: Final = 30_000_000
"""SES takes 40 MB, and base64 makes four bytes of three. Source: Developer Guide, "Quotas"."""

ATTACHMENT_BYTES: Final = 25_000_000
"""Leaves room for the text and the line ends of base64 below the 40 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(settings.Account):
    """Settings `NOTIFY_SES_*`."""

    from_: Address = field(metadata=parse_with(mime.mailbox))
    """Sender, of a verified domain: `Example <notify@example.com>`."""
    configuration_set: str = field(default="", metadata=parse_with(settings.name))
    """Configuration set whose events are receipts; empty: no receipts."""
    topics: frozenset[str] = field(default=frozenset(), metadata=parse_with(settings.topics))
    """ARNs of the trusted SNS topics of events; none: no receipts."""
    allow_sha1: bool = field(default=False, metadata=parse_with(configuration.yes_no))
    """`yes`: topics may sign with SignatureVersion 1, which uses SHA-1."""
    per_second: int | None = field(default=None, metadata=parse_with(configuration.positive_number))
    """Mails a second; by default the account's rate, which SES reports each hour."""
    bulk: bool = field(default=True, metadata=parse_with(configuration.yes_no))
    """`no`: one SendEmail for each recipient. In bulk calls SES fills the finished HTML into a
    template of one variable. SES documents that the HTML is not escaped; the statement was not
    verified against the live service. If markup shows up as text in a mail, set `no`."""


class Ses:
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(
        self, config: Config, *, transport: Transport, now: clock.Clock = clock.now
    ) -> None:
        """Store the settings; the first `send` connects."""
        self._bulk = config.bulk
        self._now = now
        self._sender_address = config.from_.addr_spec
        self._senders = {self._sender_address.lower()}
        """Addresses of all senders so far: the setting's, and those of brands."""
        self._sender = Sender(config.from_, configuration_set=config.configuration_set)
        self._judge = Judge(
            table=TABLE, overrides=config.codes, waits=WAITS, rename=self._local_code
        )
        self._service = AwsService(config, api=API, judge=self._judge, transport=transport, now=now)
        self._topics = Topics(
            config.topics, transport=transport, allow_sha1=config.allow_sha1, now=now
        )
        self._gives_receipts = bool(config.topics)
        self._rate = AccountRate(self._ask_rate, fixed=config.per_second)

    @property
    def capabilities(self) -> Capabilities:
        """See `providers.contract.Provider`; the pace is the account's own, see `ses_rate`."""
        return _capabilities(
            self._rate.current(),
            gives_receipts=self._gives_receipts,
            sender_address=self._sender_address,
        )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        began = monotonic()
        letters = []
        for message in batch:
            ready = _ready(message)
            if isinstance(ready, Letter):
                letters.append(ready)
            else:
                yield unsent(message, ready)
        suspects: list[Message] = []
        for answer in self._service.deliver(
            self._calls(letters), read=self._outcomes, deadline=deadline
        ):
            if _may_be_one_for_all(answer):
                suspects += answer.call.messages
            else:
                yield from answer.results()
        alone = [self._single(ses_bodies.letter(message)) for message in suspects]
        left = deadline - timedelta(seconds=monotonic() - began)
        for answer in self._service.deliver(alone, read=self._outcomes, deadline=left):
            yield from answer.results()

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt]:
        """See `providers.contract.Provider.parse_receipt`.

        Raises:
            InvalidSignature: SNS did not sign the post, or the topic is not in the list.
            CannotVerify: SNS's certificate is unavailable now.
            MalformedReceipt: the signed post is no event of SES.
            NoReceipts: no topic is set.
        """
        if not self._gives_receipts:
            raise NoReceipts(self.name)
        event = self._topics.open(request)
        return [] if event is None else ses_events.receipts(event)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`: GetAccount."""
        question = Question(call=AwsCall(path=ACCOUNT, method="GET"), read=self._account)
        yield from self._service.ask([question], deadline=deadline)

    def _ask_rate(self) -> None:
        for finding in self.check(deadline=ASK_PATIENCE):
            if not finding.is_good:
                _log.warning("SES: %s: %s", finding.subject, finding.detail)

    def _account(self, response: Response) -> Iterator[Finding]:
        rate = orjson.loads(response.body).get("SendQuota", {}).get("MaxSendRate", 0)
        if rate > 0:
            self._rate.learn(float(rate))
        yield from _account(response)

    def _calls(self, letters: Sequence[Letter]) -> list[AwsCall]:
        entries, alone = [], []
        for letter in letters:
            entry = ses_bodies.entry(letter) if self._bulk and len(letters) > 1 else None
            if entry is None:
                alone.append(letter)
            else:
                entries.append(entry)
        calls = [self._pack(call) for call in ses_bodies.pack(entries)]
        return calls + [self._single(letter) for letter in alone]

    def _pack(self, entries: Sequence[BulkEntry]) -> AwsCall:
        if len(entries) == 1:
            return self._single(entries[0].letter)
        messages = [entry.letter.message for entry in entries]
        self._note_sender(messages[0])
        return AwsCall(messages=messages, body=self._sender.bulk(entries), path=BULK)

    def _single(self, letter: Letter) -> AwsCall:
        self._note_sender(letter.message)
        body = self._sender.single(letter, at=self._now())
        return AwsCall(messages=[letter.message], body=body, path=SINGLE)

    def _note_sender(self, message: Message) -> None:
        if message.mail.sender_address:
            self._senders.add(message.mail.sender_address.lower())

    def _local_code(self, fault: Fault) -> str:
        """Return the local code of an error that SES tells apart by the message alone, or ""."""
        code = next((code for text, code in SAID.items() if text in fault.message), "")
        listed = _IDENTITIES.search(fault.message.lower())
        if code != NOT_VERIFIED or listed is None:
            return code
        names_sender = not self._senders.isdisjoint(_ADDRESS.findall(listed[1]))
        return code if names_sender else RECIPIENT_NOT_VERIFIED

    def _outcomes(self, response: Response) -> list[Outcome]:
        """Read SES's acceptance; the entries of a bulk call come back in order."""
        said = orjson.loads(response.body)
        if "BulkEmailEntryResults" not in said:
            return [Accepted(message_id=said.get("MessageId", ""))]
        return [self._of_entry(entry) for entry in said["BulkEmailEntryResults"]]

    def _of_entry(self, entry: Mapping[str, Any]) -> Outcome:
        status, error = entry["Status"], entry.get("Error") or ""
        if status == "SUCCESS":
            return Accepted(message_id=entry.get("MessageId") or "")
        found = self._judge.outcome(Fault(code=status, message=error))
        return found or Rejected(code=status, detail=faults.redact(error))


@lru_cache(maxsize=16)
def _capabilities(pace: Pace, *, gives_receipts: bool, sender_address: str) -> Capabilities:
    return Capabilities(
        channels=frozenset({Channel.EMAIL}),
        repeat=Repeat.VISIBLE,
        gives_receipts=gives_receipts,
        receipt_headers=SNS_HEADERS,
        pace=pace,
        attachment_bytes=ATTACHMENT_BYTES,
        sender_address=sender_address,
    )


def _ready(message: Message) -> Letter | Outcome:
    try:
        letter = ses_bodies.letter(message)
    except mailboxes.MalformedAddress as error:
        return Rejected(code="malformed_address", detail=str(error))
    except UnicodeEncodeError:
        return Rejected(code="malformed_text", detail=HALF_A_CHARACTER)
    if letter.length > SIZE_LIMIT_BYTES:
        detail = f"{letter.length:,} bytes of text and attachments, at most {SIZE_LIMIT_BYTES:,}"
        return Rejected(code="payload_too_large", detail=detail)
    return letter


def _may_be_one_for_all(answer: AwsAnswer) -> bool:
    """Return True if a refusal of a call may be the fault of a single mail."""
    return len(answer.outcomes) > 1 and isinstance(answer.refused, Rejected)


def _account(response: Response) -> Iterator[Finding]:
    account = orjson.loads(response.body)
    quota = account.get("SendQuota", {})
    most, used = quota.get("Max24HourSend", 0), quota.get("SentLast24Hours", 0)
    left = most < 0 or used < most  # -1: without limit
    said = f"{used:,.0f} of {most:,.0f} in 24 hours, {quota.get('MaxSendRate', 0):,.0f} a second"
    yield Finding(subject="quota", is_good=left, detail=said)
    enforcement = account.get("EnforcementStatus", "HEALTHY")
    if enforcement != "HEALTHY":
        yield Finding(subject="account", is_good=False, detail=f"under review: {enforcement}")
    if not account.get("SendingEnabled", True):
        yield Finding(subject="account", is_good=False, detail="sending is paused")
    if not account.get("ProductionAccessEnabled", True):
        said = "in the sandbox: mail goes to verified addresses only"
        yield Finding(subject="account", is_good=False, detail=said)


VENDOR: Final = Vendor(NAME, Config, Ses)
