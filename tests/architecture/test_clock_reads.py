"""No code keeps a time that it read earlier, and no test fails at an hour of the day."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.architecture.clock_reads import Source, mentions_clock
from tests.architecture.repository import CODE, ROOT, python_files

_DUE_BY_THE_HOST: Final = re.compile(r"\.update\([^()]*due_at=clock\.now\(\)[,)]")


@pytest.fixture(scope="module")
def sources() -> dict[str, Source]:
    """The modules that mention a clock, by path."""
    texts = {path: (ROOT / path).read_text() for path in python_files(*CODE)}
    return {path: Source(text) for path, text in texts.items() if mentions_clock(text)}


def test_no_module_keeps_a_time_that_it_read(sources: dict[str, Source]) -> None:
    found = [
        f"{path}, {line}"
        for path, source in sources.items()
        for line in (*source.at_import(), *source.kept())
    ]
    assert len(sources) > 100
    assert found == [], (
        "read the clock where the time is used: a value of the import is hours old in a process"
        " that runs for days, and a test with another clock does not reach it"
    )


def test_no_test_joins_the_real_day_with_a_literal_hour(sources: dict[str, Source]) -> None:
    found = [
        f"{path}, {line}"
        for path, source in sources.items()
        if path.startswith("tests/")
        for line in source.beside_literal_hours()
    ]
    assert found == [], (
        "take a fixed instant, and hand it to the code as its time; or take a distance from now"
    )


@pytest.mark.parametrize(
    "code",
    [
        "NOW = clock.now()",
        "NOW: Final = dt.datetime.now(dt.UTC)",
        "from time import time\nBEGAN = int(time())",
        "from notifyproj.devstack.demo.environment import now\nBEGAN = now()",
        "class Row:\n    today = date.today()",
        "@dataclass\nclass Question:\n    now: datetime = field(default_factory=clock.now)",
        "at = DateTimeField(default=timezone.now)",
        "def look(at=timezone.now()): ...",
        "def look(*, at=clock.now() - DAY): ...",
        "look = lambda at=time.time(): at",
        "def look():\n    def inner(at=clock.now()): ...",
        "@parametrize('at', [clock.now() + DAY])\ndef test(at): ...",
        "def _day():\n    return _now()\ndef _now():\n    return clock.now()\nTODAY = _day()",
        "@cache\ndef today():\n    return clock.now().date()",
        "class Row:\n    @cached_property\n    def age(self):\n        return clock.now()",
        "@pytest.fixture(scope='session')\ndef now():\n    return clock.now()",
    ],
)
def test_a_kept_time_is_found(code: str) -> None:
    source = Source(code)
    assert mentions_clock(code)
    assert len([*source.at_import(), *source.kept()]) == 1


@pytest.mark.parametrize(
    "code",
    [
        "OPENS = dt.time(8)",
        "now = field(default_factory=lambda: clock.now())",
        "now = field(default_factory=_soon)\ndef _soon():\n    return clock.now() + HOUR",
        "def make(*, now: clock.Clock = clock.now): ...",
        "def look():\n    began = clock.monotonic()",
        "@lru_cache(maxsize=1)\ndef read(minute):\n    return clock.now().date()",
        "def main():\n    time.time()\nif __name__ == '__main__':\n    main()",
    ],
)
def test_a_time_that_is_read_when_it_is_used_is_allowed(code: str) -> None:
    source = Source(code)
    assert [*source.at_import(), *source.kept()] == []


@pytest.mark.parametrize(
    "line",
    [
        "noon = clock.now().replace(hour=12, minute=0)",
        "noon = now.astimezone(ZONE).replace(hour=12)",
        "at = dt.datetime.combine(now.date(), dt.time(10, 30), dt.UTC)",
        "at = dt.datetime.combine(today, dt.time(10, 30), dt.UTC)",
        "at = Step.DAY.floor(clock.now()) + dt.timedelta(hours=10)",
        "assert clock.now().hour < 22",
        "assert now.weekday() == 4",
    ],
)
def test_the_real_day_with_a_literal_hour_is_found(line: str) -> None:
    code = f"def test():\n    now = clock.now() + DAY\n    today = now.date()\n    {line}"
    assert len(list(Source(code).beside_literal_hours())) == 1


@pytest.mark.parametrize(
    "line",
    [
        "midnight = now.replace(hour=0, minute=0)",
        "midnight = dt.datetime.combine(now.date(), dt.time(), dt.UTC)",
        "earlier = Step.DAY.floor(now) - dt.timedelta(days=2)",
        "assert row.due_at.hour == 9",
        "noon = dt.datetime(2026, 6, 10, 12, tzinfo=dt.UTC)",
    ],
)
def test_a_midnight_and_a_fixed_instant_are_allowed(line: str) -> None:
    code = f"def test():\n    now = clock.now() + DAY\n    {line}"
    assert list(Source(code).beside_literal_hours()) == []


def test_a_test_makes_a_row_due_by_the_clock_of_the_transaction() -> None:
    texts = {path: (ROOT / path).read_text() for path in python_files("tests")}
    assert [path for path, text in texts.items() if _DUE_BY_THE_HOST.search(text)] == [], (
        "write TransactionNow(): `now()` of Postgres stands still in the transaction of a test, so"
        " a test that takes seconds would never find its row due"
    )
