"""Each text of the pages for recipients is translated, and the compiled catalogues are current."""

from __future__ import annotations

import string

import pytest

from notifications.core.rules.language.page_languages import PAGE_LANGUAGES
from tests.architecture import catalogues


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_there_is_a_folder_for_each_page_language() -> None:
    folders = {each.name.replace("_", "-") for each in catalogues.LOCALE.iterdir()}
    assert folders == set(PAGE_LANGUAGES) - {"en"}


@pytest.mark.parametrize("tag", catalogues.TRANSLATED)
def test_each_text_is_translated(tag: str) -> None:
    catalogue = catalogues.read(tag)
    known = {str(each.id): str(each.string) for each in catalogue if each.id}
    assert known.keys() == catalogues.texts()
    assert [text for text, translated in known.items() if not translated] == []
    assert [text for text in known if _fields(text) != _fields(known[text])] == []


@pytest.mark.parametrize("tag", catalogues.TRANSLATED)
def test_the_compiled_catalogue_is_current(tag: str) -> None:
    path = catalogues.po_path(tag).with_suffix(".mo")
    assert path.read_bytes() == catalogues.compiled(catalogues.read(tag))
