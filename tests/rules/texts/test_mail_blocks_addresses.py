"""Addresses of links and images in a mail in blocks: a variable makes none of another scheme."""

from __future__ import annotations

import pytest

from notifications.core.rules.language.templating import RenderError
from tests.rules.texts.test_mail_blocks import content, html

ADDRESS_OF_LINK = "the address of a link begins with https://, http://, mailto: or tel:"
ADDRESS_OF_IMAGE = "the address of an image begins with https://, http:// or cid:"
ANCHOR = '<p><a class="link" href="{}">a</a></p>'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("https://x.example/?a=1&b=2", "https://x.example/?a=1&amp;b=2"),
        ("HTTP://x.example", "HTTP://x.example"),
        ("mailto:a@x.example", "mailto:a@x.example"),
        ("tel:+4930", "tel:+4930"),
        (" https://x.example\n", "https://x.example"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_variable_is_the_address_of_a_link(value: str | None, expected: str) -> None:
    assert content("[a]({{ url }})", url=value) == ANCHOR.format(expected)


REFUSED_ADDRESSES = [
    *("javascript:alert(1)", "JavaScript:alert(1)", " java\tscript:alert(1)", "\x01javascript:a"),
    *("data:text/html,x", "vbscript:x", "file:///etc/passwd", "//x.example", "x.example", "/path"),
]


@pytest.mark.parametrize("value", [*REFUSED_ADDRESSES, "cid:a"])
@pytest.mark.parametrize("blocks", ["[a]({{ url }})", "::: button [a]({{- x.url -}})"])
def test_a_variable_makes_no_link_of_another_scheme(blocks: str, value: str) -> None:
    with pytest.raises(RenderError, match=ADDRESS_OF_LINK):
        html(blocks, url=value, x={"url": value})


@pytest.mark.parametrize("value", [*REFUSED_ADDRESSES, "mailto:a@x.example", "tel:+4930"])
def test_a_variable_makes_no_image_of_another_scheme(value: str) -> None:
    with pytest.raises(RenderError, match=ADDRESS_OF_IMAGE):
        html("![a]({{ url }})", url=value)
    assert 'src="cid:a"' in html("![a]({{ url }})", url="cid:a")


@pytest.mark.parametrize(
    ("address", "first", "second"),
    [
        ("{{ a }}{{ b }}", "", "javascript:alert(1)"),
        ("{{ a }}{{ b }}", "java", "script:alert(1)"),
        ("{{ a }}java{{ b }}", None, "script:alert(1)"),
        ("{{ a if b == 1 else b }}", "https://x.example", "javascript:alert(1)"),
    ],
)
def test_two_variables_make_no_link_of_another_scheme(
    address: str, first: str | None, second: str
) -> None:
    with pytest.raises(RenderError, match=ADDRESS_OF_LINK):
        html(f"[a]({address})", a=first, b=second)


def test_a_variable_and_a_path_make_the_address_of_a_link() -> None:
    assert content("[a]({{ base }}/{{ path }})", base="https://x.example", path="b") == (
        ANCHOR.format("https://x.example/b")
    )
    assert content("[a](https://x.example/{{ path }})", path="javascript:b") == (
        ANCHOR.format("https://x.example/javascript:b")
    )


def test_the_address_of_a_link_is_a_text_that_is_there() -> None:
    with pytest.raises(RenderError, match="the variable 'url' is missing"):
        html("[a]({{ url }})")
    with pytest.raises(RenderError, match="an address is a text"):
        html("[a]({{ url }})", url=["https://x.example"])
