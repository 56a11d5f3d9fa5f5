"""The first migration stays as it is from release 1.0 on: its name has the hash of its files.

`migrate` refuses the tables of a first migration with another name.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from notifications.core import migrations
from notifications.core.store.postgres import unapplied_migrations

_FOLDER = Path(migrations.__path__[0])
_FIRST = _FOLDER / f"{unapplied_migrations.FIRST}.py"


def _its_sql() -> set[Path]:
    return {_FOLDER / name for name in re.findall(r'_sql\("([^"]+)"\)', _FIRST.read_text())}


def test_the_name_of_the_first_migration_ends_with_the_hash_of_its_files() -> None:
    files = [_FIRST, *sorted(_its_sql())]
    digest = hashlib.sha256(b"\0".join(each.read_bytes() for each in files)).hexdigest()[:8]
    assert f"0001_initial_{digest}" == unapplied_migrations.FIRST, (
        "write a migration of your own: the first migration of release 1.0 stays as it is"
    )


def test_each_sql_file_belongs_to_a_migration() -> None:
    others = {each for each in _FOLDER.glob("*.sql") if not re.match(r"\d{4}_", each.name)}
    assert others == _its_sql(), (
        "give the SQL file of a later migration the number of the migration"
    )
