"""Declarations come from the use of the variables, and a misspelt name stands out."""

from __future__ import annotations

from notifications.core.rules.language import variables
from notifications.core.rules.templates import contents, derived, publishing
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

TEXTS = (
    contents.words(
        Channel.EMAIL,
        "en",
        title="x",
        body="{{ total|money }} on {{ day|date }} {{ note|default('') }}"
        "{% for item in items %}{{ item }}{% endfor %} {{ user.first_name }}",
    ),
    contents.words(Channel.PUSH, "en", title="Hi", body="{{ order_id }}"),
)


def test_types_follow_the_use_and_the_texts_render_with_the_examples() -> None:
    found = derived.declarations(TEXTS)
    types = {each["name"]: (each["type"], each["required"]) for each in found}
    assert types == {
        "day": ("date", True),
        "items": ("list", True),
        "note": ("string", False),
        "order_id": ("string", True),
        "total": ("money", True),
        "user": ("object", True),
    }
    declared = variables.parse_declarations(found)
    assert publishing.objections(TEXTS, declared=declared) == []


def test_a_list_has_objects_with_the_fields_of_its_loop() -> None:
    body = "{% for item in items %}{{ item.name }} {{ item.price|money }}{% endfor %}"
    texts = [contents.words(Channel.EMAIL, "en", title="x", body=body)]
    item = {"name": "Name", "price": {"amount": "9.90", "currency": "EUR"}}
    found = derived.declarations(texts)
    assert found == [{"name": "items", "type": "list", "required": True, "example": [item, item]}]
    assert publishing.objections(texts, declared=variables.parse_declarations(found)) == []


def test_the_example_of_an_address_in_blocks_is_an_address() -> None:
    blocks = "[a]({{ url }}) {{ name }}\n\n::: table b in c\n|x|\n|-|\n|[d]({{ b.url }})|\n::: end"
    source = TextSource(channel=Channel.EMAIL, locale="en", title="x", blocks=blocks)
    texts = [contents.normalize(source)]
    found = derived.declarations(texts)
    row = {"url": "https://example.com"}
    assert {each["name"]: each["example"] for each in found} == {
        "url": "https://example.com",
        "name": "Name",
        "c": [row, row],
    }
    assert publishing.objections(texts, declared=variables.parse_declarations(found)) == []


def test_a_name_that_one_language_alone_needs_is_not_published_undeclared() -> None:
    texts = [
        contents.words(Channel.PUSH, "en", title="Hi", body="{{ order_id }}"),
        contents.words(Channel.PUSH, "de", title="Hi", body="{{ order_id }}"),
        contents.words(Channel.PUSH, "ar", title="Hi", body="{{ ordr_id }}"),
    ]
    assert derived.lonely(texts) == {"push ar": ["ordr_id"]}
    assert publishing.objections(texts, declared=()) == [
        "push ar: no other language needs ordr_id; correct the name, or declare the variables"
    ]
    declared = variables.parse_declarations(derived.declarations(texts))
    assert publishing.objections(texts, declared=declared) == []


def test_one_language_needs_what_it_needs() -> None:
    texts = [
        contents.words(Channel.PUSH, "en", title="Hi", body="{{ order_id }}"),
        contents.words(Channel.SMS, "en", body="{{ other }}"),
    ]
    assert publishing.objections(texts, declared=()) == []


def test_a_broken_text_names_channel_language_field_and_line() -> None:
    texts = [contents.words(Channel.EMAIL, "pt-BR", title="{{ a", body="x\n{% if %}")]
    assert publishing.objections(texts, declared=()) == [
        "email pt-BR, subject, line 1: {{ has no closing }}",
        "email pt-BR, text, line 2: the condition or the list is missing before %}",
    ]
