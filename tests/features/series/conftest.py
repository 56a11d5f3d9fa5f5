"""A series of a producer, and recipients in the series."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from notifications.core import clock
from notifications.core.intake.accept import Caller
from notifications.core.models import Producer, Template
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Problem
from notifications.core.store.templates import template_cache
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept
from notifications.features.series import enrolments, events, programs, sweep, versions
from notifications.features.series.enrolments import Person
from notifications.features.series.models import Series
from notifications.features.series.rules.custom_events import CustomEventRequest
from providers.contract import Channel
from tests.journey import caller, reach

__all__ = ["caller", "reach"]

MakeSeries = Callable[..., Series]


def send(name: str, **fields: object) -> dict[str, Any]:
    """Return a send step."""
    step = {"step": "send", "name": name, "type": "LIKE", "template_id": "hello"}
    return {**step, "channels": ["email"], **fields}


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A sweep gets as far on a slow machine as on a fast one; ids of versions begin anew."""
    monkeypatch.setattr(rounds, "SECONDS", 60.0)
    programs.of_version.cache_clear()
    yield
    programs.of_version.cache_clear()


@pytest.fixture
def make(caller: Caller) -> MakeSeries:
    """Return a function that publishes a series."""
    template = Template.objects.create(template_id="hello")
    template.texts.create(channel=Channel.EMAIL, title="Hello", body="Hello {{ name }}")
    Template.objects.filter(pk=template.pk).update(published_at=clock.now())
    template_cache.forget()

    def publish(*steps: dict[str, Any], name: str = "onboarding", **fields: object) -> Series:
        made = versions.create(caller, name, {"steps": list(steps), **fields})
        assert isinstance(made, Series), made
        published = versions.publish(caller, made, by="tests")
        assert isinstance(published, Series), published
        return published

    return publish


def enrol(series: Series, *user_ids: str, **context: object) -> list[enrolments.EnrolResult]:
    """Enrol recipients with the same context."""
    people = [Person(each, {"name": "Ana", **context}) for each in user_ids]
    found = enrolments.enrol(series, people, by="tests")
    assert not isinstance(found, Problem), found
    return found


def sweep_once(*, later: dt.timedelta = dt.timedelta(0), limit: int = 50) -> Swept:
    """Run the sweep at a later time."""
    return sweep.run_once(now=clock.now() + later, limit=limit)


def post(name: str, user_id: str = "maria", /, **properties: object) -> events.PostResult:
    """Post an event of the only producer."""
    producer = Producer.objects.get()
    event = CustomEventRequest(name=name, user_id=user_id, properties=properties)
    return events.post(producer.pk, Mode.LIVE, [event])[0]
