"""A changed first migration has another name: `migrate` refuses the tables of the former one."""

from __future__ import annotations

import hashlib
from pathlib import Path

from notifications.core import migrations
from notifications.core.store.postgres import first_migration

_FOLDER = Path(migrations.__path__[0])


def test_the_name_of_the_first_migration_ends_with_the_hash_of_its_files() -> None:
    first = _FOLDER / f"{first_migration.NAME}.py"
    files = [first, *sorted(_FOLDER.glob("*.sql"))]
    digest = hashlib.sha256(b"\0".join(each.read_bytes() for each in files)).hexdigest()[:8]
    named = f"0001_initial_{digest}"
    assert first.stem == named, f"git mv {first.name} {named}.py"
