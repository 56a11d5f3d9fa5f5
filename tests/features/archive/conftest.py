"""An archive in a folder, and days past retention with rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from notifications.core import clock, conf
from notifications.core.models import ArchiveDay
from notifications.core.store.postgres import secret_variables
from notifications.features.archive import keys
from notifications.features.archive.targets import Folder
from tests.old_days import drop_day
from tests.past_rows import fill

Configure = Callable[..., None]
DAY = dt.timedelta(days=1)


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Configure]:
    """Change settings, with all keys read again."""

    def change(**settings: object) -> None:
        changed = replace(conf.current(), **settings)  # type: ignore[arg-type]  # by name
        monkeypatch.setattr(conf, "current", lambda: changed)
        secret_variables.forget()
        keys.forget()

    yield change
    secret_variables.forget()
    keys.forget()


@pytest.fixture
def folder(tmp_path: Path, configure: Configure) -> Path:
    """The folder of the archive."""
    path = tmp_path / "archive"
    configure(archive_url=path.as_uri())
    return path


@pytest.fixture
def target(folder: Path) -> Folder:
    """The archive in the folder."""
    return Folder(folder)


@pytest.fixture
def day(transactional_db: None) -> Iterator[dt.date]:  # noqa: ARG001 - pytest-django asks for it by name
    """A day that retention has passed, with 40 notifications for 8 recipients."""
    made = clock.now().date() - conf.current().retention - 2 * DAY
    fill(made, notifications=40, people=8)
    yield made
    drop_day(made)
    ArchiveDay.objects.all().delete()
