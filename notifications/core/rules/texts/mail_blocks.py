"""A mail in blocks: Markdown and a few directives, compiled to the HTML and the text of a mail.

    source -> marks for `{{ }}` -> directives (`mail_block_tree`) -> HTML (`mail_block_markup`)

    ::: preheader Due on {{ due|date }}      shown by mail programs beside the subject
    ::: button [Pay now]({{ url }})
    ::: columns / ::: column / ::: end       two to four columns
    ::: table item in items / ::: end        a Markdown table, its rows once for each item
    ::: if total / ::: else / ::: end        any blocks

The result is a source in the template language, stored beside the blocks when a version is saved,
so a mail in blocks is sent as a mail in HTML is, and a published version never changes. The author
cannot write HTML: `<` and `{` of the text are text in the mail. A link has one of a few schemes, or
begins with a variable; the value is checked when the mail is rendered (`language.addresses`).

Header, colours, font and footer are those of the variable `brand` (`rules.brand`).
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

from notifications.core.rules.language import locales, templating
from notifications.core.rules.language.syntax import BrokenTemplate, TemplateFault
from notifications.core.rules.texts import (
    mail_block_markup,
    mail_block_tree,
    mail_html,
    mail_text,
)
from notifications.core.rules.texts.mail_block_tree import Preheader

MAX_BLOCK_SOURCE: Final = 20_000
"""Characters of a source. A long newsletter has five thousand. The parser's time grows with the
square: unfinished bold text of this size takes a third of a second."""
MAX_BRACKETS: Final = 500
"""Opening brackets of a source: the parser compares each with all later ones."""
MAX_LINES: Final = 1_000
"""Lines of a source; a row of a table can take a millisecond."""


class CompiledBlocks(NamedTuple):
    """The sources of the HTML part and the text part of a mail."""

    html: str
    body: str


def compile_blocks(source: str, *, locale: str) -> CompiledBlocks:
    """Compile a source.

    Raises:
        BrokenTemplate: the source is no mail; each fault names the line and the block.
    """
    compiled = _compile(source, is_right_to_left=locales.direction(locale) == "rtl")
    if isinstance(compiled, CompiledBlocks):
        return compiled
    raise BrokenTemplate(list(compiled))


def faults(source: str) -> tuple[TemplateFault, ...]:
    """Return the faults of a source, in the order of its lines."""
    compiled = _compile(source, is_right_to_left=False)
    return () if isinstance(compiled, CompiledBlocks) else compiled


@functools.lru_cache(maxsize=128)
def _compile(source: str, *, is_right_to_left: bool) -> CompiledBlocks | tuple[TemplateFault, ...]:
    try:
        return _build(source, is_right_to_left=is_right_to_left)
    except BrokenTemplate as error:
        return tuple(error.faults)


def _build(source: str, *, is_right_to_left: bool) -> CompiledBlocks:
    if len(source) > MAX_BLOCK_SOURCE:
        raise BrokenTemplate([TemplateFault(1, f"longer than {MAX_BLOCK_SOURCE} characters")])
    if source.count("\n") >= MAX_LINES:
        raise BrokenTemplate([TemplateFault(MAX_LINES + 1, f"more than {MAX_LINES} lines")])
    if source.count("[") > MAX_BRACKETS:
        raise BrokenTemplate([TemplateFault(1, f"more than {MAX_BRACKETS} links and images")])
    marked = mail_block_tree.mark(source)
    blocks = mail_block_tree.read(marked)
    if all(isinstance(block, Preheader) for block in blocks):
        raise BrokenTemplate([TemplateFault(1, "the mail has no text: write a paragraph")])
    page = mail_block_markup.document(blocks, is_right_to_left=is_right_to_left)
    html = marked.restore(page)
    body = mail_text.text_of(marked.restore(mail_block_markup.source_of_text(blocks)))
    for part in (html, body):
        if found := templating.check(part):
            raise BrokenTemplate([TemplateFault(1, f"the whole mail: {found[0].detail}")])
    mail_html.prepare(html, locale="en")
    return CompiledBlocks(html, body)
