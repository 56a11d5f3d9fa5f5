"""The tables of docs/settings.md have each setting with its default."""

from __future__ import annotations

from notifyproj.environment import Environment
from providers import registry
from tests.architecture import compose, settings_page


def test_the_tables_are_generated_from_the_settings() -> None:
    hint = "run: python -m tests.architecture.settings_page"
    page = settings_page.PAGE.read_text()
    assert page == settings_page.text(page), hint
    names = {str(each.alias) for each in Environment.model_fields.values()}
    missing = [each for each in names | registry.settings_names() if f"| `{each}` |" not in page]
    assert missing == []


def test_the_variables_of_compose_are_on_the_page() -> None:
    page = settings_page.PAGE.read_text()
    assert [each for each in compose.variables() if f"`{each}`" not in page] == []
