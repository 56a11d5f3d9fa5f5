"""A mail of a process that stood still: no late final dot, and no failure of the server."""

from __future__ import annotations

from contextlib import closing
from time import monotonic
from uuid import uuid4

import pytest

from providers.contract import NotStarted, Outcome, Unavailable
from providers.email import smtp_delivery
from providers.email.smtp_delivery import Delivery
from providers.email.smtp_session import Envelope, Session
from providers.transport.loop import STANDSTILL
from tests.providers.email.test_smtp import SlowServer, adapter, outcomes, taking


@pytest.mark.parametrize("stood_still", [False, True])
def test_a_mail_whose_deadline_passed_within_the_content_never_gets_its_final_dot(
    monkeypatch: pytest.MonkeyPatch, *, stood_still: bool
) -> None:
    now = monotonic()
    monkeypatch.setattr(smtp_delivery, "monotonic", lambda: now)
    begun: list[bool] = []
    delivery = Delivery(
        delivery_id=uuid4(),
        on_begin=lambda: begun.append(True),
        begin_by=monotonic() + 60,
        deadline_seconds=0,
    )
    assert delivery.begin()
    assert not delivery.commit()
    assert not begun
    now += 2 * STANDSTILL * stood_still
    expected = NotStarted(code="not_started") if stood_still else Unavailable(code="not_sent")
    assert delivery.give_up().outcome == expected


def test_a_mail_that_a_standstill_ended_before_its_content_says_nothing_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = 0.0
    monkeypatch.setattr(smtp_delivery, "monotonic", lambda: monotonic() + late)
    send = Session._send_content

    def stand_still(session: Session, envelope: Envelope, *, delivery: Delivery) -> Outcome:
        nonlocal late
        late = 60.0
        return send(session, envelope, delivery=delivery)

    monkeypatch.setattr(Session, "_send_content", stand_still)
    with closing(SlowServer()) as server, closing(adapter(server.port)) as smtp:
        [found] = outcomes(smtp, [taking(1)], seconds=30)
    assert isinstance(found, NotStarted)
    assert not server.contents
