"""The page: each message as the phone or mailbox shows it, newest first.

Everything on it came from outside: the template escapes all of it, an e-mail's HTML sits in a
sandboxed frame, and the page may load nothing from anywhere.
"""

from __future__ import annotations

import base64
from hashlib import sha256
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from providers.contract import Channel
from providers.sandbox_server.ledger import Ledger
from providers.sandbox_server.wire import Answer

NEWEST: Final = 100
"""Messages on the page; /messages.json has the rest."""

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
"""Inline styles stay allowed: an e-mail in its frame inherits this policy and is made of them."""


def render(ledger: Ledger, *, channel: str, can_answer: bool = False) -> Answer:
    """Show the newest messages, of one channel or of all; a text can be answered."""
    labels = [each.label for each in Channel]
    equal = {"channel": channel} if channel in labels else {}
    html = _TEMPLATE.render(
        messages=list(reversed(ledger.select(equal=equal, limit=NEWEST))),
        stats=ledger.stats(),
        channels=labels,
        chosen=channel,
        can_answer=can_answer,
        newest=NEWEST,
        script=_SCRIPT,
        style=_STYLE,
    )
    return Answer(
        status=200,
        body=html.encode(errors="replace"),
        content_type="text/html; charset=utf-8",
        headers=(("Content-Security-Policy", _POLICY), ("Cache-Control", "no-store")),
    )
