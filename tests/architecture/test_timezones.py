"""One module reads the tz database, so an unknown name has one meaning.

Postgres and Python have tz databases of their own; a name that one of them does not know fails the
whole statement, for every row.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
_READER: Final = _ROOT / "notifications" / "core" / "rules" / "times" / "local_time.py"
_IN_SQL: Final = re.compile(r"AT TIME ZONE (?!'UTC')|\btimezone\s*\((?!\))", re.IGNORECASE)
_IN_PYTHON: Final = re.compile(r"\bZoneInfo\(|available_timezones\(|AT TIME ZONE (?!'UTC')")


def test_no_statement_gives_postgres_a_stored_timezone() -> None:
    files = list((_ROOT / "notifications").rglob("*.sql"))
    assert files
    found = [each.name for each in files if _IN_SQL.search(each.read_text())]
    assert found == []


def test_one_module_reads_the_tz_database() -> None:
    files = [
        each
        for folder in ("notifications", "notifyproj", "providers")
        for each in (_ROOT / folder).rglob("*.py")
    ]
    found = [each for each in files if each != _READER and _IN_PYTHON.search(each.read_text())]
    assert found == []
