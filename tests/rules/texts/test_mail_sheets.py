"""The rules of a style sheet reach the elements, or stay for the mail programs that need them."""

from __future__ import annotations

import re
import time

import pytest

from notifications.core.rules.language.templating import compile_text
from notifications.core.rules.texts import mail_html

_TOP = "<!DOCTYPE html><html><head>"


def prepared(sheet: str, body: str) -> str:
    return mail_html.prepare(f"{_TOP}<style>{sheet}</style></head>{body}</html>", locale="en")


def sheet_of(html: str) -> str:
    """Return the rules of all style elements outside of comments, in one line."""
    seen = re.sub(r"<!--.*?-->", "", html, flags=re.DOTALL)
    return " ".join(" ".join(re.findall(r"<style[^>]*>(.*?)</style>", seen, re.DOTALL)).split())


@pytest.mark.parametrize(
    "rule",
    [
        *("a:hover { color: red; }", ".b:active { color: red; }", "a:visited { color: red; }"),
        *("[data-ogsc] .b { color: #fff !important; }", "[data-ogsb] body { color: red; }"),
        *("u + .body .gmail { display: block; }", "#outlook a { padding: 0; }"),
        *(".ExternalClass { width: 100%; }", ".ExternalClass * { line-height: 100%; }"),
        *("#MessageViewBody a { color: inherit; }", "div > u ~ div .b { color: red; }"),
        "a[x-apple-data-detectors] { color: inherit !important; }",
        *("_:-ms-fullscreen, .q { color: red; }", ".b::before { content: 'x'; }"),
        "@media (prefers-color-scheme: dark) { .b { color: white } }",
        *("@font-face { font-family: X; src: url(x) }", "@import url(https://x.example/f.css);"),
        *(".mso { width: 600px; }", r".sm\:w { width: 100%; }", ".b:has(i) { color: red; }"),
    ],
)
def test_a_rule_that_matches_no_element_stays(rule: str) -> None:
    rules = f".b {{ margin: 0 }} {rule}" if not rule.startswith("@import") else rule
    html = prepared(rules, '<body class="body"><p class="b">x <a href="x">y</a></p></body>')
    assert sheet_of(html) == rule
    assert rule.startswith("@import") or '<p class="b" style="margin: 0;">' in html


def test_a_rule_on_an_element_is_sent_once() -> None:
    html = prepared("p { color: red } .b, .b:hover { top: 0 }", '<body><p class="b">x</p></body>')
    assert '<p class="b" style="color: red;top: 0;">' in html
    assert sheet_of(html) == ".b:hover { top: 0; }"


def test_a_sheet_without_a_rule_left_is_removed() -> None:
    assert "<style" not in prepared("p { color: red }", "<body><p>x</p></body>")


@pytest.mark.parametrize(
    "comment", ["<!--[if mso]>{}<![endif]-->", "<!--[if (gte mso 9)|(IE)]>{}<![endif]-->"]
)
def test_a_class_in_a_conditional_comment_keeps_its_rule(comment: str) -> None:
    cell = comment.format("<table><tr><td class='b wide' id=x>x</td></tr></table>")
    rules = ".b { color: red } .wide { width: 600px } #x { top: 0 } .c { left: 0 }"
    html = prepared(rules, f'<body><p class="b c" id="x">x</p>{cell}</body>')
    assert '<p class="b c" id="x" style="color: red;left: 0;top: 0;">' in html
    assert sheet_of(html) == ".b { color: red; } .wide { width: 600px; } #x { top: 0; }"
    assert cell in html


def test_a_comment_without_a_condition_keeps_no_rule() -> None:
    comment = '<!-- was: <td class="b"> --><!-- <style>.b { color: blue }</style> -->'
    html = prepared(".b { color: red }", f'<body><p class="b">x</p>{comment}</body>')
    assert sheet_of(html) == ""
    assert comment in html


@pytest.mark.parametrize(
    "names", ['class="{{ kind }}"', 'class="a {% if x %}row{% endif %}"', 'id="{{ kind }}"']
)
def test_a_class_from_a_variable_keeps_the_rules_of_classes(names: str) -> None:
    rules = ".b { color: red } .row { top: 0 } #row { left: 0 } p { margin: 0 }"
    html = prepared(rules, f'<body><p class="b">x</p><p {names}>y</p></body>')
    assert '<p class="b" style="margin: 0;color: red;">' in html
    assert sheet_of(html) == ".b { color: red; } .row { top: 0; } #row { left: 0; }"
    assert names in html
    compile_text("", "", html)


def test_a_sheet_of_a_medium_stays_whole_and_off_the_elements() -> None:
    sheets = (
        '<style media="print">.b { color: black }</style>'
        "<STYLE type=text/css MEDIA='(max-width: 600px)'>.b { width: 100% }</STYLE>"
        "<style>.b { top: 0 }</style>"
    )
    source = f'{_TOP}{sheets}</head><body><p class="b">x</p></body></html>'
    html = mail_html.prepare(source, locale="en")
    assert '<p class="b" style="top: 0;">' in html
    assert '<style media="print">.b { color: black }</style>' in html
    assert '(max-width: 600px)">.b { width: 100% }</style>' in html
    assert "data-css-inline" not in html


def test_a_selector_with_a_class_attribute_keeps_its_value() -> None:
    rules = '[class="b c"] { color: red } [data-ogsc] [class="b"] { top: 0 }'
    comment = '<!--[if mso]><td class="b"></td><![endif]-->'
    html = prepared(rules, f'<body><p class="b c">x</p>{comment}</body>')
    assert sheet_of(html) == '[class="b c"] { color: red; } [data-ogsc] [class="b"] { top: 0; }'


@pytest.mark.parametrize(
    "part",
    [
        *("<!-- <style <style", "<!--[if mso]> class= id='", "<!-- <style media= "),
        *("<title><!-- <style> ", "<title><style media=", "<style>p{}</style>"),
        *("<!--[if mso]><td class='a'>x</td><![endif]-->", '<i class="{{ x }}">x</i>'),
    ],
)
def test_twice_the_source_is_at_most_three_times_the_work(part: str) -> None:
    def seconds(size: int) -> float:
        end = "</title>" if "title" in part else "-->" if part.startswith("<!--") else ""
        html = part * (size // len(part)) + (end if not part.endswith(">") else "")
        began = time.thread_time()
        mail_html.prepare(f"<body><style>p {{ color: red }}</style>{html}", locale="en")
        return time.thread_time() - began

    assert seconds(60_000) <= 3 * seconds(30_000) + 1.0
