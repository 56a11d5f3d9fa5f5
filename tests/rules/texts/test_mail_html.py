"""A mail is a whole document, styled where mail programs look, and readable without HTML."""

from __future__ import annotations

from pathlib import Path

import pytest

from notifications.core.rules.brand import DEFAULT
from notifications.core.rules.language.templating import compile_text
from notifications.core.rules.texts import mail_html, mail_sheets, mail_text

LOOP = """<style>td { padding: 1px } .x { color: red }</style>
<table>{% for dish in dishes %}
<tr class="{{ kind }}"><td>{{ dish.name }}</td><td class="x">{{ dish.price|money("EUR") }}</td></tr>
{% endfor %}</table><p><a href="{{ url }}?a=1&amp;b=2">Order&nbsp;now</a> &copy; us</p>"""
VALUES = {
    "brand": DEFAULT.variables,
    "dishes": [{"name": "<Soup>", "price": 5}, {"name": "Pie", "price": 7}],
    "kind": "row",
    "url": "https://shop.example/",
}


def rendered(source: str, locale: str = "en") -> str:
    return compile_text("", "", mail_html.prepare(source, locale=locale)).render(VALUES).html


def test_styles_are_on_the_elements_and_loops_still_run() -> None:
    html = rendered(LOOP)
    assert html.count('<td style="padding: 1px;">&lt;Soup&gt;</td>') == 1
    assert html.count('<td class="x" style="padding: 1px;color: red;">') == 2
    assert html.count('<tr class="row">') == 2
    assert 'href="https://shop.example/?a=1&amp;b=2"' in html
    assert "Pie" in html.partition("</table>")[0]


def test_a_fragment_is_framed_and_a_document_is_not() -> None:
    fragment = rendered("<p>Hi</p>")
    assert fragment.startswith('<!DOCTYPE html><html lang="en" dir="ltr">')
    assert 'class="page" style="' in fragment
    assert "@media (prefers-color-scheme: dark)" in fragment
    whole = rendered('<body style="color: red"><p>Hi</p></body>')
    assert 'class="page"' not in whole
    assert '<html lang="en" dir="ltr"><head></head><body style="color: red">' in whole


@pytest.mark.parametrize("locale", ["ar", "he-IL", "fa", "ur"])
def test_what_is_read_from_the_right_says_so(locale: str) -> None:
    assert f'<html lang="{locale}" dir="rtl">' in rendered("<p>x</p>", locale)
    assert 'dir="rtl"' in rendered("<html><body>x</body></html>", locale)


def test_an_author_who_says_the_direction_is_believed() -> None:
    assert rendered('<html dir="ltr"><body>x</body></html>', "ar").count("dir=") == 1


@pytest.mark.parametrize(
    "source",
    [
        "<style>p { color: {{ kind }} }</style><p>x</p><p>y</p>",
        "<style>{% for d in dishes %} p { color: red } {% endfor %}</style><p>x",
        '<p {% if kind %}class="a"{% endif %} {% for d in dishes %}x{% endfor %}>y</p>',
    ],
)
def test_what_cannot_be_inlined_is_still_what_its_author_wrote(source: str) -> None:
    expected = compile_text("", "", source).render(VALUES).html
    assert expected in rendered(f"<html>{source}</html>")


@pytest.mark.parametrize(
    "source",
    [
        *("<d{##}>x</d>", "<h{{ kind }}>x</h{{ kind }}>", "<D{% if kind %}{% endif %} a>x</d>"),
        *("<d>x</d{##}>", "<style>p { color: red }</style{# #}></style>", "<d_{{ kind }}{##}/>"),
    ],
)
def test_a_tag_whose_name_has_a_statement_does_not_reach_the_inliner(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_sheets, "_inliner", lambda: pytest.fail("the inliner nests such tags"))
    assert source in mail_html.prepare(f"<body>{source * 3}", locale="en")


@pytest.mark.parametrize(
    "comment",
    [
        "<!--[if mso]> {% if kind %}<table><tr><td>{% endif %} <![endif]-->",
        *(
            "<!-- <b>{{ kind }}</b> {# x #} -->",
            "<!-- <!-- --><!-- > {##} -->",
            "<!----><!--{##}>-->",
        ),
        "<!-- > {##}" + "<d>" * 300 + " -->",
    ],
)
def test_a_comment_with_a_statement_keeps_its_end(comment: str) -> None:
    source = f"<style>p {{ color: red }}</style>{comment}<p>x</p>{comment}{{# y #}}<p>z</p>"
    html = mail_html.prepare(source, locale="en")
    assert html.count(comment) == 2
    assert html.count('<p style="margin: 0 0 16px;color: red;">') == 2


@pytest.mark.parametrize("name", ["title", "TITLE"])
def test_a_title_with_a_statement_is_kept(name: str) -> None:
    words = "{% if kind %}a &gt; {{ kind }}{% endif %}{# x #}"
    head = f"<head><{name}>{words}</{name}><style>p {{ color: red }}</style></head>"
    html = mail_html.prepare(f"<html>{head}<body>{{# y #}}<p>x</p></html>", locale="en")
    assert f"<title>{words}</title>" in html
    assert '<body>{# y #}<p style="color: red;">' in html


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_nothing_is_fetched_and_no_file_is_read(tmp_path: Path, scheme: str) -> None:
    sheet = tmp_path / "x.css"
    sheet.write_text("p { color: red }")
    for link in (f"{scheme}{sheet}", "http://127.0.0.1:1/x.css"):
        html = rendered(f'<html><head><link rel="stylesheet" href="{link}"></head><p>x</html>')
        assert "<p>x</p>" in html


def test_the_text_is_read_from_the_html() -> None:
    source = mail_text.text_of("<h1>Menu</h1><ul><li>{{ kind }}</li><li>b</li></ul>" + LOOP)
    assert compile_text("", source).render(VALUES).body.replace("\xa0", " ").split("\n") == [
        *("Menu", "", "- row", "- b", ""),
        *("<Soup> €5.00", "Pie €7.00", "", "Order now (https://shop.example/?a=1&b=2) © us"),
    ]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            "<p>a</p>{% for d in dishes %}<p>{{ d.name }}</p>{% endfor %}<p>z",
            "a\n\n<Soup>\n\nPie\n\nz",
        ),
        ("<p>a</p>{% if kind %}b{% endif %}<p>c", "a\n\nb\n\nc"),
        ("<ul>{% for d in dishes %}<li>{{ d.name }}{% endfor %}</ul>z", "- <Soup>\n- Pie\n\nz"),
        ("<p>Hi {% if kind %}<b>{{ kind }}</b>{% endif %}, you", "Hi row, you"),
    ],
)
def test_lines_end_where_a_reader_expects_it(html: str, text: str) -> None:
    assert compile_text("", mail_text.text_of(html)).render(VALUES).body.strip() == text


def test_what_is_not_read_leaves_no_trace() -> None:
    html = "<head><title>t</title><style>p{}</style></head><script>x</script><p>a<br>b</p>"
    assert mail_text.text_of(html + '<img alt="logo"><p><a href="https://x/">https://x/</a>') == (
        "a\nb\n\nlogo\n\nhttps://x/"
    )
