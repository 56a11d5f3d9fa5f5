"""Dead letters that an operator must know of."""

from __future__ import annotations

from uuid import uuid4

import pytest

from notifications.core import clock
from notifications.core.models import Alert, DeadLetter
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode, Priority
from notifications.core.sweeps import dead_letters
from providers.contract import Channel

pytestmark = pytest.mark.django_db


def _letter(priority: Priority, mode: Mode = Mode.LIVE) -> DeadLetter:
    return DeadLetter.objects.create(
        delivery_id=uuid4(),
        mode=mode,
        priority=priority,
        channel=Channel.EMAIL,
        producer_id=1,
        recipient_id=1,
        reason="retries_exhausted",
        snapshot={},
        created_at=clock.now(),
    )


def _urgent() -> list[str]:
    dead_letters.run_once(now=clock.now(), limit=10)
    found = Alert.objects.filter(kind=AlertKind.URGENT_DEAD_LETTERS, resolved_at=None)
    return list(found.values_list("detail", flat=True))


@pytest.mark.parametrize("priority", [Priority.P0, Priority.P1])
def test_each_open_letter_of_p0_or_p1_is_an_alert_until_it_is_resolved(priority: Priority) -> None:
    letter = _letter(priority)
    assert _urgent() == [
        "1 open dead letters of P0 and P1 (retries_exhausted 1): replay or discard them"
    ]
    letter.resolved_at = clock.now()
    letter.save()
    assert _urgent() == []


def test_others_are_not() -> None:
    _letter(Priority.P2)
    _letter(Priority.P0, Mode.TEST)
    assert _urgent() == []
