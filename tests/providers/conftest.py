"""What most adapters are tried with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from providers.transport import Transport


@pytest.fixture
def transport() -> Iterator[Transport]:
    with closing(Transport()) as it:
        yield it
