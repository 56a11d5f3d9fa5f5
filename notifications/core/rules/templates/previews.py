"""Previews: a version rendered with sample variables, measured, and judged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from notifications.core.rules import in_app
from notifications.core.rules.brand import DEFAULT, Brand
from notifications.core.rules.language import locales, variables
from notifications.core.rules.language.syntax import BrokenTemplate
from notifications.core.rules.language.templating import Reader, Rendered, RenderError
from notifications.core.rules.language.variables import LINK_NAMES, NO_LINKS
from notifications.core.rules.templates import derived
from notifications.core.rules.texts import mail_warnings, sms_segments, variants, wording
from notifications.core.rules.texts.sms_segments import SmsSize
from notifications.core.rules.texts.wording import TextSource
from providers.chat import limits
from providers.contract import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The preview of a text, rendered or with problems."""

    words: TextSource
    rendered: Rendered | None
    """None if the text cannot be rendered with these variables; `problems` says why."""
    sizes: Mapping[str, int]
    """Bytes of UTF-8 of each part."""
    sms: SmsSize | None
    """Size as an SMS; None on other channels."""
    missing: tuple[str, ...]
    """Mentioned variables without a value; the text may not need all of them."""
    problems: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    """Sentences of `mail_warnings`, which stop no mail."""


def chosen(
    texts: Sequence[TextSource],
    channel: Channel,
    locale: str,
    *,
    default: str = locales.DEFAULT,
    variant: str = "",
) -> TextSource | None:
    """Return the text for a locale and variant on a channel, as sent; None without a text."""
    found = variants.texts_of(texts, variant)
    there = {text.locale: text for text in found if text.channel is channel}
    nearest = locales.choose(tuple(there), locale, default=default)
    return None if nearest is None else there[nearest]


def samples(texts: Iterable[TextSource], declared: object) -> dict[str, Any]:
    """Return a value for each variable: the declared example, or one made from name and use."""
    readable = [text for text in texts if not any(wording.fault_sentences(text))]
    made = {each["name"]: each["example"] for each in derived.declarations(readable)}
    try:
        return made | variables.examples(variables.parse_declarations(declared))
    except variables.MalformedDeclaration:
        return made


def preview(
    words: TextSource,
    given: Mapping[str, Any],
    *,
    url_schemes: Collection[str] = (),
    brand: Brand = DEFAULT,
    marketing_types: Collection[str] | None = (),
    chat_schemes: Collection[str] | None = None,
) -> Preview:
    """Render a text with sample variables, for a reader of the text's locale.

    Args:
        words: the text.
        given: the sample variables.
        url_schemes: app schemes that links of in-app and push texts may have.
        brand: the brand of the text.
        marketing_types: types of priority P3 that use the text; None: no type has used it.
        chat_schemes: schemes of the chat services that get the text; None: each service.
    """
    missing = tuple(sorted(wording.mentions(words) - given.keys()))
    reader = Reader(words.locale)
    links = variables.link_examples() if words.channel is Channel.EMAIL else NO_LINKS
    try:
        text = wording.compile_text(words)
        rendered = text.render(given, reader, mail_links=links, brand=brand)
        whole = rendered
        if words.channel is not Channel.EMAIL:
            whole = text.text.render(text.with_brand(given, brand), reader)
    except BrokenTemplate as error:
        faults = tuple(wording.fault_sentences(words)) or (f"{words.label}, HTML, {error}.",)
        return _without_text(words, missing, faults)
    except RenderError as error:
        return _without_text(words, missing, (f"It cannot be rendered: {error}.",))
    parts = {"title": rendered.title, "body": rendered.body, "html": rendered.html}
    sizes = {name: len(part.encode()) for name, part in parts.items() if part}
    sms = sms_segments.measure(rendered.body) if words.channel is Channel.SMS else None
    cut = _cut(words.channel, whole, rendered, chat_schemes)
    problems = (*cut, *_bad_links(rendered, url_schemes))
    return Preview(
        words=words,
        rendered=rendered,
        sizes=sizes,
        sms=sms,
        missing=missing,
        problems=(*problems, *_objections(words, sizes, sms)),
        warnings=tuple(_warnings(words, rendered, brand, marketing_types)),
    )


def _cut(
    channel: Channel, whole: Rendered, rendered: Rendered, chat_schemes: Collection[str] | None
) -> Iterator[str]:
    if channel is Channel.PUSH and whole.body != rendered.body:
        yield "The body is cut off at the end: a push holds no more."
    if channel is Channel.IN_APP and (whole.title, whole.body) != (rendered.title, rendered.body):
        yield (
            f"The text is cut off: an inbox shows {in_app.MAX_TITLE} characters of a title and"
            f" {in_app.MAX_BODY} of a body."
        )
    if channel is Channel.CHAT:
        found = limits.limits_under(rendered.title, rendered.body, among=chat_schemes)
        if found:
            yield f"The text is cut off at the end by {', '.join(map(str, found))}."


def _bad_links(rendered: Rendered, url_schemes: Collection[str]) -> Iterator[str]:
    for place, fault in in_app.url_faults(rendered.in_app, url_schemes):
        yield f"{'.'.join(map(str, place))} {fault}."


def _without_text(
    words: TextSource, missing: tuple[str, ...], problems: tuple[str, ...]
) -> Preview:
    return Preview(
        words=words, rendered=None, sizes={}, sms=None, missing=missing, problems=problems
    )


def _warnings(
    words: TextSource, rendered: Rendered, brand: Brand, marketing_types: Collection[str] | None
) -> Iterator[str]:
    if words.channel is not Channel.EMAIL:
        return
    yield from mail_warnings.warnings(rendered, brand=brand)
    if not wording.has_link(words):
        yield from mail_warnings.without_unsubscribe_link(marketing_types)


def _objections(words: TextSource, sizes: Mapping[str, int], sms: SmsSize | None) -> Iterator[str]:
    if sms and sms.segments > words.most_segments:
        yield f"{sms.segments} segments; its limit is {words.most_segments}."
    if words.channel is not Channel.EMAIL and wording.has_link(words):
        yield f"{' or '.join(sorted(LINK_NAMES))} is for e-mail, and empty here."
    if fault := wording.style_fault(words):
        yield f"The style sheets are not inlined, and some mail programs ignore them: {fault}."
    if "body" not in sizes:
        yield "The body is empty."
