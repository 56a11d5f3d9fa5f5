"""Texts of a message on WhatsApp, alike for each provider of WhatsApp."""

from __future__ import annotations

from typing import Final

from providers import graphemes
from providers.contract import Message
from providers.rounds import Unsendable

_TEMPLATE_NEEDED: Final = frozenset({"131047", "63016"})
"""Codes of Meta and Twilio for a free text outside of the 24 hours."""


def free_text(message: Message, *, limit: int) -> str:
    """Return title and body, cut to `limit` characters with an ellipsis.

    Raises:
        Unsendable: the message has no text.
    """
    text = "\n".join(part for part in (message.title, message.body) if part.strip())
    if not text:
        raise Unsendable("empty_message", "a message needs a text")
    return graphemes.cut(text, limit)


def parameters(message: Message) -> list[str]:
    """Return the values of the template's placeholders, each in one line.

    WhatsApp takes no line end, no tab and no four spaces in a row.

    Raises:
        Unsendable: a value is empty.
    """
    values = [" ".join(each.split()) for each in message.template_parameters]
    if not all(values):
        place = values.index("") + 1
        raise Unsendable("empty_parameter", f"parameter {place} of the template is empty")
    return values


def explain(code: str) -> str:
    """Return the cause of a refusal and its remedy; empty for a code whose own text is enough."""
    if code not in _TEMPLATE_NEEDED:
        return ""
    return (
        "needs an approved template (vendor_template of the text):"
        " the person has not written within 24 hours"
    )
