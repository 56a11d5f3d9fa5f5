"""Links of a mail lead over the service, and nothing else of the mail changes."""

from __future__ import annotations

import html

import pytest

from notifications.core.rules.texts.mail_tracking import LONGEST_TARGET, add_pixel, replace_links

TARGET = "https://shop.example/a?b=1&c=2"
LEAVE = "https://notify.example/unsubscribe/x.y"


def _tracked(target: str) -> str:
    return f"https://t/c/{target.encode().hex()}?a&b"


def _over(target: str) -> str:
    return html.escape(_tracked(target))


@pytest.mark.parametrize(
    ("source", "result"),
    [
        (f'<a href="{html.escape(TARGET)}">x</a>', f'<a href="{_over(TARGET)}">x</a>'),
        (f"<A class=b\n HREF = '{TARGET}'>x</A>", f"<A class=b\n HREF = '{_over(TARGET)}'>x</A>"),
        (f'<a href="{TARGET}" style="c">', f'<a href="{_over(TARGET)}" style="c">'),
    ],
)
def test_the_target_of_a_link_is_replaced(source: str, result: str) -> None:
    assert replace_links(source, _tracked) == result


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("a=1&region=eu&copy=2&times=3", "a=1&region=eu&copy=2&times=3"),
        ("a=1&amp;region=eu&#38;copy=2&#x26;sect=1", "a=1&region=eu&copy=2&sect=1"),
        ("a=1&currency", "a=1&currency"),
        ("a=1&notit;", "a=1&notit;"),
        ("a=&eacute;&copy", "a=\u00e9\u00a9"),
        ("a=&amp;amp;b&amp=1", "a=&amp;b&amp=1"),
    ],
)
def test_a_target_is_read_as_a_browser_reads_an_attribute(written: str, target: str) -> None:
    """Without a semicolon and before `=` or a letter, `&copy` is a parameter and no sign."""
    source = f'<a href="https://shop.example/?{written}">'
    expected = _over(f"https://shop.example/?{target}")
    assert replace_links(source, _tracked) == f'<a href="{expected}">'


def test_a_target_that_is_long_in_bytes_stays() -> None:
    """The base64 of the token grows with the bytes."""
    source = f'<a href="https://shop.example/{chr(0x5317) * (LONGEST_TARGET // 2)}">'
    assert replace_links(source, _tracked) == source


@pytest.mark.parametrize(
    "source",
    [
        "",
        '<a href="mailto:a@shop.example">',
        '<a href="#top">',
        '<a href="https://">',
        '<a name="https://shop.example">',
        '<a data-href="https://shop.example">',
        '<link href="https://shop.example/a.css">',
        '<img src="https://shop.example/a.png">',
        '<abbr href="https://shop.example">',
        f"<p>{TARGET}</p>",
        f'<a href="{LEAVE}">leave</a>',
        f'<a href="https://shop.example/{"x" * LONGEST_TARGET}">',
    ],
)
def test_what_is_no_link_to_follow_stays(source: str) -> None:
    assert replace_links(source, _tracked, keep=LEAVE) == source


@pytest.mark.parametrize(
    ("source", "begin", "end"),
    [
        ("<p>a</p>", "<p>a</p><img", ">"),
        ("<body>a</body></html>", "<body>a<img", "></body></html>"),
        ("<pre>&lt;/body></pre></BODY >", "<pre>&lt;/body></pre><img", "></BODY >"),
    ],
)
def test_the_pixel_stands_at_the_end_of_the_body(source: str, begin: str, end: str) -> None:
    found = add_pixel(source, "https://t/o/a&b")
    assert found.startswith(begin)
    assert found.endswith(end)
    assert 'src="https://t/o/a&amp;b"' in found


def test_a_hostile_text_takes_no_quadratic_time() -> None:
    source = "<a " * 50_000 + "href=" * 50_000
    assert replace_links(source, _tracked) == source


def test_a_reference_of_thousands_of_digits_stops_no_mail() -> None:
    link = f'<a href="https://shop.example/?a&#{"9" * 5_000};">a</a>'
    assert replace_links(link, _tracked) == (
        f'<a href="{_over("https://shop.example/?a" + chr(0xFFFD))}">a</a>'
    )
