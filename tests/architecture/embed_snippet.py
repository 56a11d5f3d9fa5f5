"""Writes the script elements into the pages about the web components: `make embed`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Final

import django

from notifications.core.api import embed

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


def keep() -> None:
    """Keep the files of the present versions in folders with the names of the versions."""
    for home in embed.folders():
        files = embed.files_of(home / embed.CURRENT)
        folder = home / embed.version_of(files)
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    django.setup()  # features have files
    for each in PAGES:
        each.write_text(text(each))
    if "--keep" in sys.argv:
        keep()
