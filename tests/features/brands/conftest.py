"""No brand of a test before is in the cache of the process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from notifications.features.brands import rows


@pytest.fixture(autouse=True)
def _fresh_brands() -> Iterator[None]:
    rows.forget()
    yield
    rows.forget()
