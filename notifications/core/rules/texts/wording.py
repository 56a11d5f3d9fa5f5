"""Stored texts for channels: compiled once, rendered for each message.

    Source  -> compile_text()  -> Wording.render(variables, reader) -> Rendered
               e-mail: frame, inlined CSS, plain text       SMS: short links, transliteration
                                                            push, in-app: shortened to fit

Callers keep the result of `compile_text`; apart from rendering, a message then costs a few
microseconds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from jinja2 import nodes

from notifications.core.rules import brand as brands
from notifications.core.rules import in_app
from notifications.core.rules.brand import Brand
from notifications.core.rules.in_app import InAppPart
from notifications.core.rules.language import locales, syntax, templating, variables
from notifications.core.rules.language.templating import CompiledText, Reader, Rendered
from notifications.core.rules.language.variables import (
    BRAND,
    LINK_NAMES,
    NO_LINKS,
    PREFERENCES_URL,
    SERVICE_NAMES,
    UNSUBSCRIBE_URL,
    MailLinks,
    Variable,
)
from notifications.core.rules.texts import (
    in_app_text,
    mail_blocks,
    mail_html,
    mail_text,
    push_size,
    short_links,
    sms_segments,
    vendor_template,
)
from notifications.core.rules.texts.in_app_text import CompiledPart
from notifications.core.rules.texts.vendor_template import VendorTemplate
from providers.contract import Channel

COLUMNS: Final = (
    *("locale", "variant", "title", "body", "html", "blocks"),
    *("transliterate", "max_segments", "shorten_links", "in_app", "vendor_template"),
)
"""Fields of a `TextSource` besides the channel, which are columns of the table as well; `columns`
and `source` convert."""
Shorten = Callable[[str], str]
"""Returns a short link for a long one."""

_DEFAULT_FILTERS: Final = frozenset({"d", "default"})
_ALWAYS_EVALUATED: Final[Mapping[type[nodes.Node], str]] = {
    nodes.If: "test",
    nodes.CondExpr: "test",
    nodes.For: "iter",
    nodes.And: "left",
    nodes.Or: "left",
    nodes.Getitem: "node",
    nodes.Filter: "node",  # its arguments are perhaps not asked for: `x|int(y)`
}
"""The one child that is always evaluated."""
_NEVER_EVALUATED: Final = (nodes.Test, nodes.List, nodes.Tuple)
"""`x is none` has its answer ready, and a list looks at none of its items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSource:
    """A template's text for one channel and locale, as written by the author."""

    channel: Channel
    locale: str
    variant: str = ""
    """Name of the variant, whose empty fields have the values of the base text (see `variants`);
    empty: the base text."""
    title: str = ""
    body: str = ""
    html: str = ""
    blocks: str = ""
    """E-mail: the source of `html` and `body` (see `mail_blocks`); empty: the author wrote these.
    """
    transliterate: bool = False
    """SMS: into GSM-7, if all of it can be written there."""
    max_segments: int | None = None
    """SMS: publishing fails if the example renders to more; None: one segment. Sent text is never
    truncated: the cut part could be the link or the code."""
    shorten_links: bool = False
    in_app: InAppPart = in_app.EMPTY
    """In-app and push: link and image; in-app: actions."""
    vendor_template: VendorTemplate = vendor_template.EMPTY
    """Chat: the template that a vendor sends in place of the text."""
    declares_brand: bool = False
    """The version declares a variable `brand`, which the producer sends. New versions cannot."""

    @property
    def most_segments(self) -> int:
        """The segments up to which the examples of an SMS may render."""
        return self.max_segments or 1

    @property
    def label(self) -> str:
        """Channel, locale and variant, for people."""
        variant = f", variant {self.variant}" if self.variant else ""
        return f"{self.channel.label} {self.locale}{variant}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the sources with variables."""
        return tuple(source for _, source in self.named_parts)

    @property
    def named_parts(self) -> list[tuple[str, str]]:
        """Return the sources with their names for authors."""
        title = "subject" if self.channel is Channel.EMAIL else "title"
        texts = [(title, self.title), ("text", self.body), ("HTML", self.html)]
        more = (in_app.sources(self.in_app), vendor_template.sources(self.vendor_template))
        return [*texts, *chain(*more)]


def columns(source: TextSource) -> dict[str, Any]:
    """Return the values of COLUMNS for the table."""
    told = {name: getattr(source, name) for name in COLUMNS}
    return told | {
        "in_app": in_app.written(source.in_app),
        "vendor_template": vendor_template.written(source.vendor_template),
    }


def source_of(channel: Channel, stored: Mapping[str, Any]) -> TextSource:
    """Return the text of a stored row, by the names of COLUMNS."""
    told = {name: stored[name] for name in COLUMNS}
    told["in_app"] = in_app.read(stored["in_app"])
    told["vendor_template"] = vendor_template.read(stored["vendor_template"])
    return TextSource(channel=channel, **told)


def for_declarations(
    sources: Iterable[TextSource], declared: Iterable[Variable]
) -> list[TextSource]:
    """Return the texts of a version with these declarations."""
    has_own = variables.declares_brand(declared)
    return [replace(each, declares_brand=True) if has_own else each for each in sources]


@dataclass(frozen=True, slots=True)
class Wording:
    """A compiled text, shared by all threads."""

    source: TextSource
    text: CompiledText
    has_link: bool = False
    """The text holds a link of `MailLinks`."""
    has_brand: bool = False
    """The text, or the frame of a mail, holds the brand."""
    part: CompiledPart | None = None
    """The compiled `TextSource.in_app`; None: empty."""
    parameters: tuple[CompiledText, ...] = ()
    """The compiled parameters of `TextSource.vendor_template`, each as a title: in one line."""

    def render(
        self,
        variables: Mapping[str, Any],
        reader: Reader,
        *,
        shorten: Shorten | None = None,
        mail_links: MailLinks = NO_LINKS,
        brand: Brand = brands.DEFAULT,
    ) -> Rendered:
        """Render the message for a reader.

        Raises:
            RenderError: the variables do not match the template, or the result is too large.
        """
        source = self.source
        if self.has_brand:
            variables = self.with_brand(variables, brand)
        if self.has_link:
            ours = mail_links._asdict()
            variables = {**ours, **variables, UNSUBSCRIBE_URL: mail_links.unsubscribe_url}
        reader = _reader_for(source.locale, reader, plain=source.channel is Channel.SMS)
        rendered = self.text.render(variables, reader)
        if self.part is not None:
            rendered = rendered._replace(in_app=self.part.render(variables, reader))
        if self.parameters:
            values = (each.render(variables, reader).title.strip() for each in self.parameters)
            rendered = rendered._replace(parameters=tuple(values))
        if source.channel is Channel.SMS:
            return self._reduce_segments(rendered, shorten)
        return rendered if source.channel is Channel.EMAIL else fit(source.channel, rendered)

    def with_brand(self, variables: Mapping[str, Any], brand: Brand) -> Mapping[str, Any]:
        """Return the variables, with the brand if the text shows the brand."""
        return {**variables, BRAND: brand.variables} if self.has_brand else variables

    def _reduce_segments(self, rendered: Rendered, shorten: Shorten | None) -> Rendered:
        body = rendered.body
        if shorten is not None and self.source.shorten_links:
            body = short_links.replace_links(body, shorten)
        if self.source.transliterate:
            body = sms_segments.transliterate(body)
        return rendered if body is rendered.body else rendered._replace(body=body)


def with_compiled_blocks(source: TextSource) -> TextSource:
    """Return the text with the HTML and the text part of its blocks.

    A text that has an HTML part keeps it: a stored text is sent as it was published. Broken blocks
    stay without HTML; `fault_sentences` names the faults.
    """
    if not source.blocks or source.html or mail_blocks.faults(source.blocks):
        return source
    return _compile_blocks(source)


def _compile_blocks(source: TextSource) -> TextSource:
    compiled = mail_blocks.compile_blocks(source.blocks, locale=source.locale)
    return replace(source, html=compiled.html, body=compiled.body)


def compile_text(source: TextSource) -> Wording:
    """Compile a text; callers keep it as long as the source is the same.

    Raises:
        BrokenTemplate: one of its parts would not be safe to render.
    """
    if source.blocks and not source.html:
        source = _compile_blocks(source)
    body, html = source.body, source.html
    has_brand = BRAND in _names(source)
    if source.channel is Channel.EMAIL and html:
        is_framed = not mail_html.is_document(html) and not source.declares_brand
        has_brand = has_brand or is_framed
        html = mail_html.prepare(source.html, locale=source.locale, shows_brand=is_framed)
        whole = mail_html.with_footer(source.html) if is_framed else source.html
        body = body or mail_text.text_of(whole)
    text = templating.compile_text(source.title, body, html)
    return Wording(
        source,
        text,
        has_link=has_link(source),
        has_brand=has_brand and not source.declares_brand,
        part=in_app_text.compile_part(source.in_app),
        parameters=tuple(
            templating.compile_text(each, "") for each in source.vendor_template.parameters
        ),
    )


def style_fault(source: TextSource) -> str:
    """Return why the style sheets of a mail are not inlined, as a clause; empty if they are.

    Raises:
        BrokenTemplate: one of its parts would not be safe to render.
    """
    if source.channel is not Channel.EMAIL or not source.html:
        return ""
    return mail_html.style_fault(source.html, locale=source.locale)


def fault_sentences(source: TextSource) -> Iterator[str]:
    """Yield a sentence for each fault: channel, language, field, line and error."""
    for place, fault_text in in_app.structure_faults(source.in_app):
        yield f"{source.label}, {'.'.join(map(str, place))} {fault_text}."
    for place, fault_text in vendor_template.structure_faults(source.vendor_template):
        yield f"{source.label}, {'.'.join(map(str, place))} {fault_text}."
    for fault in mail_blocks.faults(source.blocks) if source.blocks else ():
        yield f"{source.label}, blocks, line {fault.line}: {fault.detail}."
    parts = source.named_parts[:1] if source.blocks else source.named_parts
    for field, part in parts:
        for fault in templating.check(part):
            yield f"{source.label}, {field}, line {fault.line}: {fault.detail}."


def mentions(source: TextSource) -> frozenset[str]:
    """Return the producer's variables mentioned in a text; empty for an invalid text."""
    return _names(source) - SERVICE_NAMES


def has_link(source: TextSource) -> bool:
    """Return True if the text contains a link of `MailLinks` that is not empty."""
    links = LINK_NAMES if variables.has_preference_page() else LINK_NAMES - {PREFERENCES_URL}
    return not links.isdisjoint(_names(source))


@functools.lru_cache(maxsize=4096)
def _names(source: TextSource) -> frozenset[str]:
    if any(map(templating.check, source.parts)):
        return frozenset()
    return frozenset[str]().union(*map(templating.variables_of, source.parts))


def required_variables(source: TextSource) -> frozenset[str]:
    """Return the producer's variables required by every render of a text.

    Raises:
        BrokenTemplate: a part would not be safe to render.
    """
    names = frozenset[str]().union(*map(required_by_source, source.parts))
    return names - SERVICE_NAMES


def fit(channel: Channel, rendered: Rendered) -> Rendered:
    """Shorten a text to the limits of the channel."""
    if channel is Channel.IN_APP:
        title, body = in_app.fit(rendered.title, rendered.body)
        return rendered._replace(title=title, body=body, html="")
    if channel is not Channel.PUSH:
        return rendered
    part = rendered.in_app
    body = push_size.shorten_push(rendered.title, rendered.body, urls=(part.url, part.image_url))
    return rendered if body is rendered.body else rendered._replace(body=body)


def raw(content: Mapping[str, object]) -> Rendered:
    """Read stored raw content; unknown fields, of another release, are ignored."""
    texts = [content.get(name) for name in ("title", "body", "html")]
    title, body, html = (text if isinstance(text, str) else "" for text in texts)
    return Rendered(title, body, html, in_app.read(content))


@functools.lru_cache(maxsize=4096)
def _reader_for(locale: str, reader: Reader, *, plain: bool) -> Reader:
    own = locales.of_reader(locale, reader.locale)
    return Reader(locale=own, timezone=reader.timezone, plain_characters=plain)


def required_by_source(source: str) -> frozenset[str]:
    """Return the variables that every render of a source evaluates.

    Every render without one of them fails, so intake rejects the request early. Variables inside an
    `if` or a loop are not included; a template with declarations declares all variables.

    Raises:
        BrokenTemplate: the source does not pass `templating.check`.
    """
    parser = templating.environment(autoescape=False)
    return frozenset(_evaluations(syntax.parse(source, parser=parser)))


def _evaluations(node: nodes.Node) -> Iterator[str]:
    """Yield the names below a node that every render looks up."""
    if isinstance(node, nodes.Name):
        yield node.name
        return
    for operand in _operands(node):
        yield from _evaluations(operand)


def _operands(node: nodes.Node) -> Iterable[nodes.Node]:
    match node:
        case nodes.Filter(name=name, node=nodes.Name()) if name in _DEFAULT_FILTERS:
            return ()
        case nodes.Compare():
            return (node.expr, node.ops[0].expr)
        case _ if isinstance(node, _NEVER_EVALUATED):
            return ()
        case _ if type(node) in _ALWAYS_EVALUATED:
            return (getattr(node, _ALWAYS_EVALUATED[type(node)]),)
        case _:
            return node.iter_child_nodes()
