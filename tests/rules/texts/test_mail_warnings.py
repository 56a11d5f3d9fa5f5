"""A preview warns about what spam filters and mail programs take badly, and of nothing else."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.brand import Brand
from notifications.core.rules.templates import contents, previews
from notifications.core.rules.texts import mail_warnings
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

WORDS = "Your order is on its way, and it arrives tomorrow. " * 9
BRAND = Brand(
    name="Acme",
    logo_url="https://acme.example/logo.png",
    footer="Acme Ltd.",
    website_url="https://acme.example",
)


def warnings(
    *, title: str = "Hello", html: str = "", blocks: str = "", types: Collection[str] | None = ()
) -> tuple[str, ...]:
    source = TextSource(channel=Channel.EMAIL, locale="en", title=title, html=html, blocks=blocks)
    words = contents.normalize(source)
    shown = previews.preview(words, {"name": "Ada"}, brand=BRAND, marketing_types=types)
    assert shown.rendered is not None, shown.problems
    return shown.warnings


@pytest.mark.parametrize("html", ["<p>Hello {{ name }}</p>", "<html><body>Hello</body></html>"])
def test_a_usual_mail_has_no_warning(html: str) -> None:
    assert warnings(html=html) == ()


def test_a_mail_in_blocks_with_logo_button_and_image_has_no_warning() -> None:
    blocks = f"# Hello\n\n{WORDS}\n\n![A chair](https://a.example/c.png)\n\n::: button [Pay](https://a.example)"
    assert warnings(blocks=blocks) == ()


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("", "without a subject"),
        ("BUY EVERYTHING NOW", "in capitals"),
        ("x" * 79, "79 characters"),
    ],
)
def test_a_subject_is_judged(title: str, told: str) -> None:
    [warning] = warnings(title=title, html="<p>Hello</p>")
    assert told in warning


@pytest.mark.parametrize(
    "title", ["x" * 78, "Your OTP for ACME", "PIN 4711", "您的订单已发货", "!?"]
)
def test_a_usual_subject_is_not(title: str) -> None:
    assert warnings(title=title, html="<p>Hello</p>") == ()


def test_a_mail_of_images_alone_is_named_with_its_figures() -> None:
    picture = '<img src="https://a.example/a.png" alt="All of the text">'
    [warning] = warnings(html=picture)
    assert "Images: 1, bytes of text: 13." in warning  # the footer and the name of the brand
    assert warnings(html=f"{picture}<p>{WORDS}</p>") == ()
    hidden = f'{picture}<div style="display:none">{WORDS}</div>'
    assert "Images: 1" in warnings(html=hidden)[0]


@pytest.mark.parametrize(
    ("picture", "count"),
    [
        ('<img src="https://a.example/a.png">', 1),
        ('<a href="https://a.example"><img src="https://a.example/a.png" alt=""></a>', 1),
        ('<img src="https://a.example/line.png" alt="">', 0),
        ('<img src="https://a.example/open.gif" width="1" height="1">', 0),
    ],
)
def test_an_image_needs_a_description_unless_it_is_decoration(picture: str, count: int) -> None:
    told = mail_warnings.MailWarning.NO_DESCRIPTION.format(count=count)
    assert warnings(html=f"<p>{WORDS}</p>{picture}") == (told,) * count


def test_gmail_clips_a_long_mail() -> None:
    [warning] = warnings(html=f"<p>{'x' * mail_warnings.CLIPPED_HTML_BYTES}</p>")
    assert "Gmail clips a message above 102400 bytes; the HTML has 10" in warning


@pytest.mark.parametrize(
    ("html", "pair"),
    [
        ('<p style="color: #999">x</p>', "#999999 on #ffffff"),
        ('<p style="color: rgb(110, 110, 110)">x</p>', ""),
        (
            '<table bgcolor="#222222"><tr><td style="color: navy">x</td></tr></table>',
            "#000080 on #222222",
        ),
        ('<style>.a { color: silver }</style><p class="a">x</p>', "#c0c0c0 on #ffffff"),
        ('<p style="color: #777; background: url(x.png)">x</p>', ""),
        ('<p style="color: #fff; display: none">x</p>', ""),
        ('<p style="color: hsl(0 0% 90%)">x</p>', ""),
        ('<p style="color: #999"> </p>', ""),
        ('<p style="color: #767676">x</p>', ""),
        ('<p style="color: #777777">x</p>', "#777777 on #ffffff has a contrast of 4.47 to 1"),
    ],
)
def test_text_below_the_contrast_of_wcag_is_named_with_its_colours(html: str, pair: str) -> None:
    found = warnings(html=html)
    assert len(found) == bool(pair)
    assert not pair or pair in found[0]


@pytest.mark.parametrize("link", ["https://bit.ly/x", "https://www.TinyURL.com/y"])
def test_a_public_shortener_is_named(link: str) -> None:
    [warning] = warnings(html=f'<p><a href="{link}">Go</a></p>')
    assert "hide their target" in warning
    assert warnings(html='<p><a href="https://orbit.ly/x">Go</a></p>') == ()


def test_a_p3_mail_needs_a_visible_unsubscribe_link() -> None:
    without, with_link = "<p>Hello</p>", '<p><a href="{{ unsubscribe_url }}">Stop</a></p>'
    [warning] = warnings(html=without, types=["sale", "promo"])
    assert "types of priority P3 use it: promo, sale." in warning
    assert "{{ unsubscribe_url }}" in warning
    [open_question] = warnings(html=without, types=None)
    assert "if a type of priority P3 will use it" in open_question
    assert warnings(html=without, types=[]) == ()
    assert warnings(html=with_link, types=["promo"]) == warnings(html=with_link, types=None) == ()


def test_the_other_channels_have_no_such_warnings() -> None:
    text = contents.words(Channel.PUSH, "en", title="BUY EVERYTHING", body="https://bit.ly/x")
    assert previews.preview(text, {}, marketing_types=["promo"]).warnings == ()


@given(st.text(alphabet='<>/="ap style:color#fdiv!-&; 0', max_size=200))
def test_any_html_is_read(html: str) -> None:
    page = mail_warnings._Page(html)
    assert page.text_bytes <= 4 * len(html)


@pytest.mark.parametrize("x", ["", "ied", " a", ">"])
def test_a_condition_of_outlook_may_have_a_variable(x: str) -> None:
    html = "<html><body><![if{{ x }} mso]>Hi<![endif]></body></html>"
    mail = contents.words(Channel.EMAIL, "en", title="Hi", html=html)
    assert previews.preview(mail, {"x": x}).warnings == ()


def test_a_reference_of_thousands_of_digits_stops_no_preview() -> None:
    long = f"&#{'9' * 5_000};"
    warnings(html=f'<p title="{long}">Hello {long}</p>')
