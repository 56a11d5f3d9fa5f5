"""Texts of a message on WhatsApp, alike for each provider of WhatsApp."""

from __future__ import annotations

from providers import graphemes
from providers.contract import Message
from providers.rounds import Unsendable


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
