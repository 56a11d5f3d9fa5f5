"""Writes the catalogues of `notifications/core/locale`: `python -m tests.architecture.catalogues`.

The texts of the code and of the templates are added to each `django.po`, unused texts are removed,
and each `django.mo` is compiled. Babel does the work, so no machine needs GNU gettext.
"""

from __future__ import annotations

import datetime as dt
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from babel.messages import Catalog, extract, mofile, pofile

from notifications.core.rules.language import locales
from notifications.core.rules.language.page_languages import PAGE_LANGUAGES

ROOT: Final = Path(__file__).parents[2]
LOCALE: Final = ROOT / "notifications" / "core" / "locale"
_FEATURES: Final = ROOT / "notifications" / "features"
_PAGES: Final = ("preferences", "unsubscribe")
"""Folders of the core's templates with translated texts; the templates of features are all read."""
_DATE: Final = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
"""A fixed date in the header, so that equal texts have equal files."""
_TRANSLATE: Final = re.compile(r'\{% translate "([^"]+)"')
TRANSLATED: Final = tuple(tag for tag in PAGE_LANGUAGES if tag != locales.DEFAULT)


def texts() -> set[str]:
    """Return the texts that the code and the templates translate."""
    return set(_texts_of_code()) | set(_texts_of_templates())


def po_path(tag: str) -> Path:
    """Return the path of the catalogue of a page language."""
    return LOCALE / tag.replace("-", "_") / "LC_MESSAGES" / "django.po"


def read(tag: str) -> Catalog:
    """Return the catalogue of a page language; an empty one before the first run."""
    path = po_path(tag)
    if not path.exists():
        return Catalog(locale=tag.replace("-", "_"))
    with path.open("rb") as file:
        return pofile.read_po(file, locale=tag.replace("-", "_"))


def compiled(catalogue: Catalog) -> bytes:
    """Return the compiled catalogue."""
    catalogue.creation_date = catalogue.revision_date = _DATE
    buffer = io.BytesIO()
    mofile.write_mo(buffer, catalogue)
    return buffer.getvalue()


def _texts_of_code() -> Iterator[str]:
    keywords = dict.fromkeys(("gettext", "gettext_noop", "gettext_lazy", "_"))
    for path in sorted((ROOT / "notifications").rglob("*.py")):
        if b"gettext" in path.read_bytes():
            with path.open("rb") as file:
                for _, text, _, _ in extract.extract("python", file, keywords=keywords):
                    yield str(text)


def _texts_of_templates() -> Iterator[str]:
    folders = [*(ROOT / "templates" / each for each in _PAGES), *_FEATURES.glob("*/templates/*")]
    for folder in sorted(folders):
        for path in sorted(folder.glob("*.html")):
            yield from _TRANSLATE.findall(path.read_text())


def main() -> None:
    """Write every catalogue."""
    for tag in TRANSLATED:
        before = read(tag)
        after = Catalog(locale=tag.replace("-", "_"), charset="utf-8")
        for text in sorted(texts()):
            known = before.get(text)
            after.add(text, string=known.string if known else "")
        path = po_path(tag)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            pofile.write_po(file, after, omit_header=True, width=100)
        header = b'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
        path.write_bytes(header + path.read_bytes())
        path.with_suffix(".mo").write_bytes(compiled(read(tag)))


if __name__ == "__main__":
    main()
