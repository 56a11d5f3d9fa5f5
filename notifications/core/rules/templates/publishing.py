"""Objections to publishing a version, as sentences for the author.

Texts without objections compile, are not empty, need only variables required from producers, and
render with the declared examples within the limits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from notifications.core.rules import in_app
from notifications.core.rules.language import variables
from notifications.core.rules.language.templating import BrokenTemplate, Reader, RenderError
from notifications.core.rules.language.variables import LINK_NAMES, Variable
from notifications.core.rules.templates import derived
from notifications.core.rules.texts import brand_uses, short_links, sms_segments, variants, wording
from notifications.core.rules.texts.wording import TextSource, Wording
from providers.contract import Channel


def objections(
    sources: Iterable[TextSource],
    *,
    declared: Sequence[Variable],
    sensitive: Collection[str] = (),
    public_url: str = "",
    url_schemes: Collection[str] = (),
    declare: str = "declare the variables",
) -> list[str]:
    """Return the objections to texts; empty if the texts may be published.

    Args:
        sources: the texts of the version, variants as written.
        declared: the declared variables; empty: producers send the variables needed by the texts.
        sensitive: names of variables that must not be stored unencrypted.
        public_url: URL of the service, for the length of short links.
        url_schemes: app schemes that links of in-app and push texts may have.
        declare: what the author does to have declared variables; empty: a variable that one
            language alone needs is no objection.
    """
    sources = list(sources)
    if wrong := list(dict.fromkeys(sentence for _, sentence in variants.faults(sources))):
        return wrong
    broken = [
        sentence.rstrip(".") for each in sources for sentence in wording.fault_sentences(each)
    ]
    if broken:
        return broken
    sources = variants.completed(sources)
    found = [
        f"{source.label}: {objection}"
        for source in sources
        for objection in [
            *_to_source(source, declared, sensitive, public_url),
            *_to_part(source, declared, sensitive, url_schemes),
        ]
    ]
    return found if declared or not declare else [*found, *_to_languages(sources, declare)]


def _to_languages(sources: Sequence[TextSource], declare: str) -> Iterator[str]:
    """Yield objections to variables missing in other languages of a channel."""
    for label, names in derived.lonely(sources).items():
        yield (
            f"{label}: no other language needs {', '.join(names)}; correct the name, or {declare}"
        )


def _to_source(
    source: TextSource, declared: Sequence[Variable], sensitive: Collection[str], public_url: str
) -> Iterator[str]:
    if not source.body and not source.html:
        yield "it says nothing"
    try:
        text = wording.compile_text(source)
        needs = wording.required_variables(source)
    except BrokenTemplate as error:
        yield str(error)
        return
    yield from _to_brand(source)
    if source.shorten_links and wording.mentions(source) & set(sensitive):
        yield "its links may hold what is sensitive, and short links are stored in the clear"
    if source.channel is not Channel.EMAIL and wording.has_link(source):
        yield f"{' or '.join(sorted(LINK_NAMES))} is for e-mail, and empty here"
    if declared or not wording.mentions(source):
        missing = variables.missing_declarations(declared, needs)
        yield from (f"it needs {name}, which no producer has to send" for name in missing)
        if not missing:
            yield from _to_example(text, declared, public_url)
    elif source.max_segments is not None:
        yield "segments can be counted when the variables are declared, with examples"


def _to_brand(source: TextSource) -> Iterator[str]:
    """Yield the objections to uses of the brand that no brand can fill in."""
    if not source.declares_brand:
        for name, part in source.named_parts:
            yield from (f"{name}: {fault}" for fault in brand_uses.faults(part))


def _to_part(
    source: TextSource,
    declared: Sequence[Variable],
    sensitive: Collection[str],
    url_schemes: Collection[str],
) -> Iterator[str]:
    """Yield the objections to the links of a text, and to sensitive variables in-app."""
    secret = sorted(wording.mentions(source) & set(sensitive))
    if secret and source.channel is Channel.IN_APP:
        yield (
            f"{', '.join(secret)}: an inbox keeps its messages, so a sensitive variable cannot be"
            " part of them"
        )
    try:
        part = wording.compile_text(source).part
        rendered = part and part.render(variables.examples(declared), Reader(source.locale))
    except (BrokenTemplate, RenderError):
        return  # another objection names the fault
    for place, fault in in_app.url_faults(rendered or in_app.EMPTY, url_schemes):
        yield f"{'.'.join(map(str, place))} {fault}"


def _to_example(text: Wording, declared: Sequence[Variable], public_url: str) -> Iterator[str]:
    source = text.source
    short = public_url + short_links.PATH + "x" * short_links.TOKEN_LENGTH
    try:
        rendered = text.render(
            variables.examples(declared),
            Reader(source.locale),
            shorten=lambda _link: short,
            mail_links=variables.link_examples(),
        )
    except RenderError as error:
        yield f"with the examples, {error}"
        return
    size = sms_segments.measure(rendered.body)
    if source.channel is Channel.SMS and size.segments > source.most_segments:
        yield (
            f"with the examples it takes {size.segments} segments"
            f" ({size.units} units of {size.encoding}), at most {source.most_segments}; its"
            " max_segments permits another number"
        )
