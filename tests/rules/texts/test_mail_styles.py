"""No style sheet of a mail is more native work than a process can spare."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notifications.core.rules.language.syntax import BrokenTemplate
from notifications.core.rules.texts import (
    mail_html,
    mail_markup,
    mail_sheets,
    mail_styles,
    mail_text,
    wording,
)
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

MOST_CPU_SECONDS = 1.0
"""Ten times the bound on the inliner; without the bound the sheets below take minutes."""
GROWTH = 3
"""CPU time of a doubled source as a multiple; linear work takes twice as much."""
SLACK = 1.0
"""CPU seconds below which growth is not judged."""
SIMPLE = (
    *("p", "*", ".x", "#i", "p.x", "[a]", "[a=b]", "[a*=ab]", "[a~='b' i]", "p#i.x", "div", "b"),
    *(":root", ":empty", ":hover", ":first-child", ":last-of-type", ":only-child", ":link"),
    *(":nth-child(2n + 1)", ":nth-last-of-type(odd)", ":nth-child(2 of .x ~ p)", "::before"),
    *(r".sm\:x", ":checked", "p/**/.x", ":lang(en)"),
)
MARKUP = (
    *("<p>x", '<p class="x y z" a="bbab">x</p>', "<div><p id=i>", "</div>", "<p></p>", "<br>"),
    *("<!-- x -->", "<b>", "<b class=x>y</b>", "<table><tr><td>x</table>", "</p>", "{{ x }}"),
    *("{% if x %}<p>x</p>{% endif %}", '<p style="a: b">x</p>', '<p style="{{ x }}">x</p>'),
    *('<i class="{% if x %}y{% endif %}">z</i>', "<style>.y{c:d}</style>", "<div>" * 40 + "x"),
    *("</div>" * 40, '<p class="' + "c " * 500 + '">x</p>', "<!-- x -->" * 100),
)
BODIES = (
    *("a:b", "a:b;c:d", "", "a:'}'", "a:url(b;c)", "a:" + "b" * 300, "a:b;q{c:d}e:f", "a:\\b"),
    "".join(f"a{n}:b;" for n in range(100)),
)
WRAPPERS = ("{0}", "{0}", "{0}", "@media x{{{0}}}", "/*'*/{0}", "@import url(x);{0}", "<!--{0}-->")
selectors = st.recursive(
    st.sampled_from(SIMPLE),
    lambda inner: (
        st.tuples(inner, st.sampled_from([" ", ">", " + ", "~", ", ", ""]), inner).map("".join)
        | st.tuples(
            st.sampled_from(["p:not({0})", ":is({0})", ":has({0})", "*:where({0})"]), inner
        ).map(lambda both: both[0].format(both[1]))
    ),
    max_leaves=6,
)
sheets = st.tuples(st.sampled_from(WRAPPERS), selectors, st.sampled_from(BODIES)).map(
    lambda parts: parts[0].format(f"{parts[1]}{{{parts[2]}}}")
)


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    with contextlib.suppress(BrokenTemplate):
        work()
    return time.thread_time() - began


def functions(html: str) -> list[Callable[[], object]]:
    return [
        lambda: mail_markup.measure(html),
        lambda: mail_html.prepare(html, locale="en"),
        lambda: mail_text.text_of(html),
        lambda: wording.compile_text(TextSource(channel=Channel.EMAIL, locale="en", html=html)),
    ]


@settings(max_examples=25, deadline=None)
@given(
    sheet=st.lists(sheets, min_size=1, max_size=3).map("".join),
    markup=st.lists(st.sampled_from(MARKUP), min_size=1, max_size=4).map("".join),
    share=st.sampled_from([0.02, 0.5, 0.9]),
)
def test_twice_the_source_is_at_most_three_times_the_work(
    sheet: str, markup: str, share: float
) -> None:
    def source(size: int) -> str:
        styles = sheet * (1 + int(size * share) // len(sheet))
        return f"<style>{styles}</style>" + markup * (1 + int(size * (1 - share)) // len(markup))

    for single, double in zip(functions(source(12_000)), functions(source(24_000)), strict=True):
        assert cpu_seconds(double) <= GROWTH * cpu_seconds(single) + SLACK


@pytest.mark.parametrize(
    "selector",
    [
        *("p.x~p", "*.x ~ p", "p:not(.x0~p):not(.x1~p)", "p:not(:not(i.x~p))", "p.x+p~p"),
        *("[class~=y]~p", "p:not(:not(p.x~p)~p)", "p/**/.x~p", "{0},p.x~p", "a:not([b='{'])~p"),
        *("a[b='}'],p.x~p", "a:not({{,p.x~p,}})", "@ p,p.x~p", "a)({{,p.x~p,}})(", ";p.x~p"),
        *("[){{,p.x~p,}}]", "url(/*),p.x~p,*/a)", r"\75rl('),p.x~p,')", "/{% if x %}*,p.x~p,*/p"),
        *(r"a[b='\\'],p.x~p,a[b='\\']", r'a[b="\22"],p.x~p,a[b="\22"]', r"a\9,p.x~p"),
        *(r"a[b='\''],p.x~p,a[b='\'']", r"q{{a:'\''}p.x~p,[b='\'']", r"q{{a:b\9}p.x~p"),
        *("@media x{{q{{a:b}}p.x~p", "q{{a:b}} p.x~p", r"q{{a:'\'}p.x~p,[b='", "q{{a:b\\9\\}p.x~p"),
        *("q{{a:b}}</style><style>@x,p.x~p", "q,</style><style>@x,p.x~p"),
        *("p.x~</style><style>p", "\xa0@x,p.x~p", "\x1f@x,p.x~p", "q{{a:b</style><style>p.x~p"),
        *("</stylex>,p.x~p", "<!--@page{{}}-->,p.x~p", "xurl([),p.x~p,(]"),
    ],
)
def test_a_style_sheet_that_looks_at_all_siblings_stays_where_it_is(selector: str) -> None:
    sheet = f"<style>{selector.replace('{0}', 'p').replace('{{', '{')} {{a:b}}</style>"
    html = sheet + "<i class=x></i>" + "<p>x" * 24_000
    assert cpu_seconds(lambda: mail_html.prepare(html, locale="en")) < MOST_CPU_SECONDS
    with_end = sheet + "<i class=x></i>" + "<p>x</p>" * 3_000
    assert "{a:b}</style>" in mail_html.prepare(with_end, locale="en").replace(" {a", "{a")


@pytest.mark.parametrize(
    "html",
    [
        "<style>p{a:" + "b" * 50_000 + "}</style>" + "<p>x" * 30_000,
        "<style>p{a:url(" + "b" * 50_000 + ")}</style>" + "<p>x" * 30_000,
        "<style>p{a:'" + "b" * 50_000 + "'}</style>" + "<p>x" * 30_000,
        "<style>p{" + "".join(f"a{n}:b;" for n in range(15_000)) + "}</style><p style=c:d>x",
        "<style>" + "p," * 20_000 + "p{a:b}</style>" + "<p>x" * 20_000,
        "<style>" + "p," * 900 + "p{" + "a:b;" * 900 + "}</style>" + "<p>x" * 2_000,
        "<style>" + "b.x * div," * 500 + "b{a:b}</style><b class=x></b>" + "<div>" * 200 + "x",
        "<style>" + "p+p b," * 900 + "b{a:b}</style>"
        "<p></p>" + "<!-- -->" * 9_000 + "<p>" + "<b></b>" * 9_000,
        "<style>" + "p+p," * 900 + "b{a:b}</style>" + ("<p></p>" + "{#x#}" * 2_000) * 9,
        "<style>p[a*='" + "a" * 40_000 + "b' i]{a:b}</style><p a='" + "a" * 90_000 + "'>x",
        "<style>" + "p#z," * 900 + "b{a:b}</style><b id=z></b><p" + " a=b" * 30_000 + ">x",
        "<style>"
        + "p.z," * 900
        + "b{a:b}</style><b class=z></b><p class='"
        + "c1 " * 50_000
        + "'>",
        "<style></stylex>" + "*{--a:1}" * 6_000 + "</style>" + "<p>x" * 20_000,
    ],
)
def test_a_style_sheet_of_any_shape_holds_the_interpreter_for_a_moment(html: str) -> None:
    assert cpu_seconds(lambda: mail_html.prepare(html, locale="en")) < 2 * MOST_CPU_SECONDS


def attributes(count: int) -> str:
    return " ".join(f"a{number:x}" for number in range(count))


def in_tags(name: str, count: int, of_each: int) -> str:
    words = attributes(count * of_each).split(" ")
    return "".join(
        f"<{name} {' '.join(words[begin : begin + of_each])}></{name}>"
        for begin in range(0, len(words), of_each)
    )


@pytest.mark.parametrize(
    "html",
    [
        f"<body><p {attributes(30_000)}>x</p>",
        f"<body></p {attributes(30_000)}>x",
        "<body><p a={##}\"b='" + attributes(30_000) + '" c="\'">x</p>',
        "<body><p" + "".join(f" {{#{'x' * (n % 2)}#}}" for n in range(30_000)) + ">x</p>",
        in_tags("body", 60, 500),
        "<html lang=en></html>" + in_tags("html", 7_000, 2) + "<html></html>" * 7_000,
        f"<body {attributes(9_000)}>" + "<body></body>" * 5_000,
        "<body>" + f"<b {attributes(100)}>" * 240,
        "<body>" + "".join(f"<b x{n} {attributes(100)}>" for n in range(240)),
        f"<body>{'<b>' * 200}<b {attributes(200)}></b>" + f"<b {attributes(200)}>" * 20,
        f"<body><p><b title='{'x' * 20_000}'>x" + "<p>x" * 2_000,
        f"<body><p><b {attributes(3_000)}>x" + "<p>x" * 2_000,
    ],
)
def test_attributes_that_are_too_much_work_stay_where_they_are(html: str) -> None:
    assert mail_html.style_fault(html, locale="en").startswith("too much work for the attributes")
    assert html in mail_html.prepare(html, locale="en")


def test_the_attributes_of_a_rich_newsletter_are_little_work() -> None:
    link = f"<a href='https://shop.example/?{'x' * 800}' style='color:red'><b><i>x</i></b></a>"
    words = f"<img alt='{'word ' * 400}' class={mail_markup.STATEMENT * 12}\"y\">"
    markup = mail_markup.measure(f"<body>{newsletter(50)}{link * 150}{words * 20}")
    assert markup.attributes < mail_styles.MAX_WORK // 2


def test_the_inliner_gets_no_more_than_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    inliner = mail_sheets._inliner()

    class Watched:
        def inline(self, page: str) -> str:
            began = time.thread_time()
            try:
                return inliner.inline(page)
            finally:
                seen.append(time.thread_time() - began)

    monkeypatch.setattr(mail_sheets, "_inliner", Watched)
    for elements in (10, 300, 3_000, 45_000):
        for selector in ("p", "p.x", "p.x p", "p.x+p", "p:first-child", "p.x~p", "p:not(.x)"):
            for times in (1, 100):
                sheet = ",".join([selector] * times)
                html = f"<style>{sheet}{{a:b}}</style><i class=x></i>" + "<p>x" * elements
                mail_html.prepare(html, locale="en")
    assert len(seen) > 20
    assert max(seen) < MOST_CPU_SECONDS


def newsletter(rows: int) -> str:
    sheet = "u + .body .g{a:b} #outlook a{padding:0} body,table,td{margin:0} a:hover{color:red}"
    sheet += "".join(f".c{n} td, .c{n} > a{{margin:0 auto;width:{n}%}}" for n in range(40))
    sheet += "@media (max-width:600px){.sm\\:w{width:100% !important} .a ~ .b{c:d}}"
    row = (
        "<tr><td class='c1 c2' style='padding:0'><table class=c3><tr><td><a class=c4 href=x>y</a>"
        "</td><td><img src=x></td></tr></table>{% if x %}<p>z</p>{% endif %}</td></tr>"
    )
    return (
        f"<html><head><style>{sheet}</style></head><body class=body><table>"
        f"{row * rows}</table></body></html>"
    )


def test_a_rich_newsletter_is_inlined() -> None:
    html = mail_html.prepare(newsletter(50), locale="en")
    assert html.count('<a class="c4" href="x"') == 50
    assert 'style="margin: 0;padding: 0"' in html
    assert ".a ~ .b{c:d}" in html.partition("</style>")[0]


@pytest.mark.parametrize(
    "sheet",
    [
        *(r'q:before{content:"\201C"}', r"q:before{content:'\2022 '}", r"q{width:100px\9}"),
        *("q{a:b};", "q{a:b}; q{c:d} }", "q{a:b} -->"),
        *(r"q{width:100px\9 !important;c:d}", r"q{font-family:'a\'b'}", r"q{content:'\\'}"),
        *(
            "q{a:b}}",
            "q{a:b} }\n/* x */",
            "q{a:b",
            "q{a:b} @media x{p{c:d}",
            "q{a:b} @media x{p{c:d",
        ),
    ],
)
def test_a_style_sheet_with_escapes_or_one_brace_too_many_or_few_is_inlined(sheet: str) -> None:
    fragment = f"<style>p{{color:red}}{sheet}</style><p>x</p>"
    for html in (fragment, f"<body>{fragment}</body>"):
        assert not mail_html.style_fault(html, locale="en")
        assert "color: red" in mail_html.prepare(html, locale="en").partition("<p style=")[2]


@pytest.mark.parametrize(
    "sheet",
    [
        *("q{a:b}}}", "q{a:b}} p{c:d}", "q{a:b)", "q{a:(b", "q[a", r"q{a:b\9c}", r"\9{a:b}"),
        *(r"q{a:'b\'}", "q{a:'b\\\n'}", r"q{a:'\x'}", r"q{\9:b}", r"q{a:'\{{ x }}'}"),
    ],
)
def test_a_style_sheet_that_parsers_may_disagree_about_stays_where_it_is(sheet: str) -> None:
    html = f"<body><style>p{{color:red}}{sheet}</style><p>x</p></body>"
    assert "is not certain" in mail_html.style_fault(html, locale="en")


@pytest.mark.parametrize("selector", ["td:not(.a,.b)", ":is( h1 , h2,h3 ) a", "p:where(.a, [b])"])
def test_a_list_of_simple_selectors_is_little_work(selector: str) -> None:
    html = f"<style>{selector}{{a:b}}</style>" + "<td>x</td>" * 1_100
    assert not mail_html.style_fault(html, locale="en")


@pytest.mark.parametrize(
    "selector", ["p:not(.a,.b~p)", "p:is(.a,.b p)", "p:has(.a,.b)", "p:not(:is(a,b)~p)"]
)
def test_a_list_of_other_selectors_is_priced_by_all_earlier_elements(selector: str) -> None:
    html = f"<style>{selector}{{a:b}}</style>" + "<p>x</p>" * 4_000
    assert selector.partition(",")[0] in mail_html.style_fault(html, locale="en")


def test_the_fault_names_the_selector_at_which_the_limit_is_reached() -> None:
    html = "<style>p{a:b} .x\n ~ p{a:b}</style>" + "<br>" * 3_000
    assert mail_html.style_fault(html, locale="en") == (
        "too much work for 3024 elements; the limit is reached at the selector .x ~ p"
    )
    uncertain = mail_html.style_fault("<style>p{a:'}</style><p>x", locale="en")
    assert uncertain.startswith("the end of a quote, an escape or a bracket")


@pytest.mark.parametrize("style", ["{{ colour }}", "{}", "a b", "a:b;@x y{}"])
def test_a_style_attribute_that_is_no_list_is_kept(style: str) -> None:
    assert f'<p style="{style}">' in mail_html.prepare(f'<p style="{style}">x</p>', locale="en")


@pytest.mark.parametrize("number", ["9", "1" * 5_000])
def test_an_author_s_own_mark_changes_nothing(number: str) -> None:
    html = f"<p>{{{{ a }}}} \ue000{number}\ue001</p>"
    assert html in mail_html.prepare(html, locale="en")
    assert "{{ a }}" in mail_text.text_of(html)


def test_the_limit_is_a_tenth_of_a_second() -> None:
    assert mail_styles.MAX_WORK == 100_000_000
