"""No link of a mail runs a script, whatever a variable holds."""

from __future__ import annotations

import time

import pytest

from notifications.core.rules.language import link_targets
from notifications.core.rules.language.formats import RenderError
from notifications.core.rules.language.templating import compile_text

MOST_CPU_SECONDS = 10
"""Far more than a slow processor needs; a check without a bound takes minutes."""
_LINK = '<p><a class="x" href="{{ url }}">Open</a></p>'


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        " JavaScript:alert(1)",
        "java\n\tscript:alert(1)",
        "\x01vbscript:x",
        "data:text/html,<script>",
    ],
)
@pytest.mark.parametrize(
    "source",
    [_LINK, "<a HREF = '{{ url }}'>", '<form action="{{ url }}">'],
)
def test_a_value_that_runs_a_script_is_refused(url: str, source: str) -> None:
    with pytest.raises(RenderError, match=r"begins with \w+:"):
        compile_text("", "", source).render({"url": url})


@pytest.mark.parametrize(
    "source",
    [
        '<a href="javascript&colon;alert(1)">',
        '<a href="&#106;avascript:alert(1)">',
        "<a href=javascript:x>",
        '<img src="javascript:x">',
        '<svg><a xlink:href="javascript:x">',
        "<img src=x href=javascript:x>",
        f'<a href="&#{"0" * 5_000}106;avascript:x">',
        f'<a href="&#{"9" * 5_000};"><a href="javascript:x">',
        '<!--[if mso]><v:roundrect href="javascript:x"><![endif]-->',
        '<![x]><style></style x><!--><a title=it\'s href="javascript:x">',
    ],
)
def test_so_is_a_target_of_the_source(source: str) -> None:
    with pytest.raises(RenderError, match="begins with javascript:"):
        compile_text("", "", source).render({})


@pytest.mark.parametrize(
    "url", ["https://shop.example/?a=1&b=2", "shop://orders/1", "mailto:a@b.example", "", "#top"]
)
def test_other_targets_stay(url: str) -> None:
    assert "Open" in compile_text("", "", _LINK).render({"url": url}).html


@pytest.mark.parametrize("piece", [" ", "<a ", "<!--", '<a x="', "href=", "<a href= x", "&"])
def test_the_longest_html_is_soon_checked(piece: str) -> None:
    began = time.process_time()
    link_targets.check(f'<a href="j" {piece[:2]}=' + piece * (500_000 // len(piece)))
    assert time.process_time() - began < MOST_CPU_SECONDS


def test_texts_and_contents_of_images_stay() -> None:
    source = "<p>{{ text }}</p><img src='data:image/png;base64,AA=='>"
    text = "href=javascript:x and <a href='javascript:x'>"
    assert compile_text("", "", source).render({"text": text}).html.startswith("<p>href=")
