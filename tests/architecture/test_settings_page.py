"""The table of docs/settings.md has each setting with its default."""

from __future__ import annotations

from notifyproj.environment import Environment
from tests.architecture import settings_page


def test_the_table_is_generated_from_the_settings() -> None:
    hint = "run: python -m tests.architecture.settings_page"
    page = settings_page.PAGE.read_text()
    assert page == settings_page.text(page), hint
    assert all(f"| `{each.alias}` |" in page for each in Environment.model_fields.values())
