"""A person gets their language where there is one, and a message always."""

from __future__ import annotations

import pytest
from babel import Locale, localedata
from babel.core import get_global

from notifications.core.rules.language.locales import (
    choose,
    cldr,
    direction,
    is_known,
    normalize,
    of_reader,
)


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ("pt-BR", "pt-BR"),
        ("PT_br", "pt-BR"),
        ("es-MX", "es"),
        ("zh-hant-tw", "zh_Hant"),
        ("pt-PT", "pt-BR"),
        ("fr", "en"),
        ("", "en"),
        ("no such locale!", "en"),
    ],
)
def test_the_nearest_language_is_chosen(wanted: str, chosen: str) -> None:
    assert choose(["pt-BR", "es", "en", "zh_Hant"], wanted) == chosen


def test_without_english_any_text_is_better_than_none() -> None:
    assert choose(["tr", "es"], "fr") == "es"


def test_without_texts_there_is_no_choice() -> None:
    assert choose([], "en") is None


@pytest.mark.parametrize(
    ("available", "wanted", "chosen"),
    [
        (["es", "es-419"], "es-MX", "es-419"),
        (["es", "es-419"], "es-ES", "es"),
        (["pt", "pt-PT"], "pt-AO", "pt-PT"),
        (["en", "en-001"], "en-AU", "en-001"),
        (["zh", "zh-Hant"], "zh-TW", "zh-Hant"),
        (["zh", "zh-Hant"], "zh-Hant-HK", "zh-Hant"),
        (["zh-Hans", "en"], "zh-CN", "zh-Hans"),
        (["zh_CN", "zh_TW"], "zh-Hant-TW", "zh_TW"),
        (["sr", "sr-Latn"], "sr-ME", "sr-Latn"),
        (["he", "en"], "iw", "he"),
        (["nb", "en"], "no", "nb"),
        (["no", "en"], "nn-NO", "no"),
        (["nb", "en"], "nn", "nb"),
        (["nb-NO", "en"], "nn", "nb-NO"),
        (["en-US", "hi"], "hi-Latn", "en-US"),
        (["zh-CN", "zh-HK"], "yue", "zh-HK"),
        (["zh-CN", "zh-HK", "zh-TW"], "yue", "zh-HK"),
        (["zh-CN", "zh-TW"], "yue-HK", "zh-TW"),
        (["zh-CN", "zh-HK"], "yue-CN", "zh-CN"),
        (["zh-CN", "en"], "yue", "zh-CN"),
        (["yue", "zh-HK"], "yue-HK", "yue"),
    ],
)
def test_parents_are_those_of_cldr(available: list[str], wanted: str, chosen: str) -> None:
    assert choose(available, wanted) == chosen


@pytest.mark.parametrize(
    ("available", "wanted", "chosen"),
    [
        # The script comes first
        (["en", "zh-CN", "zh-TW"], "zh-HK", "zh-TW"),
        (["en", "zh-CN", "zh-TW"], "zh-Hant-HK", "zh-TW"),
        (["en", "zh-CN", "zh-TW"], "zh-MO", "zh-TW"),
        (["en", "zh-CN", "zh-TW"], "zh-Hant", "zh-TW"),
        (["en", "zh", "zh-TW"], "zh-HK", "zh-TW"),
        (["zh-CN", "zh-TW"], "zh-SG", "zh-CN"),
        (["zh-CN", "zh-TW"], "zh-Hans-CN", "zh-CN"),
        (["sr", "sr-Latn-ME"], "sr-Latn-RS", "sr-Latn-ME"),
        (["pa", "pa-Arab"], "pa-PK", "pa-Arab"),
        (["az", "az-Arab"], "az-IR", "az-Arab"),
        (["zh-CN", "en"], "zh-HK", "zh-CN"),
        # then CLDR's parent
        (["es-ES", "es-MX"], "es-AR", "es-MX"),
        (["es", "es-MX"], "es-AR", "es-MX"),
        (["es-419", "es-CO", "es-ES"], "es-AR", "es-419"),
        (["zh-HK", "zh-TW"], "zh-MO", "zh-HK"),
        (["pt-BR", "pt-PT"], "pt-AO", "pt-PT"),
        (["en-GB", "en-US"], "en-AU", "en-GB"),
        (["en-CA", "en-GB", "en-IN"], "en-AU", "en-GB"),
        (["en-IN", "hi"], "hi-Latn", "en-IN"),
        # then the usual region
        (["fr-CA", "fr-FR"], "fr-BE", "fr-FR"),
        (["fr-CA", "fr-FR"], "fr", "fr-FR"),
        (["de-AT", "de-DE"], "de-CH", "de-DE"),
        (["es-CO", "es-ES", "es-MX"], "es-AR", "es-MX"),
        (["es-ES", "es-MX"], "es-419", "es-MX"),
        (["zh-HK", "zh-TW"], "zh-Hant", "zh-TW"),
        (["de", "en-GB"], "ja", "en-GB"),
    ],
)
def test_no_text_is_chosen_by_the_alphabet(available: list[str], wanted: str, chosen: str) -> None:
    assert choose(available, wanted) == chosen
    assert choose(available[::-1], wanted) == chosen


@pytest.mark.parametrize(
    ("tag", "chosen"),
    [
        ("iw", "he"),
        ("iw_IL", "he"),
        ("in_ID", "id"),
        ("ji", "yi"),
        ("zh-Hans-CN", "zh-CN"),
        ("zh-Hant_TW", "zh-TW"),
        ("zh_TW_#Hant", "zh-TW"),
        ("zh-TW-u-nu-hanidec", "zh-TW"),
        ("de-DE-x-private", "de"),
        ("de_DE@calendar=gregorian", "de"),
        ("de_DE.UTF-8", "de"),
        ("sh-RS", "sr-Latn"),
        ("sh_BA", "sr-Latn"),
        ("sh", "sr-Latn"),
        ("sh-Cyrl-RS", "sr"),
        ("sr_RS@latin", "sr-Latn"),
        ("sr_RS.UTF-8@latin", "sr-Latn"),
        ("sr_RS_#Latn", "sr-Latn"),
        ("th_TH_TH_#u-nu-thai", "th"),
        ("ja_JP_JP_#u-ca-japanese", "ja"),
    ],
)
def test_tags_of_browsers_and_phones_are_understood(tag: str, chosen: str) -> None:
    available = ["en", "de", "he", "id", "ja", "sr", "sr-Latn", "th", "yi", "zh-CN", "zh-TW"]
    assert choose(available, tag) == chosen
    assert is_known(tag)
    assert cldr(tag).language == cldr(chosen).language


@pytest.mark.parametrize(
    ("one", "other"), [("nb", "no"), ("he", "iw"), ("fil", "tl"), ("id", "in"), ("zh", "zh-Hans")]
)
def test_of_two_names_of_a_language_the_wanted_name_wins(one: str, other: str) -> None:
    available = [one, "en", other]
    assert (choose(available, one), choose(available, other)) == (one, other)
    assert choose(available, "xx", default=other.upper()) == other
    assert choose(available, f"{other}-001") == one, "the current name, for a reader elsewhere"


def test_a_templates_own_default_comes_before_english() -> None:
    assert choose(["en", "de-AT", "fr"], "ja", default="de") == "de-AT"
    assert choose(["en", "fr"], "ja", default="de") == "en"


@pytest.mark.parametrize("tag", sorted(get_global("parent_exceptions")))
def test_every_locale_with_a_parent_of_its_own_gets_that_parents_text(tag: str) -> None:
    parent = get_global("parent_exceptions")[tag]
    assert choose(["aa", parent], tag, default="aa") == parent


@pytest.mark.parametrize(
    "tag",
    [
        *("ar", "he", "fa-IR", "ur", "pa-PK", "ckb"),
        *("ku-Arab", "arz", "ary", "aeb", "glk", "uz_AF", "pa-Arab"),
    ],
)
def test_what_is_written_from_the_right_says_so(tag: str) -> None:
    assert direction(tag) == "rtl"


def test_the_direction_of_each_locale_is_that_of_cldr() -> None:
    tags = localedata.locale_identifiers()
    # Mongolian from top to bottom is no `dir` of HTML
    expected = {tag: Locale.parse(tag).text_direction.replace("ttb", "ltr") for tag in tags}
    assert {tag: direction(tag) for tag in tags} == expected


@pytest.mark.parametrize("tag", ["en", "ku", "ar-Latn", "ks-Deva", "uz", "hi-Latn"])
def test_what_is_written_from_the_left_says_so(tag: str) -> None:
    assert direction(tag) == "ltr"


def test_a_locale_that_nobody_knows_is_written_like_english() -> None:
    assert (cldr("no such locale!").language, direction("xx-YY")) == ("en", "ltr")


def test_a_text_keeps_its_language_and_takes_its_readers_region() -> None:
    assert of_reader("de", "de-AT") == "de-AT"
    assert of_reader("en", "fr-FR") == "en"


@pytest.mark.parametrize(
    ("given", "tag"),
    [
        ("EN", "en"),
        ("pt_br", "pt-BR"),
        ("sr-latn_rs", "sr-Latn-RS"),
        ("ca-valencia", "ca-valencia"),
        ("es-419", "es-419"),
        ("zh_TW_#Hant", "zh-Hant-TW"),
        ("en-US-u-hc-h12", "en-US"),
        ("sr_RS@latin", "sr-Latn-RS"),
        ("ca_ES@euro", "ca-ES"),
        ("th_TH_TH_#u-nu-thai", "th-TH"),
        ("zh_TW_#Hant-u-nu-hanidec", "zh-Hant-TW"),
    ],
)
def test_tags_are_spelled_one_way(given: str, tag: str) -> None:
    assert normalize(given) == tag
