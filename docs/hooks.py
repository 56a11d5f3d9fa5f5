"""Hooks of MkDocs: pages outside `nav` are appended, and links to the repository become text."""

from __future__ import annotations

import os.path
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from notifyproj.docs_pages import LINK


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Append each page that `nav` does not name to the last section of `nav`."""
    nav = config.nav or []
    named = set(_pages(nav))
    folder = Path(config.docs_dir)
    found = sorted(page.relative_to(folder).as_posix() for page in folder.rglob("*.md"))
    [last_section] = nav[-1].values()
    last_section += [page for page in found if page not in named]
    return config


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: Any) -> str:  # noqa: ANN401 - MkDocs passes more
    """Replace a link to a file of the repository outside the site by the text of the link.

    A link to a missing file stays, and MkDocs reports the link.
    """
    folder = Path(config.docs_dir)
    here = folder / Path(page.file.src_uri).parent

    def replace(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(here / link[2]))
        is_page = target.is_relative_to(folder) and target.suffix in {".md", ".svg", ".png"}
        return link[1] if target.exists() and not is_page else link[0]

    return LINK.sub(replace, markdown)


def _pages(nav: object) -> list[str]:
    """Return the paths of all pages below an entry of `nav`."""
    if isinstance(nav, str):
        return [nav]
    if isinstance(nav, dict):
        nav = list(nav.values())
    entries = nav if isinstance(nav, list) else []
    return [page for entry in entries for page in _pages(entry)]
