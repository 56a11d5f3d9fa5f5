"""Request bodies for SES: SendEmail for one recipient, SendBulkEmail for up to fifty.

SendBulkEmail takes templates only, and the mails are rendered already. So the template has one
variable for each part, and each entry fills the variables with the entry's finished parts:

    DefaultContent.Template.TemplateContent   {"Subject": "{{subject}}", "Text": "{{text}}"}
    BulkEmailEntries[n] ... ReplacementTemplateData   '{"subject":"...","text":"..."}'

SES does not read values as templates again, so braces in a mail stay braces. SES documents that SES
"doesn't escape HTML content when rendering the HTML template"
(https://docs.aws.amazon.com/ses/latest/dg/send-personalized-email-advanced.html); `ses.Config.bulk`
names the remedy for a change.
"""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.headerregistry import Address
from io import BytesIO
from typing import Any, Final

import orjson

from providers import mailboxes
from providers.contract import Message
from providers.email import mime

DELIVERY_TAG: Final = "delivery_id"
"""Tag in each event, by which a receipt finds the delivery."""

ENTRIES_PER_CALL: Final = 50
"""Source: API reference of SendBulkEmail."""
TEMPLATE_DATA_LIMIT: Final = 262_144
"""Characters of one entry's parts as JSON. Source: service model, ReplacementTemplateData."""
ENTRIES_LIMIT_BYTES: Final = 990_000
"""An inline template and the template's data may have "up to 1 MB", and the template needs a part.
Source: Developer Guide, "Using templates to send personalized email", read as the smaller size."""

_HEADERS: Final = [{"Name": "Auto-Submitted", "Value": "auto-generated"}]
"""RFC 3834: no out-of-office answers, please."""


def _own_headers(message: Message) -> list[dict[str, str]]:
    """Return the headers of the mail that other mails do not share."""
    own = mime.list_headers(message)
    return [{"Name": name, "Value": value} for name, value in own.items()]


@dataclass(frozen=True, slots=True)
class Letter:
    """A message in the form for SES."""

    message: Message
    to: str
    parts: Mapping[str, str] = field(repr=False)
    """`Subject`, and `Text`, `Html` or both."""
    length: int
    """Bytes of all parts and attachments, before any encoding."""

    @property
    def tags(self) -> list[dict[str, str]]:
        """Return the tags, repeated in events."""
        return [{"Name": DELIVERY_TAG, "Value": str(self.message.delivery_id)}]


@dataclass(frozen=True, slots=True)
class BulkEntry:
    """A letter as an entry of a bulk call, encoded once."""

    letter: Letter
    encoded: bytes = field(repr=False)


def letter(message: Message) -> Letter:
    """Check the address and select the parts.

    Raises:
        mailboxes.MalformedAddress: the address cannot receive mail.
        UnicodeEncodeError: a part has half of a surrogate pair.
    """
    parts = {"Subject": " ".join(message.title.split())}
    if message.body or not message.html:
        parts["Text"] = message.body
    if message.html:
        parts["Html"] = message.html
    return Letter(
        message,
        mailboxes.check(message.address),
        parts,
        length=sum(len(part.encode()) for part in parts.values())
        + sum(len(each.content) for each in message.attachments),
    )


def entry(of: Letter) -> BulkEntry | None:
    """Encode a letter for a bulk call; None: it is too long, or has attachments."""
    if of.message.attachments:
        return None
    data = orjson.dumps({name.lower(): part for name, part in of.parts.items()}).decode()
    if len(data) > TEMPLATE_DATA_LIMIT:
        return None
    line: dict[str, object] = {
        "Destination": {"ToAddresses": [of.to]},
        "ReplacementTags": of.tags,
        "ReplacementEmailContent": {"ReplacementTemplate": {"ReplacementTemplateData": data}},
    }
    if own := _own_headers(of.message):
        line["ReplacementHeaders"] = own  # beside the template's, which an entry only overrides
    encoded = orjson.dumps(line)
    return BulkEntry(of, encoded) if len(encoded) <= ENTRIES_LIMIT_BYTES else None


def pack(entries: Sequence[BulkEntry]) -> Iterator[list[BulkEntry]]:
    """Group entries with the same parts and sender into calls, as full as both limits allow.

    A call has one sender and one Reply-To for all entries.
    """
    alike: defaultdict[tuple[str, ...], list[BulkEntry]] = defaultdict(list)
    for each in entries:
        mail = each.letter.message.mail
        sender = mail.sender_name, mail.sender_address, mail.reply_to
        alike[*sender, *each.letter.parts].append(each)
    for group in alike.values():
        call: list[BulkEntry] = []
        size = 0
        for each in group:
            if len(call) == ENTRIES_PER_CALL or size + len(each.encoded) > ENTRIES_LIMIT_BYTES:
                yield call
                call, size = [], 0
            call.append(each)
            size += len(each.encoded)
        yield call


def _base64(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Encode the octets of pieces as one text, with pieces as short as the given."""
    left = b""
    for piece in pieces:
        joined = left + piece
        whole = len(joined) - len(joined) % 3
        yield b64encode(joined[:whole])
        left = joined[whole:]
    yield b64encode(left)


class Sender:
    """Writes the bodies of calls."""

    def __init__(self, mailbox: Address, *, configuration_set: str) -> None:
        """Keep what all calls have.

        Args:
            mailbox: sender of a message without a sender.
            configuration_set: sets the destination of events; empty: the identity's default.
        """
        self._mailbox, self._configuration_set = mailbox, configuration_set

    def _common(self, message: Message) -> dict[str, Any]:
        # A name beyond ASCII goes as encoded words: SES takes this field as it is.
        sender = mime.format_mailbox(mime.sender_of(message, self._mailbox))
        common: dict[str, Any] = {"FromEmailAddress": sender}
        if self._configuration_set:
            common["ConfigurationSetName"] = self._configuration_set
        if message.mail.reply_to:
            common["ReplyToAddresses"] = [message.mail.reply_to]
        return common

    def single(self, of: Letter, *, at: datetime) -> bytes:
        """Write the body of SendEmail at the time `at`; a mail with attachments goes as a whole."""
        request: dict[str, Any] = {
            **self._common(of.message),
            "Destination": {"ToAddresses": [of.to]},
            "EmailTags": of.tags,
        }
        if not of.message.attachments:
            return orjson.dumps({**request, "Content": {"Simple": self._simple(of)}})
        # A whole mail in memory three times, as MIME, as base64 and as JSON, is too much.
        body = BytesIO()
        body.write(orjson.dumps(request)[:-1] + b',"Content":{"Raw":{"Data":"')
        for piece in _base64(mime.pieces(of.message, sender=self._mailbox, to=of.to, at=at)):
            body.write(piece)
        body.write(b'"}}}')
        return body.getvalue()

    def _simple(self, of: Letter) -> dict[str, Any]:
        subject, *rest = (
            (name, {"Data": part, "Charset": "UTF-8"}) for name, part in of.parts.items()
        )
        headers = [*_HEADERS, *_own_headers(of.message)]
        return {"Subject": subject[1], "Body": dict(rest), "Headers": headers}

    def bulk(self, entries: Sequence[BulkEntry]) -> bytes:
        """Write the body of SendBulkEmail for entries with the same parts and sender."""
        parts = entries[0].letter.parts
        content = {name: "{{" + name.lower() + "}}" for name in parts}
        template = {
            "TemplateContent": content,
            "TemplateData": "{}",  # the default, which the older call insisted upon
            "Headers": _HEADERS,
        }
        common = self._common(entries[0].letter.message)
        head = orjson.dumps({**common, "DefaultContent": {"Template": template}})
        lines = b",".join(each.encoded for each in entries)
        return head[:-1] + b',"BulkEmailEntries":[' + lines + b"]}"
