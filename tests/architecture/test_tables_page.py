"""The page about tables says what the models and the migrations say."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture import tables_page

_SQL = Path(__file__).parents[2] / "notifications/core/migrations" / "partitioned_tables.sql"


def test_the_page_is_generated_from_the_models() -> None:
    hint = "run: python -m tests.architecture.tables_page"
    assert tables_page.PAGE.read_text() == tables_page.text(), hint


def test_the_tables_marked_as_partitioned_are_those_of_the_migration() -> None:
    made = re.findall(r"CREATE TABLE (\w+) \((?:[^;]*)PARTITION BY", _SQL.read_text())
    assert sorted(made) == sorted(tables_page.PARTITIONED)
