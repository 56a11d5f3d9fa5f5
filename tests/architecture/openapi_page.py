"""Writes `docs/openapi.json` from the code: `python -m tests.architecture.openapi_page`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[2] / "docs"
PAGE: Final = DOCS / "openapi.json"
SERVER: Final = "https://notifications.company.example"
"""Stands for the address of an installation."""


def text() -> str:
    """The document as it has to be."""
    from notifications.core import conf  # noqa: PLC0415 - after Django is set up
    from notifications.core.api import schema  # noqa: PLC0415 - after Django is set up

    written = json.dumps(schema.document(), indent=1, ensure_ascii=False, default=str)
    return written.replace(conf.current().public_url, SERVER) + "\n"


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    django.setup()
    PAGE.write_text(text())
