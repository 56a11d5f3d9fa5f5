"""A text goes out as units and comes back in the other language, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from notifications.core.rules.in_app import Action, InAppPart
from notifications.core.rules.language import templating
from notifications.core.rules.templates import contents
from notifications.core.rules.texts import mail_blocks
from notifications.core.rules.texts.wording import TextSource
from notifications.features.template_studio.rules import block_units, unit_csv, units, xliff
from notifications.features.template_studio.rules.units import (
    Placeholder,
    TranslatedFile,
    Translation,
    Unit,
    WrongTranslation,
)
from providers.contract import Channel

BLOCKS = """::: preheader Due on {{ due|date }}
# Hello {{ name|default("friend") }}

Your order is
on its way.
- one
1. two
   in two lines
---
![A red chair](https://shop.example/chair.png "120")

::: columns
Left
::: column
**Right** [shop](https://shop.example)
::: end
::: table item in items
| Article | Price |
| --- | --: |
| {{ item.name }} \\| x | {{ item.price|money }} |
::: end
::: if total > 100
Free.
::: end
::: button [Pay now]({{ url }})"""
MAIL = contents.normalize(
    TextSource(channel=Channel.EMAIL, locale="en", title="Order {{ number }}", blocks=BLOCKS)
)
FORMATS = pytest.mark.parametrize("file_format", [xliff, unit_csv])
PIECES = st.one_of(
    st.sampled_from([
        *("Hello ", "{{ name }}", "{{ due|date }}", "{% if due %}late{% endif %}", "{# note #}"),
        *(
            "{{ n|plural(one='# day', other=\"# days\") }}",
            "\n",
            "\n\n",
            "=1+1",
            "; =1",
            "'",
            "&<>",
        ),
        *("# ", "- ", "1. ", "---", " | ", "| --- | --- |\n", "::: if due\n", "\n::: end\n", "\\"),
        *(
            "::: button [Pay]({{ url }})\n",
            "![x](https://a.example)",
            "\x0b",
            "\u2028",
            "\t",
            "{",
            "'",
            "&<>",
        ),
    ]),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0\ue000\ue001"), max_size=8
    ),
)
"""Without the characters that a mail in blocks leaves out."""
SOURCES = st.lists(PIECES, max_size=12).map("".join)


def told(texts: Sequence[TextSource], target: str = "de") -> list[Unit]:
    return units.units_of(texts, source="en", target=target)


def translated(
    texts: Sequence[TextSource],
    translate: Callable[[str], str],
    *,
    file_format: ModuleType = xliff,
) -> list[TextSource]:
    """Return the German texts of a file in which each unit has a translation."""
    found = [replace(unit, target=translate(unit.source)) for unit in told(texts)]
    out = Translation(template_id="order", source="en", target="de", units=found)
    [file] = file_format.read(file_format.write([out]))
    return [text for text in units.translate(texts, file) if text.locale == "de"]


def test_a_mail_in_blocks_is_told_text_by_text() -> None:
    assert [unit.source for unit in told([MAIL])] == [
        "Order {{ number }}",
        "Due on {{ due|date }}",
        'Hello {{ name|default("friend") }}',
        "Your order is\non its way.",
        "one",
        "two\n   in two lines",
        "A red chair",
        "Left",
        "**Right** [shop](https://shop.example)",
        "Article",
        "Price",
        "{{ item.name }} \\| x",
        "Free.",
        "Pay now",
    ]


@FORMATS
def test_each_text_is_translated_in_its_place(file_format: ModuleType) -> None:
    [german] = translated([MAIL], lambda text: f"Ä {text} ß", file_format=file_format)
    assert german.title == "Ä Order {{ number }} ß"
    assert "::: preheader Ä Due on {{ due|date }} ß\n" in german.blocks
    assert '# Ä Hello {{ name|default("friend") }} ß\n' in german.blocks
    assert "- Ä one ß\n1. Ä two\n   in two lines ß\n---" in german.blocks
    assert "| Ä {{ item.name }} \\| x ß | {{ item.price|money }} |" in german.blocks
    assert german.blocks.endswith("::: button [Ä Pay now ß]({{ url }})")
    assert "Ä Pay now ß</a>" in german.html


@given(SOURCES)
def test_the_parts_of_blocks_are_the_source(source: str) -> None:
    text = contents.normalize(TextSource(channel=Channel.EMAIL, locale="en", blocks=source)).blocks
    assume("{#" not in text)
    parts = block_units.split(text)
    assert block_units.join(parts) == text
    assert block_units.has_blocks_of(text, parts)


@FORMATS
@given(title=SOURCES, body=SOURCES, label=SOURCES, blocks=SOURCES)
def test_a_file_brings_back_the_texts_that_it_took_out(
    file_format: ModuleType, title: str, body: str, label: str, blocks: str
) -> None:
    part = InAppPart("/x", "", (Action("blocks", f"Yes {label}"),))
    mail = TextSource(channel=Channel.EMAIL, locale="en", title=title, blocks=blocks)
    texts = [contents.words(Channel.IN_APP, "en", title=title, body=body, part=part)]
    assume(not any(map(templating.check, (title, body, label))))
    if blocks and "{#" not in blocks and not mail_blocks.faults(blocks):
        texts.append(contents.normalize(mail))
    assume(told(texts))
    german = translated(texts, str, file_format=file_format)
    own = {text.channel: text for text in texts}
    for text in german:
        assert replace(text, locale="en", html="") == replace(own[text.channel], html="")


def test_a_second_export_has_the_translations_for_review() -> None:
    german = translated([MAIL], lambda text: f"Ä {text}")
    again = told([MAIL, *german])
    assert [unit.target for unit in again] == [f"Ä {unit.source}" for unit in again]
    changed = replace(MAIL, blocks=f"{BLOCKS}\n\nMore", html="")
    targets = {unit.name: unit.target for unit in told([changed, *german])}
    assert targets.pop("email.title") == "Ä Order {{ number }}"
    assert set(targets.values()) == {""}


def test_links_images_and_settings_are_those_of_the_text_that_is_there() -> None:
    english = contents.words(
        Channel.IN_APP, "en", title="Hi", body="Yes?",
        part=InAppPart("/en", "", (Action("yes", "Yes", "/en/yes"),)),
    )  # fmt: skip
    [new] = translated([english], lambda text: f"Ä {text}")
    assert new.in_app == InAppPart("/en", "", (Action("yes", "Ä Yes", "/en/yes"),))
    own = replace(new, in_app=InAppPart("/de", "", (Action("yes", "Ja", "/de/ja"),)))
    [kept] = translated([english, own], lambda text: f"Ö {text}")
    assert kept.in_app == InAppPart("/de", "", (Action("yes", "Ö Yes", "/de/ja"),))
    sms = replace(contents.words(Channel.SMS, "en", body="Hi"), max_segments=2)
    assert translated([sms], str)[0].max_segments == 2


def test_a_text_without_words_is_copied_and_a_channel_without_words_has_no_units() -> None:
    push = contents.words(Channel.PUSH, "en", title="News", body="{{ text }}")
    [german] = translated([push, contents.words(Channel.SMS, "en", body="{{ text }}")], str.lower)
    assert (german.channel, german.title, german.body) == (Channel.PUSH, "news", "{{ text }}")


def imported(texts: Sequence[TextSource], **targets: str) -> list[TextSource]:
    ids = {unit.name: unit.id for unit in told(texts)}
    by_id = {ids.get(name, name): (text,) for name, text in targets.items()}
    file = TranslatedFile(template_id="order", source="en", target="de", targets=by_id)
    return units.translate(texts, file)


PUSH = contents.words(Channel.PUSH, "en", title="Hi {{ name }}", body="It is due {{ due|date }}")


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("Fällig", "the variable due is missing"),
        ("{{ due|date }} {{ dew }}", "the source has no variable dew"),
        ("{{ due|date }", "line 1:"),
        ("{{ due|datum }}", "unknown filter datum"),
        ("{{ due.__class__ }}", "must not begin with an underscore"),
        ("{{ due }}\0", "a character cannot be stored"),
        ("{{ due }}\udcff", "a character cannot be stored"),
    ],
)
def test_a_translation_with_other_variables_is_refused_by_its_unit(body: str, fault: str) -> None:
    with pytest.raises(WrongTranslation) as error:
        imported([PUSH], **{"push.title": "Hallo {{ name }}", "push.body": body})
    [told_fault] = error.value.faults
    assert told_fault.startswith("push.body#")
    assert fault in told_fault


@pytest.mark.parametrize(
    "body",
    [
        "Rechnung {{ x }}",
        "{% if not due %}Rechnung {{ x }}{% endif %}",
        "Rechnung {{ x }} {% if due %}fällig",
        "{% if due %}{% endif %}{% if due %}Rechnung {{ x }}{% endif %}",
    ],
)
def test_a_translation_keeps_conditions(body: str) -> None:
    text = "{% if due %}Your bill {{ x }} is due{% endif %}"
    source = contents.words(Channel.PUSH, "en", title="", body=text)
    with pytest.raises(WrongTranslation) as error:
        imported([source], **{"push.body": body})
    assert error.value.faults[0].startswith("push.body#")


def test_an_unknown_a_changed_and_a_missing_unit_are_told() -> None:
    given_title = {"push.title": "Hallo {{ name }}"}
    with pytest.raises(WrongTranslation, match=r"push\.body#\w{8}: the translation is missing"):
        imported([PUSH], **given_title)
    with pytest.raises(WrongTranslation, match=r"push\.text#1: order has no such text in en"):
        imported([PUSH], **{"push.text#1": "x"})
    with pytest.raises(WrongTranslation, match=r"push\.body#12345678: the source text has changed"):
        imported([PUSH], **given_title, **{"push.body#12345678": "x"})
    with pytest.raises(WrongTranslation, match="order has no text in en"):
        imported([replace(PUSH, locale="fr")], x="x")


@pytest.mark.parametrize("text", ["# x", "a\n\nb", "- x", "::: end", "1. x", "::: button x", "---"])
def test_a_translation_cannot_change_the_blocks_of_a_mail(text: str) -> None:
    mail = contents.normalize(
        TextSource(channel=Channel.EMAIL, locale="en", title="Hi", blocks="# Head\n\nText\n\nEnd")
    )
    targets = {"email.title": "Hi", "email.blocks.1": "Kopf", "email.blocks.3": "Ende"}
    with pytest.raises(WrongTranslation, match=r"email\.blocks\.2: the translation changes"):
        imported([mail], **targets, **{"email.blocks.2": text})
    [german] = [
        text
        for text in imported([mail], **targets, **{"email.blocks.2": "Text \\# | \\- x"})
        if text.locale == "de"
    ]
    assert german.blocks == "# Kopf\n\nText \\# | \\- x\n\nEnde"


@pytest.mark.parametrize("text", ["# x", "- x", "+", "1. x", "a\n\n- b", "***"])
def test_an_item_of_a_list_stays_an_item(text: str) -> None:
    mail = contents.normalize(
        TextSource(channel=Channel.EMAIL, locale="en", title="Hi", blocks="- one\n- two\n\nEnd")
    )
    targets = {unit.name: unit.source for unit in told([mail])}
    with pytest.raises(
        WrongTranslation, match=r"email\.blocks\.2: the translation changes"
    ) as error:
        imported([mail], **targets | {"email.blocks.2": text})
    assert len(error.value.faults) == 1


def test_a_cell_cannot_become_two() -> None:
    table = "| Head | Two |\n| --- | --- |\n| a | b |"
    mail = contents.normalize(
        TextSource(channel=Channel.EMAIL, locale="en", title="Hi", blocks=table)
    )
    targets = {unit.name: unit.source for unit in told([mail])}
    with pytest.raises(WrongTranslation, match=r"email\.blocks\.3: the translation changes"):
        imported([mail], **targets | {"email.blocks.3": "a | c"})


def test_a_placeholder_that_is_repeated_without_end_is_refused() -> None:
    long = contents.words(Channel.PUSH, "en", title="Hi", body="x{# " + "y" * 1_000 + " #}")
    [_, body] = told([long])
    file = TranslatedFile(
        template_id="order",
        source="en",
        target="de",
        targets={body.id: [Placeholder("1")] * 100_000},
    )
    with pytest.raises(WrongTranslation, match="longer than 200000 characters"):
        units.translate([long], file)


def test_html_stays_whole_and_is_checked_as_html() -> None:
    mail = contents.words(
        Channel.EMAIL,
        "en",
        title="Hi",
        html="<p>Hello {{ name }}</p>{% if due %}<b>x</b>{% endif %}",
    )
    [german] = translated([mail], lambda text: text.replace("Hello", "Hallo"))
    assert german.html == "<p>Hallo {{ name }}</p>{% if due %}<b>x</b>{% endif %}"


def test_a_variant_is_translated_beside_its_base_text() -> None:
    base = TextSource(channel=Channel.EMAIL, locale="en", title="Sale", body="Today")
    variant = TextSource(channel=Channel.EMAIL, locale="en", variant="b", title="Last day")
    assert [(unit.name, unit.channel, unit.note) for unit in told([base, variant])] == [
        ("email.title", "email", "email, subject"),
        ("email.body", "email", "email, text"),
        ("email@b.title", "email@b", "email, variant b, subject"),
    ]
    made = translated([base, variant], str.upper)
    assert [(text.variant, text.title, text.body) for text in made] == [
        ("", "SALE", "TODAY"),
        ("b", "LAST DAY", ""),
    ]
    [unit] = told([variant])
    file = TranslatedFile(
        template_id="order", source="en", target="de", targets={unit.id: ("Letzter Tag",)}
    )
    with pytest.raises(WrongTranslation, match="email de, variant b needs a base text"):
        units.translate([base, variant], file)
    kept = units.translate([*made, base, variant], replace(file, targets={}))
    assert made == [text for text in kept if text.locale == "de"]


def test_a_long_list_of_faults_is_cut() -> None:
    with pytest.raises(WrongTranslation, match="5 more faults") as error:
        imported([PUSH], **{f"push.{number}#1": "x" for number in range(25)})
    assert len(error.value.faults) == 25
