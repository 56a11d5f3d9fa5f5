"""Every template that is shipped may be published, and says the same thing to everybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from notifications.management import template_files
from notifications.management.template_files import METADATA, UnfitTemplate
from notifications.models import Template
from notifications.rules import locales, sms_segments, variables, wording
from notifications.rules.sms_segments import Encoding
from notifications.rules.templating import Reader
from notifications.store import reads
from providers.contract import Channel

FOLDER = Path(__file__).parents[2] / "templates" / "notifications"
FOLDERS = sorted(folder for folder in FOLDER.iterdir())
OTP = template_files.read(FOLDER / "otp_v2")
CHANNELS = {Channel.PUSH, Channel.SMS, Channel.EMAIL}
RIGHT_TO_LEFT = {"ar", "fa", "he", "ur"}
TRANSLITERABLE = {"en", "de", "es", "fr", "it", "nl", "pl", "pt-BR", "pt-PT", "sv", "tr", "cs"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_shipped_template_declares_what_it_needs_and_may_be_published(folder: Path) -> None:
    assert template_files.read(folder).variables


def test_the_otp_speaks_every_language_on_every_channel_that_it_has() -> None:
    spoken: dict[str, set[Channel]] = {}
    for source in OTP.sources:
        spoken.setdefault(source.locale, set()).add(source.channel)
    assert len(spoken) >= 70
    assert {tag for tag in spoken if locales.direction(tag) == "rtl"} == RIGHT_TO_LEFT
    assert [tag for tag, on in spoken.items() if on != CHANNELS] == []


@pytest.mark.parametrize("source", OTP.sources, ids=lambda source: source.label)
def test_each_text_of_the_otp_says_its_code_once_in_one_segment(source: wording.Source) -> None:
    assert locales.is_known(source.locale)
    assert source.locale == locales.normalised(source.locale)
    rendered = wording.compiled(source).render({"code": "482913"}, Reader(source.locale))
    assert rendered.body.count("482913") == 1
    assert bool(rendered.title) == (source.channel is not Channel.SMS)
    if source.channel is Channel.SMS:
        size = sms_segments.measured(rendered.body)
        assert size.segments == 1
        assert size.encoding is Encoding.GSM_7 or source.locale not in TRANSLITERABLE


@pytest.mark.usefixtures("db")
def test_loading_again_publishes_nothing_and_a_change_does(tmp_path: Path) -> None:
    folder = tmp_path / "hello"
    folder.mkdir()
    (folder / "sms.en.txt").write_text("Hello {{ name }}\n")
    told = '[variables.name]\ntype = "string"\nexample = "Ada"\n'
    (folder / METADATA).write_text(told)
    assert [template_files.load(folder).version for _ in range(2)] == [1, 1]
    (folder / METADATA).write_text(told + "[sms]\nshorten_links = true\n")
    assert [template_files.load(folder).version for _ in range(2)] == [2, 2]
    [declared] = variables.read(Template.objects.get(version=2).variables)
    assert (declared.name, declared.required) == ("name", True)
    reads.forget()
    text = reads.templates_by_name({"hello"})["hello"].text(Channel.SMS, "de")
    assert text is not None
    assert text.source.shorten_links


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ('[variables.other]\ntype = "string"\nexample = "x"\n', "needs name"),
        ('[variables.name]\ntype = "text"\n', "one of string"),
        ("[sms]\nmax_segment = 1\n", "max_segment means nothing"),
        ("sensitiv = []\n", "sensitiv means nothing"),
    ],
)
def test_a_folder_that_may_not_be_published_says_why(tmp_path: Path, told: str, word: str) -> None:
    (tmp_path / "sms.en.txt").write_text("Hello {{ name }}\n")
    (tmp_path / METADATA).write_text(told)
    with pytest.raises(UnfitTemplate, match=word):
        template_files.read(tmp_path)
