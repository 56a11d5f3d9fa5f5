"""No HTML of an author is more work than a process can do."""

from __future__ import annotations

import time

import pytest

from notifications.core.rules.language.syntax import BrokenTemplate
from notifications.core.rules.texts import mail_html, mail_text, wording
from notifications.core.rules.texts.mail_markup import MAX_OPEN, measure
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

MOST_CPU_SECONDS = 10.0
"""Far more than a slow processor needs; what has no bound takes minutes."""
NEWSLETTER = """
<!DOCTYPE html><html><head><title>A < B</title><style>p > a, td { color: red; margin: 0 }</style>
<!--[if mso]><style>td { font: serif }</style><![endif]-->
<!--[if !mso]><!--><meta x><!--<![endif]-->
<![if !mso]><link rel=stylesheet href='a?b=c&d=e'><![endif]></head><body class="x"data-y = z>
<table><tr><td>5 < 6 <td><img alt='it is "so"'/><br>{% if a < b %}<b>{{ name }}</b>{% endif %}
</table><p>one<p>two<a href={{ link }}>x</a></body></html>
"""


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 30_000,
        "<table><tr><td>" * 10_000,
        "<li><dd>" * 10_000,
        "<b><object></b></object>" * 10_000,
        "<div><!--></div><!-->" * 10_000,
        "<div><!-- --!><div> -->" * 10_000,
        "<!----!>" * 20_000,
        '<div><i a=" </div> ">' * 10_000,
        "<p>" + "".join(f"<b x={n}>" for n in range(240)) + "</p>" + "<p>x</p>" * 10_000,
        *(
            unclosed * 40_000
            for unclosed in ("<!--", "<a", "<a b=", '<a href="', "</", "<?", "<![")
        ),
        *("<![if a>" * 20_000, "<![never]>", "<style>", '<a b"="c>', "<script>a</script>"),
        *("<svg/>", "<select><style></select>", "<textarea>"),
    ],
)
def test_markup_that_would_be_too_much_work_is_refused_soon(html: str) -> None:
    began = time.process_time()
    with pytest.raises(BrokenTemplate):
        wording.compile_text(TextSource(channel=Channel.EMAIL, locale="en", html=html))
    assert time.process_time() - began < MOST_CPU_SECONDS


@pytest.mark.parametrize("comment", ["<!---->", "<!-- a -->", "<!--[if mso]>b<![endif]-->"])
def test_the_text_of_many_comments_is_soon_read(comment: str) -> None:
    assert mail_text.text_of("<p>a</p>" + comment * 20_000 + "<p>b</p>") == "a\n\nb"


@pytest.mark.parametrize("page", ["<!----!>" * 20_000, "<!--" * 40_000, "<!-->" * 20_000])
def test_comments_that_readers_disagree_about_take_no_longer(page: str) -> None:
    began = time.process_time()
    assert mail_text.text_of("<p>a</p>" + page) == "a"
    assert time.process_time() - began < MOST_CPU_SECONDS


def test_tags_without_an_end_and_odd_marks_have_a_text_too() -> None:
    began = time.process_time()
    text = mail_text.text_of("<p>a</p><![x]><![ %]>" + "<a " * 40_000)
    assert text.startswith("a\n\n<a <a")
    assert time.process_time() - began < MOST_CPU_SECONDS


@pytest.mark.parametrize("comment", ["<!-- a --!>", "<!-->", "<!--->", "<!-- a"])
def test_a_comment_that_readers_disagree_about_is_refused(comment: str) -> None:
    with pytest.raises(BrokenTemplate, match="a comment must"):
        measure(f"<p>a</p>{comment}<p>b</p>")


@pytest.mark.parametrize("letter", ["\xa0", "\x0b", "\x1f", "\x85", "\u2003", "\u212a"])
def test_a_letter_of_a_name_is_neither_space_nor_another_letter(letter: str) -> None:
    for page in (f"<div{letter}></div>", f"<lin{letter}>", f"<div x><div{letter}=></div>"):
        with pytest.raises(BrokenTemplate, match=r"within each other|invalid tag"):
            measure(page * (MAX_OPEN + 1))
    assert measure(f"<style></style{letter}><p></style><div>").elements == 2
    assert measure("<DIV></Div><LINK>" * (MAX_OPEN + 1)).elements == 2 * (MAX_OPEN + 1)


def test_what_mail_programs_need_is_taken() -> None:
    assert "{% if a < b %}<b>{{ name }}</b>{% endif %}" in mail_html.prepare(
        NEWSLETTER, locale="en"
    )
    assert "{{ name }}" in mail_text.text_of(NEWSLETTER)


def test_a_fault_names_the_line_of_the_source() -> None:
    with pytest.raises(BrokenTemplate, match="line 4: script has no place in a mail"):
        mail_html.prepare("<p>\n{% if\n x %}\n<script></script>{% endif %}", locale="en")


def test_elements_within_each_other_are_counted_as_they_are_closed() -> None:
    assert measure("<div><p>a<p>b</div>" * MAX_OPEN * 4).elements == 3 * 4 * MAX_OPEN
    assert measure("<table><tr><td>a<td>b<tr><td>c</table>" * MAX_OPEN).elements == 6 * MAX_OPEN


def test_a_style_sheet_that_would_be_written_on_every_element_stays_where_it_is() -> None:
    sheet = "".join(f"*{{--a{n}:1}}" for n in range(6_000))
    began = time.process_time()
    html = mail_html.prepare(f"<style>{sheet}</style>" + "<p>x</p>" * 5_000, locale="en")
    assert sheet in html
    assert time.process_time() - began < MOST_CPU_SECONDS
