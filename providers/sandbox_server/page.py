"""The page: each message as the phone or mailbox shows it, newest first.

Messages with the same text to many people are one entry, below the others: a campaign of thousands
hides no single message.

All content of the page came from outside: the template escapes the content, an e-mail's HTML is in
a sandboxed frame, and the page may load no resource.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, fields
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from providers.contract import Channel, Message
from providers.email import mime
from providers.mail_headers import MailHeaders
from providers.sandbox_server.ledger import DeliveryRecord, Ledger
from providers.sandbox_server.steering import STEERING_DIGITS, STEERING_WORDS
from providers.sandbox_server.wire import ServerAnswer

NEWEST: Final = 100
"""Entries on the page; /messages.json has the rest."""
MANY: Final = 5
"""Number of messages with the same text that become one entry."""

_SENDER: Final = mime.mailbox("Sandbox <no-reply@sandbox.example>")
_HERE: Final = Path(__file__).parent
_SCRIPT: Final = (_HERE / "page.js").read_text()
_STYLE: Final = (_HERE / "page.css").read_text()
_TEMPLATE: Final = Environment(
    loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined
).get_template("page.html")


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(sha256(content.encode()).digest()).decode()


_POLICY: Final = (
    f"default-src 'none'; script-src '{_hash(_SCRIPT)}'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Inline styles stay allowed: an e-mail's frame inherits the policy, and e-mails use inline
styles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuery:
    """The reader's filter; empty: all messages."""

    channel: str = ""
    words: str = ""
    """Search words; each word is in the address, the text or an id. Found messages are not
    grouped."""


@dataclass(slots=True)
class Group:
    """Messages with the same text on one channel."""

    newest: DeliveryRecord
    count: int = 1

    @property
    def message(self) -> dict[str, Any]:
        """Return the newest message as /messages.json has the message."""
        return self.newest.as_json()

    @property
    def headers(self) -> tuple[str, ...]:
        """Return the headers that the SMTP adapter would give an e-mail; empty for other channels.

        The sender's address is the installation's own and stands for the configured one.
        """
        told = self.newest.message
        if told["channel"] != Channel.EMAIL.label:
            return ()
        message = Message(
            delivery_id=told["delivery_id"],
            notification_id=told.get("notification_id", ""),
            idempotency_key="",
            channel=Channel.EMAIL,
            address=told["address"],
            title=told.get("title") or "",
            unsubscribe_url=told.get("unsubscribe_url") or "",
            mail=_mail_headers(told.get("mail")),
        )
        at = datetime.fromisoformat(self.newest.calls[0].at)
        return mime.header_lines(message, sender=_SENDER, to=message.address, at=at)


def _mail_headers(told: object) -> MailHeaders:
    """Return the headers that a producer's test posted; wrong values are left out."""
    given = told if isinstance(told, dict) else {}
    known = {each.name for each in fields(MailHeaders)}
    return MailHeaders(**{
        name: value for name, value in given.items() if name in known and isinstance(value, str)
    })


def render(
    ledger: Ledger, asked: PageQuery, *, can_answer: bool = False, admin_url: str = ""
) -> ServerAnswer:
    """Show the newest messages.

    Args:
        ledger: the received deliveries.
        asked: the reader's filter.
        can_answer: True if texts can be answered from the page.
        admin_url: URL of the admin with the messages' timelines; empty: no admin.
    """
    labels = [each.label for each in Channel]
    singles, groups = _group(ledger, asked)
    html = _TEMPLATE.render(
        singles=singles[:NEWEST],
        groups=groups[:NEWEST],
        left=max(0, len(singles) - NEWEST),
        stats=ledger.stats(),
        channels=labels,
        asked=asked,
        can_answer=can_answer,
        admin_url=admin_url,
        by_word=STEERING_WORDS,
        by_digits=STEERING_DIGITS,
        newest=NEWEST,
        script=_SCRIPT,
        style=_STYLE,
    )
    return ServerAnswer(
        status=200,
        body=html.encode(errors="replace"),
        content_type="text/html; charset=utf-8",
        headers=(("Content-Security-Policy", _POLICY), ("Cache-Control", "no-store")),
    )


def _group(ledger: Ledger, asked: PageQuery) -> tuple[list[Group], list[Group]]:
    """Return messages with a unique text, and groups with the same text; newest first."""
    words = asked.words.lower().split()
    found: dict[object, Group] = {}
    for entry in ledger.newest_first():
        message = entry.message
        if asked.channel and message["channel"] != asked.channel:
            continue
        if words and not _has(message, words):
            continue
        key = (
            message["delivery_id"]
            if words
            else (message["channel"], message.get("title"), message.get("body"))
        )
        if key in found:
            found[key].count += 1
        else:
            found[key] = Group(entry)
    singles = [group for group in found.values() if group.count < MANY]
    return singles, [group for group in found.values() if group.count >= MANY]


def _has(message: dict[str, Any], words: list[str]) -> bool:
    names = ("address", "title", "body", "notification_id", "delivery_id")
    text = "\n".join(str(message.get(name, "")) for name in names).lower()
    return all(word in text for word in words)
