"""A template as files: what is written is read again, and nothing else is taken for it."""

from __future__ import annotations

import dataclasses
import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.in_app import Action, InAppPart
from notifications.core.rules.templates import contents, diff, file_format
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.rules.templates.file_format import BrokenFiles
from notifications.core.rules.texts import variants, vendor_template
from notifications.core.rules.texts.vendor_template import VendorTemplate
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

PLAIN = st.text(st.characters(exclude_characters="{}\0", exclude_categories=["Cs"]), max_size=60)


def _without_faults(texts: list[TextSource]) -> list[TextSource]:
    """Leave out variants without a base text or a value."""
    wrong = {position for position, _ in variants.faults(texts)}
    return [text for position, text in enumerate(texts) if position not in wrong]


TEXTS = st.lists(
    st.builds(
        TextSource,
        channel=st.sampled_from(Channel),
        locale=st.sampled_from(["en", "pt_BR", "zh-hant-tw"]),
        variant=st.sampled_from(["", "", "b", "short-2"]),
        title=PLAIN,
        body=PLAIN,
        html=PLAIN,
        transliterate=st.booleans(),
        max_segments=st.sampled_from([None, 0, 1, 3]),
        shorten_links=st.booleans(),
        in_app=st.builds(
            InAppPart,
            url=PLAIN,
            image_url=PLAIN,
            actions=st.lists(
                st.builds(Action, st.sampled_from(["a", "b", "c"]), PLAIN.filter(str.strip), PLAIN),
                unique_by=lambda action: action.id,
            ).map(tuple),
        ),
        vendor_template=st.builds(
            VendorTemplate,
            ids=st.dictionaries(
                st.sampled_from(["twilio", "whatsapp"]),
                st.sampled_from(["HX1", "order_shipped/en_US"]),
                min_size=1,
            ).map(lambda ids: tuple(sorted(ids.items()))),
            parameters=st.lists(PLAIN.filter(str.strip), max_size=3).map(tuple),
        )
        | st.just(vendor_template.EMPTY),
    ).map(contents.normalize),
    unique_by=lambda words: (words.channel, words.locale, words.variant),
).map(_without_faults)


@given(TEXTS, st.lists(st.sampled_from(["code", "iban"]), unique=True))
def test_what_is_written_is_read_again(texts: list[TextSource], sensitive: list[str]) -> None:
    content = contents.content(texts, {"sensitive_variables": sensitive})
    files = file_format.write(content)
    assert file_format.parse(files) == content
    assert file_format.write(file_format.parse(files)) == files


def test_a_mail_in_blocks_is_a_file_of_markdown() -> None:
    blocks = "# Hello {{ name }}\n\n- one"
    files = {"email.en.md": f"{blocks}\n", "email.en.txt": "Hi\n\n\n"}
    content = file_format.parse(files)
    assert (content.texts[0].blocks, content.texts[0].title) == (blocks, "Hi")
    assert "Hello {{ name }}</h1>" in content.texts[0].html
    assert file_format.write(content) == files | {"template.json": "{}\n"}


def test_the_template_of_a_vendor_is_a_file_beside_the_text() -> None:
    files = {
        "chat.en.txt": "\n\nYour order is on its way.\n",
        "chat.en.json": orjson.dumps(
            {"ids": {"whatsapp": "sent/en"}, "parameters": ["{{ name }}"]},
            option=orjson.OPT_INDENT_2,
        ).decode()
        + "\n",
        "template.json": "{}\n",
    }
    content = file_format.parse(files)
    template = VendorTemplate((("whatsapp", "sent/en"),), ("{{ name }}",))
    assert content.texts[0].vendor_template == template
    assert file_format.write(content) == files


@pytest.mark.parametrize(
    ("stored", "detail"),
    [
        ("{", "chat.en.json: unexpected"),
        ("[]", "chat.en.json: it holds ids"),
        ('{"ids": {"whatsapp": 5}}', "chat.en.json: it holds ids"),
        ('{"id": "x"}', "chat.en.json: it holds ids"),
        ('{"parameters": ["a"]}', "chat.en.json: ids must name"),
        ('{"ids": {"Whats App": "x"}}', "chat.en.json: ids.Whats App must be a provider"),
        ('{"ids": {"whatsapp": "a b"}}', "chat.en.json: ids.whatsapp must be a provider"),
        ('{"ids": {"whatsapp": "x"}, "parameters": [" "]}', "parameters.0 must not be empty"),
        ('{"ids": {"whatsapp": "x"}, "parameters": ["{{ x"]}', "parameter 1 of the vendor"),
    ],
)
def test_a_broken_file_of_a_vendor_template_is_refused(stored: str, detail: str) -> None:
    with pytest.raises(BrokenFiles, match=re.escape(detail)):
        file_format.parse({"chat.en.txt": "\n\nHi", "chat.en.json": stored})


@pytest.mark.parametrize(
    ("files", "detail"),
    [
        ({"email.en.md": "a\n::: end"}, "email.en.md: line 2: end: no block is open"),
        ({"email.en.md": "a", "email.en.html": "<p>"}, "email.en.md: the blocks make the body"),
        ({"email.en.md": "a", "email.en.txt": "Hi\n\nbody"}, "email.en.md: the blocks make"),
        ({"push.en.md": "a", "push.en.txt": "Hi\n\na"}, "push.en.md: only an email text"),
    ],
)
def test_broken_files_of_blocks_are_refused(files: dict[str, str], detail: str) -> None:
    with pytest.raises(BrokenFiles, match=re.escape(detail)):
        file_format.parse({"email.en.txt": "Hi\n\n"} | files)


def test_a_browsers_line_ends_and_a_files_last_newline_are_no_difference() -> None:
    typed = contents.words(Channel.EMAIL, "pt_br", title=" Oi\n", body="a\r\nb", html="<p>")
    read = file_format.parse({"email.pt-BR.txt": "Oi\n\na\nb\n\n", "email.pt-BR.html": "<p>\n"})
    assert read.texts == (typed,)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "it holds url, image_url and actions"),
        ('{"url": 1}', "it holds url, image_url and actions"),
        ('{"actions": [{"id": "a"}]}', "actions.0.label must not be empty"),
        ('{"url": "{{ x.__class__ }}"}', "link: __class__"),
    ],
)
def test_a_wrong_file_of_an_in_app_part_is_named(text: str, told: str) -> None:
    with pytest.raises(BrokenFiles, match=re.escape(f"in_app.en.json: {told}")):
        file_format.parse({"in_app.en.txt": "T\n\nB", "in_app.en.json": text})


def test_a_push_has_a_link_and_an_image_but_no_actions() -> None:
    files = {"push.en.txt": "T\n\nB", "push.en.json": '{"url": "/x", "image_url": "/a.png"}'}
    [text] = file_format.parse(files).texts
    assert text.in_app == InAppPart("/x", "/a.png")
    acting = '{"actions": [{"id": "a", "label": "A"}]}'
    with pytest.raises(BrokenFiles, match=r"push\.en\.json: only in_app texts have actions"):
        file_format.parse({**files, "push.en.json": acting})
    with pytest.raises(BrokenFiles, match=r"sms\.en\.json: only in_app and push texts"):
        file_format.parse({"sms.en.txt": "B", "sms.en.json": '{"url": "/x"}'})


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("pigeon.en.txt", "coo", "pigeon.en.txt: a text is called"),
        ("README.md", "hello", "README.md: a text is called"),
        ("email.en.html", "<p>", "the file email.en.txt is missing"),
        ("push.en.json", "{}", "the file push.en.txt is missing"),
        ("push.en.txt", "only a title", "the first line is the title, which may be empty"),
        ("push.en.txt", "Two\nlines\n\nbody", "push.en.txt: line 2: the first line is the title"),
        ("push.en.txt", "\n Two \n\nbody", "push.en.txt: line 2: the first line is the title"),
        ("email.en.txt", "Two\rlines\n\nbody", "email.en.txt: line 2: the first line is the title"),
        ("sms.en.txt", "fine\n{{ x.__class__ }}", "sms.en.txt: line 2: __class__"),
        ("template.json", "[]", "holds one JSON object"),
        ("template.json", "{", "template.json: "),
        ("template.json", '{"sms": []}', "sms is an object"),
        ("template.json", '{"sms": {"max_segment": 1}}', "max_segment means nothing"),
        ("template.json", '{"sms": {"max_segments": true}}', "max_segments is 1 to 32767, or null"),
        ("template.json", '{"sms": {"shorten_links": 1}}', "shorten_links is true or false"),
        ("template.json", '{"texts": {"sms.de": {}}}', "unknown SMS sms.de"),
        ("push.xx.txt", "Hi\n\nx", "unknown locale; use a CLDR locale such as pt-BR"),
    ],
)
def test_a_file_that_makes_no_sense_is_named(name: str, text: str, told: str) -> None:
    with pytest.raises(BrokenFiles, match=told):
        file_format.parse({name: text})


@pytest.mark.parametrize("other", ["sms.pt_BR.txt", "sms.pt-br.txt"])
def test_two_spellings_of_one_locale_are_both_named(other: str) -> None:
    with pytest.raises(BrokenFiles) as refused:
        file_format.parse({"sms.pt-BR.txt": "Oi", other: "Olá"})
    assert all(name in str(refused.value) for name in ("sms.pt-BR.txt", other))


def test_a_text_and_its_html_may_spell_their_locale_apart() -> None:
    [text] = file_format.parse({"email.pt_br.txt": "Oi\n\na", "email.pt-BR.html": "<p>"}).texts
    assert (text.locale, text.html) == ("pt-BR", "<p>")


def test_the_files_of_a_variant_have_what_differs() -> None:
    files = {
        "email.en.txt": "Sale\n\n\n",
        "email.en.md": "# Today\n",
        "email.en@b.txt": "Last day\n\n\n",
        "email.en@c.md": "# Tomorrow\n",
        "sms.en.txt": "Sale\n",
        "sms.en@b.txt": "Last day\n",
        "template.json": '{\n  "sms": {\n    "max_segments": 2\n  }\n}\n',
    }
    content = file_format.parse(files)
    assert file_format.write(content) == files
    short = file_format.parse(files | {"email.en@b.txt": "Last day\n"})
    assert short == content
    sms = [text for text in content.texts if text.channel is Channel.SMS]
    assert [(text.variant, text.max_segments) for text in sms] == [("", 2), ("b", None)]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("push.en@B.txt", "Hi\n\nx", "push.en@B: the name of a variant must be up to 32 of a-z"),
        ("push.en@.txt", "Hi\n\nx", "push.en@.txt: a text is called"),
        ("push.de@b.txt", "Hi\n\nx", "push.de@b: push de, variant b needs a base text"),
        ("push.en@b.txt", "\n\n", "push.en@b: push en, variant b replaces nothing"),
        ("push.en@b.txt", "Hi\nthere", "push.en@b.txt: line 2: the first line"),
        ("push.en@b.txt", "\nOnly a body", "push.en@b.txt: line 2: the first line"),
        ("push.en@b.txt", "Two\nlines\n\nbody", "push.en@b.txt: line 2: the first line"),
        ("push.en@b.txt", "{{ x", "push.en@b.txt: line 1"),
    ],
)
def test_a_wrong_file_of_a_variant_is_named(name: str, text: str, told: str) -> None:
    with pytest.raises(BrokenFiles, match=re.escape(told)):
        file_format.parse({"push.en.txt": "Hi\n\nx", name: text})


def test_what_holds_for_every_sms_is_said_once() -> None:
    texts = [
        TextSource(channel=Channel.SMS, locale=locale, body="x", max_segments=1)
        for locale in ("de", "en")
    ]
    shared = file_format.write(contents.content(texts))
    assert orjson.loads(shared["template.json"]) == {"sms": {"max_segments": 1}}
    longer = dataclasses.replace(texts[0], max_segments=2)
    apart = file_format.write(contents.content([longer, texts[1]]))
    assert orjson.loads(apart["template.json"]) == {
        "texts": {"sms.de": {"max_segments": 2}, "sms.en": {"max_segments": 1}}
    }


def _says(**bodies: str) -> TemplateContent:
    return contents.content(
        contents.words(Channel.from_label(label), "en", title="Hi", body=body)
        for label, body in bodies.items()
    )


def test_a_diff_reads_as_gits() -> None:
    told = diff.unified_diff(
        _says(sms="one\ntwo"), _says(sms="one\n2", push="new"), old_name="v1", new_name="v2"
    )
    assert told.splitlines() == [
        *("--- v1/push.en.txt", "+++ v2/push.en.txt", "@@ -0,0 +1,3 @@", "+Hi", "+", "+new"),
        *("--- v1/sms.en.txt", "+++ v2/sms.en.txt", "@@ -1,2 +1,2 @@", " one", "-two", "+2"),
    ]


def test_the_same_content_has_no_diff() -> None:
    assert not diff.unified_diff(_says(sms="x"), _says(sms="x"), old_name="a", new_name="b")
    assert diff.side_by_side(_says(sms="x"), _says(sms="x")) == []


def test_both_sides_of_a_change_stand_in_one_row() -> None:
    [changed] = diff.side_by_side(_says(sms="one\ntwo"), _says(sms="one\n2\nthree"))
    assert changed.name == "sms.en.txt"
    sides = [(row.old, row.new, row.is_change) for row in changed.rows]
    assert sides == [("one", "one", False), ("two", "2", True), (None, "three", True)]
