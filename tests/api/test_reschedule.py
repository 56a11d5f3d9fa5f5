"""Another time for a scheduled notification, over HTTP."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from tests.api.conftest import Caller

MESSAGE = {
    "user_id": "maria",
    "type": "DIGEST",
    "priority": "P3",
    "content": {"body": "Hello"},
    "channels": ["email"],
}


@pytest.mark.usefixtures("maria")
def test_a_scheduled_notification_moves_until_it_is_cancelled(caller: Caller) -> None:
    at = clock.now() + dt.timedelta(hours=3)
    made = caller.post("/v1/notifications", {**MESSAGE, "send_at_local": "09:00"}).json()
    one = f"/v1/notifications/{made['notification_id']}"
    moved = caller.send("PATCH", one, {"scheduled_at": at.isoformat()})
    assert moved.status_code == 200, moved.content
    assert dt.datetime.fromisoformat(moved.json()["scheduled_at"]) == at
    assert moved.json()["timeline"][-1]["reason"] == "rescheduled"
    assert caller.send("PATCH", one, {}).status_code == 422
    caller.post(f"{one}/cancel")
    assert caller.send("PATCH", one, {"send_at_local": "10:00"}).status_code == 409
