"""The list of slow tests names tests that exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests import slow_tests

_ROOT = Path(__file__).resolve().parents[2]
_BROWSER = re.compile(r"^from (selenium|tests\.admin\.test_browser)\b", re.MULTILINE)


@pytest.mark.parametrize(
    "listed", [*slow_tests.SLOW, *(f"tests/scenarios/{one}" for one in slow_tests.CHOSEN.values())]
)
def test_each_listed_test_exists(listed: str) -> None:
    path, _, name = listed.partition("::")
    assert (_ROOT / path).exists()
    assert not name or f"def {name}" in (_ROOT / path).read_text()


def test_three_days_run_each_slow_test(request: pytest.FixtureRequest) -> None:
    known = [each.nodeid for each in request.session.items if each.get_closest_marker("slow")]
    kept: list[str] = []
    for third in range(3):
        items = list(request.session.items)
        left = slow_tests.leave_out(items, third=third)
        assert {*items, *left} == {*request.session.items}
        assert all(each.get_closest_marker("slow") for each in left)
        kept += [each.nodeid for each in items if each.get_closest_marker("slow")]
    assert set(kept) == set(known)


def test_the_slow_files_of_a_third_are_a_third() -> None:
    files = [each.relative_to(_ROOT) for each in (_ROOT / "tests" / "scenarios").glob("test_*.py")]
    counts = Counter(slow_tests.third_of(str(each)) for each in files)
    assert all(len(files) / 4 < counts[third] < len(files) / 2 for third in range(3))


def test_a_file_with_tests_in_a_browser_is_listed() -> None:
    others = [path for path in (_ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    browsers = [
        str(path.relative_to(_ROOT)) for path in others if _BROWSER.search(path.read_text())
    ]
    listed = tuple(each.partition("::")[0] for each in slow_tests.SLOW)
    assert [name for name in browsers if not name.startswith(listed)] == []
    assert "tests/admin/test_browser.py" in browsers
