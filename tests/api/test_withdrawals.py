"""`POST /v1/notifications/{id}/withdraw`: what can be removed, and what cannot."""

from __future__ import annotations

import pytest

from notifications.core.models import AuditEntry, Delivery, Withdrawal
from notifications.core.rules.states import Status
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller
from tests.api.test_notifications import _post

pytestmark = pytest.mark.usefixtures("maria")


def test_a_sent_push_is_withdrawn_once(caller: Caller) -> None:
    path = f"/v1/notifications/{_post(caller)['notification_id']}/withdraw"
    Delivery.objects.update(status=Status.SENT, due_at=None, channel=Channel.PUSH)
    answer = caller.post(path)
    assert answer.status_code == 202
    [delivery] = answer.json()["deliveries"]
    assert (delivery["status"], delivery["withdrawal"]) == ("sent", "withdrawing")
    assert caller.post(path).json()["deliveries"] == [delivery]
    assert Withdrawal.objects.count() == 1
    assert AuditEntry.objects.filter(operation="withdraw_notification").count() == 1
    events = caller.get(path.removesuffix("/withdraw")).json()["timeline"]
    [event] = [each for each in events if each["reason"] == "withdrawing"]
    assert event["status"] is None


def test_an_email_that_was_sent_cannot_be_withdrawn(caller: Caller) -> None:
    path = f"/v1/notifications/{_post(caller)['notification_id']}/withdraw"
    Delivery.objects.update(status=Status.SENT, due_at=None)
    [delivery] = caller.post(path).json()["deliveries"]
    assert delivery["withdrawal"] == "unsupported"
    assert delivery["detail"].startswith("The channel")
    assert not Withdrawal.objects.exists()


def test_what_has_not_left_is_cancelled(caller: Caller) -> None:
    path = f"/v1/notifications/{_post(caller)['notification_id']}/withdraw"
    answer = caller.post(path).json()
    assert answer["status"] == "cancelled"
    assert answer["deliveries"][0]["withdrawal"] == "not_sent"


def test_another_producers_notification_is_not_withdrawn(
    caller: Caller, make_caller: MakeCaller
) -> None:
    path = f"/v1/notifications/{_post(caller)['notification_id']}/withdraw"
    assert make_caller("marketing").post(path).status_code == 404
    assert Delivery.objects.get().status == Status.QUEUED
