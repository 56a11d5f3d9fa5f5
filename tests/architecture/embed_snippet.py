"""Writes the script elements into the pages about the web components: `make embed`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import django

from notifications.core.api import embed
from tests.architecture import last_release
from tests.architecture.repository import ROOT

_DOCS: Final = Path(__file__).parents[2] / "docs"
PAGES: Final = {
    _DOCS / "inbox-component.md": "notify-inbox.js",
    _DOCS / "preferences.md": embed.PREFERENCES,
}
"""Page -> file of its script element."""
_URL: Final = "https://notify.example.com"
_BLOCK: Final = re.compile(
    r"(<!-- snippet:.*?-->\n\n```html\n).*?(\n```\n\n<!-- end of snippet)", re.DOTALL
)


def text(page: Path) -> str:
    """The page with the script element of the present version."""
    tag = embed.script_tag(PAGES[page], public_url=_URL)
    return _BLOCK.sub(lambda block: block[1] + tag + block[2], page.read_text())


def released(home: Path, *, tag: str) -> dict[str, bytes]:
    """Return the files that the release had as its present version, by name."""
    folder = (home / embed.CURRENT).relative_to(ROOT).as_posix()
    files = last_release.files(folder, of=tag)
    return {name: files[name].encode() for name in files if name.endswith(".js")}


def keep_released(tag: str) -> None:
    """Keep the files of the release in a folder with the name of the version, if they differ."""
    for home in embed.folders():
        files = released(home, tag=tag)
        version = embed.version_of(files)
        if files and version != embed.version_of(embed.files_of(home / embed.CURRENT)):
            (home / version).mkdir(exist_ok=True)
            for name, content in files.items():
                (home / version / name).write_bytes(content)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    django.setup()  # features have files
    for each in PAGES:
        each.write_text(text(each))
    if last := last_release.tag():
        keep_released(last)
