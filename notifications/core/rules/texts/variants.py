"""Variants of a text: further wordings of a channel and locale, for an A/B test.

A variant stores only the differences from the base text of its channel and locale. Empty fields
have the values of the base text:

    title, link, image, actions, vendor's template     each by itself
    body, HTML and blocks                              together, so a variant can be a plain text
    settings of an SMS                                 always those of the base text

A recipient's locale is chosen among the base texts. A locale without the variant has the base text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from notifications.core.rules import in_app, request_faults
from notifications.core.rules.texts import vendor_template
from notifications.core.rules.texts.wording import TextSource

MAX_NAME: Final = 32
NAME: Final = r"^([a-z0-9][a-z0-9_\-]{0,31})?$"
"""Lower case, because the names are parts of file names; empty: the base text."""
MOST: Final = 10
"""Names of variants in a version: a bulk job has up to 8 variants. Each name costs a rendering of
all texts at publishing, and a copy of the texts in the cache of each process."""
NAME_RULE: Final = request_faults.PATTERNS[NAME]


def names(texts: Iterable[TextSource]) -> list[str]:
    """Return the names of the variants, sorted."""
    return sorted({text.variant for text in texts} - {""})


def completed(texts: Iterable[TextSource]) -> list[TextSource]:
    """Return the texts as recipients get them; a variant without a base text is left out."""
    texts = list(texts)
    base = _base(texts)
    return [
        _complete(text, base[text.channel, text.locale])
        for text in texts
        if (text.channel, text.locale) in base
    ]


def texts_of(texts: Iterable[TextSource], variant: str) -> list[TextSource]:
    """Return the texts of the recipients of a variant, one for each channel and locale."""
    wanted = (text for text in texts if text.variant in {"", variant})
    base_first = sorted(completed(wanted), key=lambda text: bool(text.variant))
    return list({(text.channel, text.locale): text for text in base_first}.values())


def faults(texts: Iterable[TextSource]) -> Iterator[tuple[int, str]]:
    """Yield position and sentence for each variant that cannot be sent, and for a repeated text."""
    texts = list(texts)
    base, seen = _base(texts), set[tuple[int, str, str]]()
    there = names(texts)
    for position, text in enumerate(texts):
        key = text.channel, text.locale, text.variant
        if key in seen:
            yield position, f"{text.label} is there twice; keep one"
        seen.add(key)
        if not text.variant:
            continue
        if len(there) > MOST:
            yield position, f"a version has at most {MOST} names of variants, and not {len(there)}"
        elif not re.fullmatch(NAME, text.variant):
            yield position, f"the name of a variant {NAME_RULE}"
        elif (text.channel, text.locale) not in base:
            place = f"{text.channel.label} {text.locale}"
            yield position, f"{text.label} needs a base text: add {place} without a variant"
        elif is_empty(text):
            yield position, f"{text.label} replaces nothing; give one field, or remove the variant"


def is_empty(text: TextSource) -> bool:
    """Return True if a variant has no field of its own."""
    has_part = text.in_app != in_app.EMPTY or text.vendor_template != vendor_template.EMPTY
    return not (text.title or has_content(text) or has_part)


def has_content(text: TextSource) -> bool:
    """Return True if a text has a body, HTML or blocks."""
    return bool(text.body or text.html or text.blocks)


def _base(texts: Iterable[TextSource]) -> dict[tuple[int, str], TextSource]:
    return {(text.channel, text.locale): text for text in texts if not text.variant}


def _complete(text: TextSource, base: TextSource) -> TextSource:
    if not text.variant:
        return text
    content = text if has_content(text) else base
    own_template = text.vendor_template != vendor_template.EMPTY
    part = {name: own for name, own in text.in_app._asdict().items() if own}
    return replace(
        base,
        variant=text.variant,
        title=text.title or base.title,
        body=content.body,
        html=content.html,
        blocks=content.blocks,
        in_app=base.in_app._replace(**part),
        vendor_template=text.vendor_template if own_template else base.vendor_template,
    )
