"""The rules with their own constants."""

from __future__ import annotations

import pytest


@pytest.fixture
def wide_lanes() -> None:
    """Keep the window of a lane; replaces the fixture of `tests/features/bulk_jobs`."""
