"""The pages of `docs/` as HTML, from the Markdown files: without a build, a search and diagrams.

    file -> tabs become titles -> links to files outside docs/ become text -> Markdown -> HTML

Markdown is a dependency of Apprise, so a demo and the image have the library. `nav` of mkdocs.yml
gives the order of the pages, as on the site that `make docs` builds.
"""

from __future__ import annotations

import functools
import os.path
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import markdown
from markdown.extensions.toc import TocExtension

_ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = _ROOT / "docs"
LINK: Final = re.compile(r"\[([^\[\]]+)\]\((?!\w+:|#|/)([^)#\s]+)(#[^)\s]*)?\)")
"""A relative link: text, path, anchor."""
_ENTRY: Final = re.compile(r"^  ( *)- (.+?):(?: (\S+\.md))?$", re.MULTILINE)
_TAB: Final = re.compile(
    r'^( *)=== "(?P<title>.+)"\n(?P<content>(?:\1    .*\n|[ \t]*\n)+)', re.MULTILINE
)
_FENCE_IN_A_LIST: Final = re.compile(r"^( +)```\w*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """A page as HTML."""

    title: str
    html: str


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A line of the list of pages: a page, or the title of a section."""

    title: str
    url: str
    """Path below `/docs/`; empty for a section."""
    is_inner: bool
    """True below a section."""


def page(path: str) -> Page | None:
    """Return the page at a path such as `start/smtp.html`; None if no such page exists."""
    file = _files().get(path or "index.html")
    return None if file is None else _render(file, file.stat().st_mtime_ns)


@functools.cache
def entries() -> tuple[MenuEntry, ...]:
    """Return the pages of `nav` in order, then the others by path; of a folder the index alone."""
    nav = (_ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    found = [
        MenuEntry(title, Path(file).with_suffix(".html").as_posix() if file else "", bool(indent))
        for indent, title, file in _ENTRY.findall(nav)
    ]
    named = {entry.url for entry in found}
    others = (
        url
        for url in _files()
        if url not in named and ("/" not in url or url.endswith("index.html"))
    )
    return (*found, *(MenuEntry(_title(_files()[url]), url, is_inner=True) for url in others))


@functools.cache
def _files() -> dict[str, Path]:
    pages = sorted(FOLDER.rglob("*.md"))
    return {each.relative_to(FOLDER).with_suffix(".html").as_posix(): each for each in pages}


def _title(file: Path) -> str:
    return file.read_text().partition("\n")[0].removeprefix("# ")


@functools.lru_cache(maxsize=256)
def _render(file: Path, changed_ns: int) -> Page:  # noqa: ARG001 - a changed file is read again
    text = _without_foreign_links(_without_tabs(file.read_text()), file)
    text = _FENCE_IN_A_LIST.sub(_as_indented, text)
    html = markdown.markdown(
        text,
        extensions=["tables", "fenced_code", "attr_list", TocExtension(slugify=_slug)],
    )
    return Page(_title(file), html)


def _slug(title: str, _separator: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _without_tabs(text: str) -> str:
    """Replace tabs by titles and contents."""
    while found := _TAB.search(text):
        content = textwrap.indent(textwrap.dedent(found["content"]), found[1])
        tab = f"{found[1]}**{found['title']}**\n{content}"
        text = text[: found.start()] + tab + text[found.end() :]
    return text


def _as_indented(fence: re.Match[str]) -> str:
    """Return a fenced block of a list as an indented block, because Markdown has no such fences."""
    return textwrap.indent(fence[2], "    ")


def _without_foreign_links(text: str, file: Path) -> str:
    """Replace links to files outside the pages by their text, and `page.md` by `page.html`."""

    def replace(link: re.Match[str]) -> str:
        target = os.path.normpath(file.parent / link[2])
        if not (target.endswith(".md") and Path(target) in _files().values()):
            return link[1]
        return f"[{link[1]}]({Path(link[2]).with_suffix('.html').as_posix()}{link[3] or ''})"

    return LINK.sub(replace, text)
