"""Objections to publishing a version, as sentences for the author.

Texts without objections compile, are not empty, need only variables required from producers, and
render with the declared examples within the limits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from notifications.rules.language import variables
from notifications.rules.language.templating import BrokenTemplate, Reader, RenderError
from notifications.rules.language.variables import UNSUBSCRIBE_EXAMPLE, UNSUBSCRIBE_URL, Variable
from notifications.rules.texts import short_links, sms_segments, wording
from notifications.rules.texts.wording import TextSource, Wording
from providers.contract import Channel


def objections(
    sources: Iterable[TextSource],
    *,
    declared: Sequence[Variable],
    sensitive: Collection[str] = (),
    public_url: str = "",
) -> list[str]:
    """Return the objections to texts; empty if the texts may be published.

    Args:
        sources: the texts of the version.
        declared: the declared variables; empty: producers send the variables needed by the texts.
        sensitive: names of variables that must not be stored unencrypted.
        public_url: URL of the service, for the length of short links.
    """
    return [
        f"{source.label}: {objection}"
        for source in sources
        for objection in _to_source(source, declared, sensitive, public_url)
    ]


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
    if source.shorten_links and wording.mentions(source) & set(sensitive):
        yield "its links may hold what is sensitive, and short links are stored in the clear"
    if source.channel is not Channel.EMAIL and wording.has_link(source):
        yield f"{UNSUBSCRIBE_URL} is for e-mail, and empty here"
    if declared:
        missing = variables.missing_declarations(declared, needs)
        yield from (f"it needs {name}, which no producer has to send" for name in missing)
        if not missing:
            yield from _to_example(text, declared, public_url)
    elif source.max_segments is not None:
        yield "segments can be counted when the variables are declared, with examples"


def _to_example(text: Wording, declared: Sequence[Variable], public_url: str) -> Iterator[str]:
    source = text.source
    short = public_url + short_links.PATH + "x" * short_links.TOKEN_LENGTH
    try:
        rendered = text.render(
            variables.examples(declared),
            Reader(source.locale),
            shorten=lambda _link: short,
            unsubscribe_url=UNSUBSCRIBE_EXAMPLE,
        )
    except RenderError as error:
        yield f"with the examples, {error}"
        return
    size = sms_segments.measure(rendered.body)
    if source.channel is Channel.SMS and size.segments > (source.max_segments or size.segments):
        yield (
            f"with the examples it takes {size.segments} segments"
            f" ({size.units} units of {size.encoding}), at most {source.max_segments}"
        )
