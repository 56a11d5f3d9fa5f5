"""[archive] Rows a second from the partitions of a day to verified Parquet files.

The baseline is `COPY TO` CSV of the same partitions into a file of the same disk. The day has one
delivery, one attempt and four events for each notification, and 2,000 recipients.
"""

from __future__ import annotations

import datetime as dt
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_NOTIFICATIONS: Final = 200_000
_PEOPLE: Final = 2_000
_AGE: Final = dt.timedelta(days=2)
"""Of the day, beyond the retention."""
_TARGET: Final = 0.5


def measure(stage: Stage) -> Figure:
    """Measure archive; no process of the service runs, so no sweep works on the day."""
    from notifications.core import clock, conf  # noqa: PLC0415 - after Django is set up

    notifications = stage.size(_NOTIFICATIONS)
    day = clock.now().date() - conf.current().retention - _AGE
    with tempfile.TemporaryDirectory(prefix="benchmark-archive-") as name:
        folder = Path(name)
        rows = _fill(stage, day, notifications)
        sizes: list[int] = []
        try:
            found = paired(
                ours=lambda: rows / _archive(day, folder, sizes),
                theirs=lambda: rows / _copy(stage, day, folder / "rows.csv"),
            )
        finally:
            _drop(stage, day)
    return Figure(
        name="archive",
        value=found.ours,
        unit="rows a second to verified Parquet",
        baseline="rows a second, COPY TO CSV",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_TARGET}x",
        met=found.ratio >= _TARGET,
        notes=(
            f"{notifications:,} notifications, {rows:,} rows",
            f"{sizes[-1] / notifications:.0f} bytes a notification",
        ),
    )


def _fill(stage: Stage, day: dt.date, notifications: int) -> int:
    """Write the day; returns the number of rows."""
    from notifications.core.store.postgres.partitions import TABLES  # noqa: PLC0415 - as above
    from tests.past_rows import fill  # noqa: PLC0415 - as above

    fill(day, notifications=notifications, people=_PEOPLE)
    rows = 0
    with stage.database() as link:
        for table in TABLES:
            part = f"{table}_{day:%Y%m%d}"
            link.execute(f"VACUUM ANALYZE {part}")
            (count,) = link.execute(f"SELECT count(*) FROM {part}").fetchone() or (0,)  # noqa: S608 - a table of ours and a date
            rows += count
    return rows


def _archive(day: dt.date, folder: Path, sizes: list[int]) -> float:
    """Export and verify the day as the sweep does; returns the seconds."""
    from notifications.core.models import ArchiveFile  # noqa: PLC0415 - as above
    from notifications.core.store.postgres.past_days import Lease  # noqa: PLC0415 - as above
    from notifications.features.archive import days  # noqa: PLC0415 - as above
    from notifications.features.archive.targets import Folder  # noqa: PLC0415 - as above

    began = time.perf_counter()
    with Lease(day) as lease:
        days.export_and_verify(lease, Folder(folder))
    seconds = time.perf_counter() - began
    files = ArchiveFile.objects.filter(day_id=day)
    sizes.append(sum(files.values_list("bytes", flat=True)))
    files.delete()
    return seconds


def _copy(stage: Stage, day: dt.date, path: Path) -> float:
    """Copy the day to a CSV file; returns the seconds."""
    from notifications.core.store.postgres.partitions import TABLES  # noqa: PLC0415 - as above

    with stage.database() as link, path.open("wb") as file:
        began = time.perf_counter()
        for table in TABLES:
            statement = f"COPY {table}_{day:%Y%m%d} TO STDOUT (FORMAT csv)"
            with link.cursor() as running, running.copy(statement) as rows:
                for row in rows:
                    file.write(row)
        return time.perf_counter() - began


def _drop(stage: Stage, day: dt.date) -> None:
    from notifications.core.models import ArchiveDay  # noqa: PLC0415 - as above
    from notifications.core.store.postgres.partitions import TABLES  # noqa: PLC0415 - as above

    ArchiveDay.objects.filter(day=day).delete()
    with stage.database() as link:
        for table in TABLES:
            link.execute(f"DROP TABLE IF EXISTS {table}_{day:%Y%m%d}")
