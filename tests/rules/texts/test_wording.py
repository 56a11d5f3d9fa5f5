"""A text comes out as its channel takes it, and what could not is not published."""

from __future__ import annotations

import functools

import pytest
from babel import localedata

from notifications.core.rules.language import variables
from notifications.core.rules.language.templating import Reader
from notifications.core.rules.language.variables import MailLinks, Type, Variable
from notifications.core.rules.templates.publishing import objections
from notifications.core.rules.texts import push_size, sms_segments
from notifications.core.rules.texts.wording import (
    TextSource,
    compile_text,
    fit,
    has_link,
    mentions,
    required_variables,
)
from providers.contract import Channel

NAME = Variable(name="name", type=Type.STRING, example="Ana")
URL = Variable(name="url", type=Type.STRING, example="https://shop.example/" + "x" * 200)


source = functools.partial(TextSource, channel=Channel.SMS, locale="en")


def test_an_sms_is_said_in_seven_bits_only_where_its_author_asked() -> None:
    plain, cheap = source(body="“{{ x }}”"), source(body="“{{ x }}”", transliterate=True)
    assert compile_text(plain).render({"x": "á"}, Reader()).body == "“á”"
    assert compile_text(cheap).render({"x": "á"}, Reader()).body == '"a"'


FILTERED = (
    "{{ n|number }} {{ n|number(2) }} {{ n|percent }} {{ n|percent(1) }} {{ n|money('EUR') }}"
    " {{ paid|money }} {{ at|date }} {{ at|date('full') }} {{ at|time }} {{ at|time('full') }}"
    " {{ at|datetime }} {{ at|datetime('long') }} {{ names|listed }}"
)
FILLED = {
    "n": 1_234_567.5,
    "paid": {"amount": "9.90", "currency": "CHF"},
    "at": "2026-03-01T19:30:00Z",
    "names": ["Ana", "Bo", "Chi"],
}


def test_no_filter_writes_a_character_into_an_sms_that_nobody_can_type() -> None:
    for locale in localedata.locale_identifiers():
        tag = locale.replace("_", "-")
        sms = compile_text(source(body=FILTERED, locale=tag)).render(FILLED, Reader(tag)).body
        assert {"\u00a0", "\u202f", "\u2019"}.isdisjoint(sms), tag


def test_a_time_costs_no_second_segment_and_a_variable_keeps_its_characters() -> None:
    body = (
        "Table at {{ at|time }}. See you soon at the restaurant, please be on time and bring your"
        " friends along, we like them. Reply STOP to end"
    )
    sms = compile_text(source(body=body)).render(FILLED, Reader())
    assert "7:30 PM" in sms.body
    assert sms_segments.measure(sms.body).segments == 1
    kept = compile_text(source(body="{{ x }}")).render({"x": "a\u00a0b"}, Reader())
    assert kept.body == "a\u00a0b"
    listed = compile_text(source(body="{{ x|listed }}", locale="cs"))
    assert listed.render({"x": ["a\u00a0b", "c", "d"]}, Reader("cs")).body == "a\u00a0b, c a d"
    push = source(channel=Channel.PUSH, body="{{ at|time }}")
    assert compile_text(push).render(FILLED, Reader()).body == "7:30\u202fPM"


def test_links_are_cut_short_only_where_their_author_asked() -> None:
    body = "See {{ url }}."
    given = {"url": "https://shop.example/" + "x" * 50}
    plain, short = source(body=body), source(body=body, shorten_links=True)

    def shorten(link: str) -> str:
        return f"https://s.example/{len(link)}"

    assert (
        compile_text(plain).render(given, Reader(), shorten=shorten).body == f"See {given['url']}."
    )
    assert compile_text(short).render(given, Reader(), shorten=shorten).body == (
        "See https://s.example/71."
    )


def test_a_push_gives_way_in_its_body_alone() -> None:
    push = source(channel=Channel.PUSH, title="{{ x }}", body="{{ y }}")
    rendered = compile_text(push).render({"x": "t" * 200, "y": "é" * 9_000}, Reader())
    assert rendered.title == "t" * 200
    assert (
        push_size.json_bytes(rendered.title) + push_size.json_bytes(rendered.body)
        <= push_size.PUSH_TEXT_BYTES
    )
    assert fit(Channel.EMAIL, rendered) is rendered


def test_a_mail_has_a_text_whether_its_author_wrote_one_or_not() -> None:
    html = "<p>Hi {{ name }}</p>"
    without, with_text = (
        compile_text(source(channel=Channel.EMAIL, html=html, body=body))
        for body in ("", "Dear {{ name }}")
    )
    assert without.render({"name": "<Ana>"}, Reader()).body == "Hi <Ana>"
    assert "Hi &lt;Ana&gt;" in without.render({"name": "<Ana>"}, Reader()).html
    assert with_text.render({"name": "Ana"}, Reader()).body == "Dear Ana"


def test_a_mail_says_in_text_and_html_where_to_unsubscribe_if_there_is_a_place() -> None:
    html = "{% if unsubscribe_url %}<a href='{{ unsubscribe_url }}'>Leave</a>{% endif %}."
    mail = source(channel=Channel.EMAIL, html=html)
    assert required_variables(mail) == mentions(mail) == frozenset()
    with_link = compile_text(mail).render(
        {}, Reader(), mail_links=MailLinks("https://n.example/u/a.b")
    )
    assert with_link.body == "Leave (https://n.example/u/a.b)."
    assert 'href="https://n.example/u/a.b"' in with_link.html
    assert compile_text(mail).render({}, Reader()).body == "."


def test_an_english_sentence_takes_no_french_number() -> None:
    text = compile_text(source(body="{{ n|number }}"))
    assert text.render({"n": 1.5}, Reader(locale="fr-FR")).body == "1.5"
    assert text.render({"n": 1234}, Reader(locale="en-IN")).body == "1,234"


def test_a_text_needs_what_any_of_its_parts_needs() -> None:
    mail = source(
        channel=Channel.EMAIL, title="{{ a }}", body="{{ b }}", html="{{ c }}{{ d|d('') }}"
    )
    assert required_variables(mail) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (source(), "says nothing"),
        (source(body="{{ x"), "line 1"),
        (source(body="{{ other }}"), "it needs other"),
        (source(body="{{ name|number }}"), "numbers was given a text"),
        (source(body="{{ name }}" + "x" * 158, max_segments=1), "2 segments (161 units of GSM-7)"),
        (source(body="ê" * 71, max_segments=1), "2 segments (71 units of UCS-2)"),
        (source(body="x" * 161), "2 segments (161 units of GSM-7), at most 1"),
        (source(body="x" * 307, max_segments=2), "3 segments (307 units of GSM-7), at most 2"),
        (source(body="{{ url }}", max_segments=1), "2 segments"),
        (source(body="{{ secret }}", shorten_links=True), "stored in the clear"),
        (source(body="Leave: {{ unsubscribe_url }}"), "is for e-mail"),
    ],
)
def test_each_objection_names_its_text_and_its_reason(text: TextSource, word: str) -> None:
    fine = source(channel=Channel.CHAT, body="fine")
    found = objections([fine, text], declared=[NAME, URL], sensitive=["secret"])
    assert any(word in objection for objection in found), found
    assert all(objection.startswith((f"{text.label}: ", f"{text.label}, ")) for objection in found)


def test_a_link_that_is_empty_without_its_page_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choices = source(channel=Channel.EMAIL, body="{{ preferences_url }}")
    both = source(channel=Channel.EMAIL, body="{{ preferences_url }} {{ unsubscribe_url }}")
    assert has_link(choices)
    monkeypatch.setattr(variables, "has_preference_page", lambda: False)
    assert (has_link(choices), has_link(both)) == (False, True)


def test_a_good_version_meets_no_objection() -> None:
    good = [
        source(body="{{ name }}: {{ url }}", shorten_links=True, max_segments=1),
        source(channel=Channel.EMAIL, title="{{ name }}", html="<p>{{ url }}</p>"),
        source(channel=Channel.EMAIL, locale="de", body="Abmelden: {{ unsubscribe_url }}"),
        source(channel=Channel.PUSH, body="“{{ name }}”"),
    ]
    assert objections(good, declared=[NAME, URL], public_url="https://n.example") == []


def test_without_declarations_only_what_needs_them_is_refused() -> None:
    assert objections([source(body="{{ x }}")], declared=[]) == []
    [objection] = objections([source(body="x" * 161)], declared=[])
    assert "2 segments" in objection
    [objection] = objections([source(body="{{ x }}", max_segments=1)], declared=[])
    assert "declared" in objection
