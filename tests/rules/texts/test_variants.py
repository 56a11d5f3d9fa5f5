"""A variant replaces what it names, and gets the rest from its base text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from notifications.core.rules.in_app import Action, InAppPart
from notifications.core.rules.templates import contents, publishing
from notifications.core.rules.texts import variants
from notifications.core.rules.texts.vendor_template import VendorTemplate
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

MAIL = contents.normalize(
    TextSource(channel=Channel.EMAIL, locale="en", title="Sale", blocks="# Hello {{ name }}")
)
SMS = TextSource(channel=Channel.SMS, locale="en", body="Sale", max_segments=3, transliterate=True)
YES = Action("yes", "Yes", "/yes")
IN_APP = TextSource(
    channel=Channel.IN_APP,
    locale="en",
    title="Sale",
    body="Today",
    in_app=InAppPart("/sale", "/sale.png", (YES,)),
)
CHAT = TextSource(
    channel=Channel.CHAT,
    locale="en",
    body="Sale",
    vendor_template=VendorTemplate((("whatsapp", "sale/en"),)),
)


def of(base: TextSource, **fields: object) -> TextSource:
    empty = TextSource(channel=base.channel, locale=base.locale, variant="b")
    made = replace(empty, **fields)  # type: ignore[arg-type]  # fields of several types
    return contents.normalize(made)


@pytest.mark.parametrize(
    ("base", "own", "changed"),
    [
        (MAIL, {"title": "Last day"}, {"title"}),
        (MAIL, {"body": "plain"}, {"body", "html", "blocks"}),
        (MAIL, {"html": "<p>x"}, {"body", "html", "blocks"}),
        (MAIL, {"blocks": "# Other"}, {"body", "html", "blocks"}),
        (SMS, {"body": "Last day"}, {"body"}),
        (IN_APP, {"in_app": InAppPart(image_url="/b.png")}, {"in_app"}),
        (CHAT, {"body": "Last day"}, {"body"}),
        (CHAT, {"vendor_template": VendorTemplate((("twilio", "HX1"),))}, {"vendor_template"}),
    ],
)
def test_only_what_the_variant_gives_is_replaced(
    base: TextSource, own: dict[str, object], changed: set[str]
) -> None:
    variant = of(base, **own)
    [kept, made] = variants.completed([base, variant])
    assert (kept, made.variant) == (base, "b")
    names = set(vars(TextSource)["__slots__"]) - {"variant"}
    assert {name for name in names if getattr(made, name) != getattr(base, name)} == changed
    assert variants.texts_of([variant, base], "b") == [made]
    assert variants.texts_of([variant, base], "") == [base]
    assert variants.texts_of([variant, base], "c") == [base]


def test_each_part_of_an_in_app_text_is_replaced_by_itself() -> None:
    [_, made] = variants.completed([IN_APP, of(IN_APP, in_app=InAppPart(image_url="/b.png"))])
    assert made.in_app == InAppPart("/sale", "/b.png", (YES,))


def test_a_locale_without_the_variant_has_the_base_text() -> None:
    german = replace(SMS, locale="de", body="Angebot")
    variant = of(SMS, body="Last day")
    found = variants.texts_of([german, SMS, variant], "b")
    assert {text.locale: (text.body, text.variant) for text in found} == {
        "de": ("Angebot", ""),
        "en": ("Last day", "b"),
    }


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ([SMS, of(SMS)], "sms en, variant b replaces nothing"),
        ([SMS, of(SMS, title="An SMS has no title")], "sms en, variant b replaces nothing"),
        ([of(SMS, body="x")], "sms en, variant b needs a base text: add sms en without"),
        ([SMS, of(SMS, body="x"), of(SMS, body="y")], "sms en, variant b is there twice"),
        ([SMS, SMS], "sms en is there twice"),
        ([SMS, replace(of(SMS, body="x"), variant="B")], "the name of a variant must be up to 32"),
        ([SMS, of(SMS, body="{{ x")], "sms en, variant b, text, line 1"),
        ([SMS, of(SMS, body="word " * 200)], "sms en, variant b: with the examples it takes"),
        (
            [SMS, *(replace(of(SMS, body="x"), variant=f"v{number}") for number in range(11))],
            "a version has at most 10 names of variants, and not 11",
        ),
    ],
)
def test_a_variant_that_cannot_be_sent_is_not_published(texts: list[TextSource], told: str) -> None:
    [fault] = publishing.objections(texts, declared=())
    assert told in fault
    assert not publishing.objections([SMS, of(SMS, body="x")], declared=())
