"""A mail in blocks: each block becomes the HTML of a mail, or a sentence with its line."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from notifications.core.rules.brand import Brand, BrandLink
from notifications.core.rules.language.syntax import BrokenTemplate
from notifications.core.rules.language.templating import Reader, RenderError
from notifications.core.rules.texts import mail_blocks, wording
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

HOSTILE = "<script>alert(1)</script>\" onload='x' {{ name }} &amp;"
EVERY_BLOCK = """\
::: preheader Invoice {{ number }} is due

# Hello {{ name }}

Your invoice **{{ number }}** is *ready*: [see it]({{ url }}).

![A chair](https://img.example/chair.png)

::: button [Pay now]({{ url }})

::: table item in items
| Article | Price |
| --- | --: |
| {{ item.name }} | {{ item.price }} |
::: end

---

::: columns
Left
::: column
- one
- two
::: end

::: if total > 100
Free shipping.
::: else
Shipping costs 5 EUR.
::: end
"""
VARIABLES = {
    "name": "Ada",
    "number": "R-17",
    "url": "https://shop.example/pay?a=1&b=2",
    "items": [{"name": "Chair", "price": "9.90"}, {"name": "Desk", "price": "90.00"}],
    "total": 99.90,
}


def text(blocks: str, *, locale: str = "en") -> TextSource:
    return wording.with_compiled_blocks(
        TextSource(channel=Channel.EMAIL, locale=locale, title="Hi", blocks=blocks)
    )


def html(blocks: str, /, **variables: object) -> str:
    return wording.compile_text(text(blocks)).render(variables, Reader("en")).html


def content(blocks: str, /, **variables: object) -> str:
    """Return what the blocks add to an empty mail, without styles."""
    page = html(blocks, **variables)
    inner = page[page.index('<td class="sheet"') :]
    inner = inner[inner.index(">") + 1 : inner.rindex("</td></tr></table>\n<!--[if mso]>")]
    return re.sub(r' style="[^"]*"', "", inner).strip()


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ("# A\n## B\n#### C", "<h1>A</h1>\n<h2>B</h2>\n<h3>C</h3>"),
        ("One\ntwo\n\nthree", "<p>One<br>\ntwo</p>\n<p>three</p>"),
        ("**bold** *italic*", "<p><strong>bold</strong> <em>italic</em></p>"),
        ("[a](https://x.example)", '<p><a class="link" href="https://x.example">a</a></p>'),
        ("[a](mailto:a@x.example)", '<p><a class="link" href="mailto:a@x.example">a</a></p>'),
        ("[a](tel:+4930)", '<p><a class="link" href="tel:+4930">a</a></p>'),
        ("- a\n- b", "<ul><li>a</li>\n<li>b</li>\n</ul>"),
        ("3. a", '<ol start="3"><li>a</li>\n</ol>'),
        (
            "![a *b*](https://x.example/p)",
            '<p><img src="https://x.example/p" alt="a b" width="552"></p>',
        ),
        (
            '![a](https://x.example/p "120")',
            '<p><img src="https://x.example/p" alt="a" width="120"></p>',
        ),
        ("a ![b](https://x.example/p)", '<p>a <img src="https://x.example/p" alt="b"></p>'),
        ("<b>a</b> &amp; {{ '<' }}", "<p>&lt;b&gt;a&lt;/b&gt; &amp;amp; &lt;</p>"),
        (r"{\{ name }} {\% if %}", "<p>{{ name }} {% if %}</p>"),
        ("a\n::: if yes\nb\n::: end", "<p>a</p>\n<p>b</p>"),
        ("a\n::: if not yes\nb\n::: else\nc\n::: end", "<p>a</p>\n<p>c</p>"),
    ],
)
def test_each_block_becomes_its_html(blocks: str, expected: str) -> None:
    assert content(blocks, yes=True) == expected


def test_a_table_repeats_its_row_for_each_item() -> None:
    blocks = "::: table item in items\n| A | B |\n|---|--:|\n| {{ item.a }} | x |\n::: end"
    found = content(blocks, items=[{"a": "1|1"}, {"a": "<2>"}])
    cells = re.findall(r"<(t[hd]) align=\"(\w+)\">(.*?)</", found)
    assert cells == [
        *(("th", "left", "A"), ("th", "right", "B")),
        *(("td", "left", "1|1"), ("td", "right", "x")),
        *(("td", "left", "&lt;2&gt;"), ("td", "right", "x")),
    ]
    assert "<td align" not in content(blocks, items=[])


def test_columns_share_the_width_of_the_mail() -> None:
    found = content("::: columns\na\n::: column\n![b](https://x.example/p)\n::: end")
    assert re.findall(r'class="column" width="(\d+)"', found) == ["268", "268"]
    assert 'alt="b" width="268"' in found


def test_a_button_has_the_colours_of_the_brand() -> None:
    source = text("::: button [Pay **now**]({{ url }})")
    brand = Brand(color="#123456")
    page = wording.compile_text(source).render(VARIABLES, Reader("en"), brand=brand).html
    assert 'href="https://shop.example/pay?a=1&amp;b=2"' in page
    assert "background-color: #123456" in page
    assert " color: #ffffff; font-weight: bold" in page
    assert "Pay <strong>now</strong></a>" in page


def test_the_brand_makes_the_header_and_the_footer() -> None:
    brand = Brand(
        name="A & B",
        logo_url="https://x.example/logo.png",
        footer="A & B Ltd",
        postal_address="Road 1",
        website_url="https://x.example",
        links=(BrandLink("Help", "https://x.example/help"),),
    )
    rendered = wording.compile_text(text("Hi")).render({}, Reader("en"), brand=brand)
    assert '<img src="https://x.example/logo.png" alt="A &amp; B"' in rendered.html
    assert '">A &amp; B Ltd</span><br>' in rendered.html
    words = " ".join(rendered.body.split())
    assert words == "Hi A & B Ltd Road 1 A & B (https://x.example) Help (https://x.example/help)"
    assert 'quiet"' not in html("Hi")


def test_a_producer_cannot_send_the_brand() -> None:
    assert html("Hi", brand="mine") == html("Hi")
    assert wording.mentions(text("Hi {{ name }}")) == {"name"}
    assert wording.required_variables(text("Hi {{ name }}")) == {"name"}


def test_a_mail_of_every_block_has_a_text_part() -> None:
    rendered = wording.compile_text(text(EVERY_BLOCK)).render(VARIABLES, Reader("en"))
    words = " ".join(rendered.body.split())
    assert words == (
        "Hello Ada Your invoice R-17 is ready: see it (https://shop.example/pay?a=1&b=2)."
        " A chair Pay now (https://shop.example/pay?a=1&b=2) Article Price Chair 9.90"
        " Desk 90.00 Left - one - two Shipping costs 5 EUR."
    )
    assert '<div style="display: none">Invoice R-17 is due</div>' in rendered.html


def test_a_text_from_right_to_left_begins_at_the_right() -> None:
    page = wording.compile_text(text("|a|\n|-|\n|b|", locale="ar")).render({}, Reader("ar")).html
    assert '<html lang="ar" dir="rtl">' in page
    assert '<th align="right"' in page
    assert 'align="left"' not in page


@pytest.mark.parametrize(
    ("blocks", "line", "detail"),
    [
        ("", 1, "the mail has no text"),
        ("::: preheader only", 1, "the mail has no text"),
        (
            "a\n::: buton [a](https://x)",
            2,
            "there is no block 'buton'; there are preheader, button",
        ),
        ("a\n::: button Pay", 2, "button: write one link"),
        ("::: button [a](https://x) more", 1, "button: write one link"),
        ("::: button [](https://x)", 1, "button: the label is missing"),
        ("\n[a](javascript:alert)", 2, "link: the address begins with https://"),
        ("[a](/path)", 1, "link: the address begins with https://"),
        ('[a](https://{{ x }} "t")\n\n- x\n- [a](data:x)', 4, "link: the address"),
        ("![a](mailto:a)", 1, "image: the address begins with https://, http://, cid:"),
        ("![a](cid:a.b)", 1, "image: the address begins with https://, http://, cid:"),
        ('![a](https://x "wide")', 1, "image: the width is a number up to 552"),
        ('![a](https://x "00019999")', 1, "image: the width is a number up to 552"),
        (f'![a](https://x "0001{"9" * 5_000}")', 1, "image: the width is a number up to 552"),
        ("::: table brand in b\n|a|\n|-|\n::: end", 1, "table: brand is a name of the service"),
        ("::: columns\na\n::: end", 1, "columns: one column is none"),
        (
            "::: columns\na\n::: column\n::: columns\n",
            4,
            "columns: there are no columns in columns",
        ),
        ("::: columns\n" + "a\n::: column\n" * 4, 9, "column: there are at most 4 columns"),
        ("a\n::: if x\nb", 2, "if: the block has no ::: end"),
        ("::: if\nb\n::: end", 1, "if: the condition is missing"),
        ("::: if {{ x }}\nb\n::: end", 1, "if: write the condition without braces"),
        ("::: if x y\nb\n::: end", 1, "if: "),
        ("::: if x.__class__\nb\n::: end", 1, "if: "),
        ("::: end", 1, "end: no block is open that it belongs to"),
        ("::: if x\n::: else\n::: else\n::: end", 3, "else: no block is open that it belongs to"),
        ("::: column", 1, "column: no block is open that it belongs to"),
        ("::: if x\na\n::: end if", 3, "end: nothing follows the word"),
        ("::: table items\n::: end", 1, "table: write the repetition as ::: table item in items"),
        ("::: table a in b\ntext\n::: end", 1, "table: the block holds one Markdown table"),
        ("::: table a in b\n|a|\n|-|\n::: end", 1, "table: the row to repeat is missing"),
        ("::: table a in b\n::: button [a](https://x)\n::: end", 2, "table: the block holds one"),
        ("::: table a in b\n|a|\n|-|\n|a|\n\nb\n::: end", 1, "table: the block holds one"),
        ("::: if a\n" * 5, 5, "if: more than 4 blocks in each other"),
        ("::: if a\n::: preheader b\n::: end", 2, "preheader: a mail has one"),
        ("::: preheader a\n::: preheader b", 2, "preheader: a mail has one"),
        ("::: preheader", 1, "preheader: the text is missing"),
        ("a\n\n{% if x %}", 3, "write a condition or a repetition as a block"),
        ("{% raw %}{{ x }}{% endraw %}", 1, "raw is not available in blocks"),
        ("a\n{{ x | nothing }}", 2, "unknown filter nothing"),
        ("a\n{{ x\n}}", 2, "a variable stands on one line"),
        ("a\n{{ x", 2, "a {{, {% or {# has no end"),
        ("a\n\0", 2, "a character cannot be written in a message"),
        ("|" * 14, 1, "table: there are at most 12 columns"),
        ("\n".join("  " * level + "- a" for level in range(9)), 6, "list: nested too deeply"),
        ("a" * 20_001, 1, "longer than 20000 characters"),
        ("a\n" * 1_000, 1_001, "more than 1000 lines"),
        ("[" * 501, 1, "more than 500 links and images"),
        ("::: button [a](https://x)\n" * 301, 301, "more than 300 directives"),
        ("|a" * 12 + "\n" + "|-" * 12 + "\na" * 990, 1, "the whole mail: longer than 200000"),
        ("{{a+a+a}}" * 2_200, 1, "the whole mail: more than 5000 names"),
    ],
)
def test_a_broken_source_is_refused_with_its_line(blocks: str, line: int, detail: str) -> None:
    found = mail_blocks.faults(blocks)
    assert found
    assert (found[0].line, found[0].detail[: len(detail)]) == (line, detail)
    with pytest.raises(BrokenTemplate):
        mail_blocks.compile_blocks(blocks, locale="en")


def test_a_loop_of_a_million_rows_is_refused_while_it_is_rendered() -> None:
    blocks = "::: table item in items\n|a|\n|-|\n|{{ item }}|\n::: end"
    with pytest.raises(RenderError, match="run too long"):
        html(blocks, items=["a"] * 1_000_000)


PIECES = st.sampled_from([
    *("::: if a\n", "::: else\n", "::: end\n", "::: columns\n", "::: column\n", "\n", "\n\n", "a"),
    *("::: table b in c\n", "|a|b|\n", "|-|-|\n", "{{ a }}", "{{ b.c }}", "{{", "}}", "{%", "%}"),
    *(
        "{#",
        "#}",
        "**",
        "*",
        "_",
        "[",
        "](",
        ")",
        "https://x",
        "!",
        "- ",
        "1. ",
        "# ",
        "---\n",
        "\\",
    ),
    *("[a]({{ a }})", "![a]({{ b.c }})", "\ue0000\ue002", "]({{ a }}"),
    *("<b>", "&lt;", "&#xe000;0&#xe001;", "\ue0000\ue001", '"', "'", "::: button ", "<", ">", "|"),
    *(
        "::: preheader ",
        "    ",
        "\t",
        "`",
        "{",
        "}",
        "é",
        "\u202e",
        "[a](https://x)",
        "![a](https://x)",
    ),
])
SOURCES = st.lists(PIECES | st.text(max_size=4), max_size=30).map("".join)


@given(SOURCES)
@example("\r{{")  # a carriage return ends a line too
def test_any_source_compiles_or_is_refused_with_a_line(source: str) -> None:
    for fault in mail_blocks.faults(source):
        assert 1 <= fault.line <= len(re.split(r"\r\n?|\n", source))
        assert fault.detail
        return
    text_of_mail = wording.compile_text(text(source))
    try:
        found = text_of_mail.render(
            {"a": HOSTILE, "b": {"c": HOSTILE}, "c": [{"c": HOSTILE}]}, Reader("en")
        )
    except RenderError:
        return
    reader = _Elements()
    reader.feed(found.html)
    assert reader.elements <= ALLOWED, found.html


ALLOWED = frozenset(
    {"html", "head", "meta", "style", "body", "div", "table", "thead", "tbody", "tr", "th", "td"}
    | {"h1", "h2", "h3", "p", "br", "strong", "em", "a", "img", "ul", "ol", "li"}
)


class _Elements(HTMLParser):
    """The elements of a page, and no attribute that runs a script."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        addresses = [value for name, value in attrs if name in {"href", "src"} and value]
        assert all(each.lower().startswith(SCHEMES) for each in addresses), addresses


SCHEMES = ("https://", "http://", "mailto:", "tel:", "cid:")
