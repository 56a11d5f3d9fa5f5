"""The producer of the messages that become digests."""

from __future__ import annotations

import pytest

from notifications.core.intake.accept import Caller
from notifications.core.models import Producer
from notifications.core.rules.lane import Mode, Priority


@pytest.fixture
def caller(db: None) -> Caller:  # noqa: ARG001 - pytest-django asks for it by name
    return Caller(
        producer_id=Producer.objects.create(name="likes").pk,
        mode=Mode.LIVE,
        priorities=frozenset(Priority),
        may_send_content=True,
    )
