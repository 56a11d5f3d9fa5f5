"""The frame of a mail shows the brand, and a template reads the brand's parts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from notifications.core.rules import colors
from notifications.core.rules.brand import (
    COLOR,
    DARK_ROWS,
    DEFAULT,
    LIGHT_ROWS,
    Brand,
    BrandLink,
)
from notifications.core.rules.language import variables
from notifications.core.rules.language.templating import Reader
from notifications.core.rules.language.variables import MalformedDeclaration
from notifications.core.rules.templates import derived, previews, publishing
from notifications.core.rules.texts import brand_uses, wording
from notifications.core.rules.texts.wording import TextSource
from notifications.features import inbox
from providers.contract import Channel

SHOP = Brand(
    name="Shop <&> Co",
    logo_url="https://cdn.shop.example/logo.png",
    color="#b91c1c",
    font="georgia",
    footer="You have an account.",
    postal_address="Street 1\n10115 Berlin",
    website_url="https://shop.example",
    links=(BrandLink("Help", "https://shop.example/help"),),
)
READER = Reader("en")
KEYS = {
    *("name", "logo_url", "logo_alt", "color", "color_text", "font", "footer"),
    *("postal_address", "website_url", "links"),
}


def mail(html: str, *, body: str = "") -> TextSource:
    return TextSource(channel=Channel.EMAIL, locale="en", title="Hello", html=html, body=body)


def test_each_brand_has_each_part() -> None:
    assert set(DEFAULT.variables) == set(SHOP.variables) == KEYS == set(brand_uses.PARTS)


@pytest.mark.parametrize("color", [COLOR, "#b91c1c", "#8f7300", "#000000", "#767676", "#0f766e"])
def test_the_colour_can_be_read_on_the_rows_of_the_inbox(color: str) -> None:
    brand = Brand(color=color)
    assert colors.ratio(brand.color_on_rows, LIGHT_ROWS) >= colors.LEAST_RATIO
    assert colors.ratio(brand.color_on_dark, DARK_ROWS) >= colors.LEAST_RATIO
    assert colors.ratio(brand.color_on_rows, "#ffffff") >= colors.LEAST_RATIO
    assert colors.ratio(brand.color_on_dark, "#000000") >= colors.LEAST_RATIO


def test_the_rows_of_the_inbox_have_the_backgrounds_of_the_rule() -> None:
    style = Path(inbox.__path__[0], "static/notifications/inbox/style.css").read_text()
    assert set(re.findall(r"--tint: (#\w+)", style)) == {LIGHT_ROWS, DARK_ROWS}


def test_a_framed_mail_shows_the_brand_in_both_parts() -> None:
    rendered = wording.compile_text(mail("<p>Hi</p>")).render({}, READER, brand=SHOP)
    for shown in (
        'src="https://cdn.shop.example/logo.png" alt="Shop &lt;&amp;&gt; Co"',
        "border-bottom: 4px solid #b91c1c",
        "a { color: #b91c1c; }",
        "font-family: Georgia",
        'href="https://shop.example/help"',
        "Street 1\n10115 Berlin",
    ):
        assert shown in rendered.html
    assert rendered.body == (
        "Hi\n\nYou have an account.\n\nShop <&> Co (https://shop.example)\n\n"
        "Help (https://shop.example/help)\n\nStreet 1\n10115 Berlin"
    )


def test_a_mail_without_a_brand_has_no_part_of_one() -> None:
    rendered = wording.compile_text(mail("<p>Hi</p>")).render({}, READER)
    assert rendered.body == "Hi"
    assert 'class="brand"' not in rendered.html
    assert 'class="footer"' not in rendered.html
    assert "a { color: #1d4ed8; }" in rendered.html
    assert "<style" in rendered.html
    assert '<p style="' in rendered.html


def test_a_name_stands_in_place_of_a_logo() -> None:
    rendered = wording.compile_text(mail("<p>Hi</p>")).render({}, READER, brand=Brand(name="Shop"))
    assert ">Shop</div>" in rendered.html
    assert "<img" not in rendered.html


def test_a_text_of_the_author_and_a_whole_document_stay_as_they_are() -> None:
    own = wording.compile_text(mail("<p>Hi</p>", body="Hi!")).render({}, READER, brand=SHOP)
    assert own.body == "Hi!"
    source = mail("<html><body><p>{{ brand.name }}</p></body></html>")
    whole = wording.compile_text(source).render({}, READER, brand=SHOP)
    assert "logo.png" not in whole.html
    assert "Shop &lt;&amp;&gt; Co" in whole.html


@pytest.mark.parametrize("channel", Channel)
def test_the_brand_is_in_a_text_of_each_channel(channel: Channel) -> None:
    source = TextSource(
        channel=channel, locale="en", title="{{ brand.name }}", body="{{ brand.color }}"
    )
    text = wording.compile_text(source)
    assert text.render({"brand": "of the producer"}, READER, brand=SHOP).body == "#b91c1c"
    assert text.render({}, READER).body == DEFAULT.color
    assert wording.mentions(source) == frozenset()
    assert wording.required_variables(source) == frozenset()
    assert previews.preview(source, {}, brand=SHOP).rendered is not None
    assert not publishing.objections([source], declared=())
    assert not derived.declarations([source])


def test_an_old_version_that_declares_the_name_keeps_the_variable_of_its_producer() -> None:
    declared = variables.parse_declarations([
        {"name": "brand", "type": "string", "example": "Acme"}
    ])
    [source] = wording.for_declarations([mail("<p>{{ brand }}</p>")], declared)
    text = wording.compile_text(source)
    rendered = text.render({"brand": "Acme"}, READER, brand=SHOP)
    assert ">Acme</p>" in rendered.html
    assert "a { color: #1d4ed8; }" in rendered.html
    assert rendered.body == "Acme"
    assert not publishing.objections([source], declared=declared)


def test_a_new_version_may_not_declare_the_name() -> None:
    with pytest.raises(MalformedDeclaration, match="brand: the service fills in the brand"):
        variables.parse_new_declarations([{"name": "brand", "type": "string", "example": "Acme"}])


@pytest.mark.parametrize(
    ("body", "used"),
    [
        ("{{ brand }}", "brand alone"),
        ("{{ brand.logo }}", "brand.logo"),
        ("{{ brand['sender'] }}", "brand.sender"),
        ("{% if brand %}x{% endif %}", "brand alone"),
        ("{{ brand.name }}{{ brand.nane }}", "brand.nane"),
    ],
)
def test_a_use_that_no_brand_can_fill_in_is_refused_before_publication(
    body: str, used: str
) -> None:
    source = TextSource(channel=Channel.SMS, locale="en", body=body)
    objection, *_ = publishing.objections([source], declared=())
    assert f"sms en: text: {used} is no part of the brand" in objection
    assert "postal_address" in objection


@pytest.mark.parametrize(
    "body",
    [
        "{% for brand in brands %}{{ brand }}{% endfor %}",
        "{% for link in brand.links %}{{ link.label }}{% endfor %}",
        "{{ brand['name'] }}",
    ],
)
def test_a_variable_of_a_loop_and_each_part_are_permitted(body: str) -> None:
    assert not list(brand_uses.faults(body))
