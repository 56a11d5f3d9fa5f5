"""The onboarding and the reminder of docs/series.md run as the page says."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from notifications.core import clock
from notifications.core.models import Delivery, Notification, NotificationType, Recipient, Template
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifications.core.store.cached import notification_types
from notifications.core.store.templates import template_cache
from notifications.features.series import programs, sweep
from providers.contract import Channel
from tests.api.conftest import Caller, caller, make_caller, maria

__all__ = ["caller", "make_caller", "maria"]

_PAGE: Final = (Path(__file__).parents[4] / "docs" / "series.md").read_text()
_ONBOARDING, _REMINDER = (
    orjson.loads(each) for each in re.findall(r"```json\n(.*?)```", _PAGE, re.DOTALL)
)


@pytest.fixture(autouse=True)
def _templates(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    programs.of_version.cache_clear()
    template_cache.forget()
    notification_types.forget()
    for name in ("WELCOME", "REMINDER"):
        NotificationType.objects.create(name=name, priority=Priority.P2)
    for name in ("welcome", "tips", "reminder"):
        made = Template.objects.create(template_id=name)
        made.texts.create(channel=Channel.EMAIL, title="Hello", body="Hello")
        Template.objects.filter(pk=made.pk).update(published_at=clock.now())


def _publish(caller: Caller, definition: dict[str, Any]) -> None:
    body = {"name": "example", "definition": definition}
    assert caller.post("/v1/series", body).status_code == 201
    answer = caller.post("/v1/series/example/publish", {})
    assert answer.status_code == 200, answer.content


def _post(caller: Caller, name: str) -> None:
    body = {"events": [{"name": name, "user_id": "maria"}]}
    assert caller.post("/v1/events", body).json()["results"] == [{"result": "accepted"}]


def _sweep(later: dt.timedelta = dt.timedelta(0)) -> None:
    for _ in range(3):
        sweep.run_once(now=clock.now() + later, limit=50)


def _sent() -> list[str]:
    return [each.metadata["series_step"] for each in Notification.objects.order_by("id")]


@pytest.mark.parametrize("is_read", [True, False])
def test_the_onboarding(caller: Caller, maria: Recipient, is_read: bool) -> None:  # noqa: FBT001 - a parameter of the test
    del maria
    _publish(caller, _ONBOARDING)
    _post(caller, "signed_up")
    _sweep()
    assert _sent() == ["welcome"]
    if is_read:
        Delivery.objects.update(status=Status.READ, due_at=None)
    _sweep(dt.timedelta(hours=20))
    assert _sent() == ["welcome"]
    _sweep(dt.timedelta(days=5))
    assert _sent() == ["welcome", "tips" if is_read else "again"]


@pytest.mark.parametrize("is_paid", [True, False])
def test_the_reminder(caller: Caller, maria: Recipient, is_paid: bool) -> None:  # noqa: FBT001 - a parameter of the test
    del maria
    _publish(caller, _REMINDER)
    _post(caller, "cart_left")
    _sweep()
    if is_paid:
        _post(caller, "order_paid")
    _sweep(dt.timedelta(hours=21))
    assert _sent() == ([] if is_paid else ["reminder"])
