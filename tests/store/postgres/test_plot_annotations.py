"""Changes are read by kind and time, and a deploy is written once per release."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from notifications.core.models import (
    Breaker,
    BreakerEvent,
    BulkJob,
    Deploy,
    Producer,
    ProviderPace,
    Switch,
    TemplateEvent,
)
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.postgres import audit, plot_annotations
from notifications.core.store.postgres.plot_annotations import Annotation, Kind
from providers.contract import Channel

pytestmark = pytest.mark.django_db


def changes() -> list[Annotation]:
    now = clock.now()
    return plot_annotations.within(now - dt.timedelta(hours=1), now + dt.timedelta(seconds=1))


def test_a_release_is_written_when_it_changes() -> None:
    for release in ("1.8.0", "1.8.0", "1.9.0", "1.8.0", ""):
        plot_annotations.record_deploy(release)
    assert [row.release for row in Deploy.objects.order_by("id")] == ["1.8.0", "1.9.0", "1.8.0"]


def test_each_kind_of_change_is_found() -> None:
    plot_annotations.record_deploy("1.8.0")
    event = {"template_id": "order_ready", "version": 3, "by": "ana"}
    TemplateEvent.objects.create(verb=TemplateEvent.Verb.PUBLISHED, **event)
    TemplateEvent.objects.create(verb=TemplateEvent.Verb.EDITED, **event)
    pair = {"provider": "smtp", "channel": Channel.EMAIL}
    BreakerEvent.objects.create(kind=BreakerEvent.Kind.TRIPPED, detail="5 failures", **pair)
    BreakerEvent.objects.create(kind=BreakerEvent.Kind.PROBED, **pair)
    with audit.changes("ana", "change_providerpace", ProviderPace.objects.all()):
        ProviderPace.objects.create(provider="smtp", burst=1, per_second=1)
    with audit.changes("ana", "force_breaker", Breaker.objects.all()):
        Breaker.objects.create(**pair)  # the event above says so already
    found = {each.kind: each.label for each in changes()}
    assert found == {
        Kind.DEPLOY: "Release 1.8.0",
        Kind.TEMPLATE: "order_ready v3 published",
        Kind.BREAKER: "smtp email paused",
        Kind.SETTINGS: "change providerpace: smtp",
    }
    assert len(changes()) == len(found)


def test_an_older_change_is_left_out() -> None:
    plot_annotations.record_deploy("1.8.0")
    Deploy.objects.update(at=clock.now() - dt.timedelta(hours=2))
    assert changes() == []


@pytest.mark.parametrize("was_paused", [False, True])
def test_a_cancelled_bulk_job_is_named_and_not_called_resumed(*, was_paused: bool) -> None:
    job = BulkJob.objects.create(
        producer=Producer.objects.create(name="shop"),
        name="Autumn",
        state=BulkJobState.CANCELLED,
        state_changed_at=clock.now(),
        state_changed_by="marketing",
        audience={"everyone": True},
        type="PROMO",
        template_id="sale",
        template=1,
        spread="first",
        starts_at=clock.now(),
        created_at=clock.now(),
        created_by="nk_live_1",
    )
    switch = Switch.objects.create(
        kind=SwitchKind.BULK_JOB,
        value=str(job.pk),
        reason="wrong text",
        set_by="ana",
        resumed_at=clock.now(),
        resumed_by="nk_live_1",
    )
    if was_paused:
        Switch.objects.filter(pk=switch.pk).update(set_at=clock.now() - dt.timedelta(minutes=9))
    found = [(each.label, each.detail) for each in changes()]
    assert found == [
        ("Bulk job Autumn cancelled", "by marketing"),
        *([("Bulk job Autumn paused", "by ana: wrong text")] if was_paused else []),
    ]
