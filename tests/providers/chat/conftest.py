"""The stand-in for all chat services."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.providers.answering import AnsweringFake
from tests.providers.chat.services_fake import ACCEPTED, telegram_fake


@pytest.fixture
def server() -> Iterator[AnsweringFake]:
    with closing(telegram_fake()) as it:
        it.answer = ACCEPTED
        yield it
