"""An adapter and its server, fresh for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from providers.email.ses import Ses
from providers.transport import Transport
from tests.providers.aws.fakes import AwsFake, SesSpeaker
from tests.providers.email.ses.world import made


@pytest.fixture
def server() -> Iterator[AwsFake]:
    with closing(AwsFake(SesSpeaker())) as it:
        yield it


@pytest.fixture
def provider(server: AwsFake, transport: Transport) -> Ses:
    return made(server, transport)
