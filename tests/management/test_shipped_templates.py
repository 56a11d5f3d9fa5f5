"""Every template that is shipped may be published, and says the same thing to everybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from notifications.core.management import template_files as folders
from notifications.core.rules.language import locales, variables
from notifications.core.rules.language.templating import Reader
from notifications.core.rules.templates import file_format, publishing
from notifications.core.rules.texts import sms_segments, wording
from notifications.core.rules.texts.sms_segments import Encoding
from providers.contract import Channel

FOLDER = Path(__file__).parents[2] / "templates" / "notifications"
SHIPPED = {name: file_format.parse(files) for name, files in folders.read(FOLDER)}
OTP = SHIPPED["otp_v2"].texts
CHANNELS = {Channel.PUSH, Channel.SMS, Channel.EMAIL}
RIGHT_TO_LEFT = {"ar", "fa", "he", "ur"}
TRANSLITERABLE = {"en", "de", "es", "fr", "it", "nl", "pl", "pt-BR", "pt-PT", "sv", "tr", "cs"}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_template_declares_what_it_needs_and_may_be_published(name: str) -> None:
    content = SHIPPED[name]
    declared = variables.parse_declarations(content.settings["variables"])
    sensitive = content.settings["sensitive_variables"]
    assert declared
    assert publishing.objections(content.texts, declared=declared, sensitive=sensitive) == []


def test_the_otp_speaks_every_language_on_every_channel_that_it_has() -> None:
    spoken: dict[str, set[Channel]] = {}
    for source in OTP:
        spoken.setdefault(source.locale, set()).add(source.channel)
    assert len(spoken) >= 70
    assert {tag for tag in spoken if locales.direction(tag) == "rtl"} == RIGHT_TO_LEFT
    assert [tag for tag, on in spoken.items() if on != CHANNELS] == []


@pytest.mark.parametrize("source", OTP, ids=lambda source: source.label)
def test_each_text_of_the_otp_says_its_code_once_in_one_segment(source: wording.TextSource) -> None:
    assert locales.is_known(source.locale)
    assert source.locale == locales.normalize(source.locale)
    rendered = wording.compile_text(source).render({"code": "482913"}, Reader(source.locale))
    assert rendered.body.count("482913") == 1
    assert bool(rendered.title) == (source.channel is not Channel.SMS)
    if source.channel is Channel.SMS:
        size = sms_segments.measure(rendered.body)
        assert size.segments == 1
        assert size.encoding is Encoding.GSM_7 or source.locale not in TRANSLITERABLE


@pytest.mark.parametrize(
    "text", [each for each in OTP if each.channel is Channel.EMAIL], ids=lambda each: each.label
)
def test_each_mail_with_a_code_names_the_two_minutes(text: wording.TextSource) -> None:
    two = "دقيقتين" if text.locale == "ar" else "2"  # the dual of Arabic has no number
    assert two in text.body
