"""The table of docs/retention.md has each table whose rows are deleted by age."""

from __future__ import annotations

from tests.architecture import retention_page


def test_the_table_is_generated_from_the_code() -> None:
    hint = "run: python -m tests.architecture.retention_page"
    page = retention_page.PAGE.read_text()
    assert page == retention_page.text(page), hint
    assert "| `webhook_message` | `created_at` | 7 days |" in page
