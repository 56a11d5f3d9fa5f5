"""A value that was stored before its variable became sensitive is encrypted afterwards."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest
from cryptography.fernet import Fernet
from django.db import connection

from notifications.core import clock, conf
from notifications.core.delivery import deliver
from notifications.core.intake.accept import AcceptedRequest, Caller
from notifications.core.models import (
    DeadLetter,
    Delivery,
    Notification,
    Recipient,
    Schedule,
    SealingJob,
    Template,
    TemplateEvent,
)
from notifications.core.rules.problems import Kind
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.states import Status
from notifications.core.rules.templates import contents
from notifications.core.store.postgres import late_encryption, secret_variables
from notifications.core.store.templates import template_cache, versions
from notifications.features.schedules import changes, occurrences, sweep
from providers.contract import Accepted, Channel, Message, Outcome
from tests.journey import Accept, Reach, deliveries_of
from tests.vendors import Scripted

CODE = "Zaunkoenig4711"
_HOUR = dt.timedelta(hours=1)
Later = Callable[[dt.timedelta], None]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Move the clock on."""
    real = clock.now

    def move(by: dt.timedelta) -> None:
        monkeypatch.setattr(clock, "now", lambda: real() + by)

    return move


@pytest.fixture
def template(caller: Caller) -> Iterator[Template]:
    """Version 1 of `plain`, which keeps nothing sensitive."""
    del caller  # the world comes first
    yield _published(())
    template_cache.forget()


def _published(sensitive: tuple[str, ...]) -> Template:
    text = contents.words(Channel.EMAIL, "en", title="Hello", body="{{ name }}: {{ code }}")
    settings = {"variables": [], "default_locale": "en", "no_longer_sensitive": []}
    content = contents.content([text], {**settings, "sensitive_variables": list(sensitive)})
    made = versions.publish(versions.draft("plain", content, by="ana"), by="ben")
    template_cache.forget()
    return made


def _schedule(caller: Caller, **fields: object) -> Schedule:
    body = {"user_id": "maria", "type": "LIKE", "template_id": "plain", "channels": ["email"]}
    wanted = {**body, "variables": {"name": "Ana", "code": CODE}}
    return changes.create(
        caller,
        {
            "name": "daily",
            "rrule": "FREQ=HOURLY;BYMINUTE=0",
            "starts_at": clock.now(),
            "request": wanted,
            **fields,
        },
    )


def _in_clear() -> set[str]:
    """The tables in which the value stands."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT count(*) FROM {table} t WHERE t::text LIKE %s", [f"%{CODE}%"])  # noqa: S608 - a table's own name
            if cursor.fetchone()[0]:
                found.add(table)
    return found


def _work_off(limit: int = 100) -> None:
    while late_encryption.work_off(limit=limit) >= limit:
        pass


def _letter(delivery: Delivery, notification: Notification) -> DeadLetter:
    return DeadLetter.objects.create(
        delivery_id=delivery.pk,
        mode=delivery.mode,
        priority=2,
        channel=Channel.EMAIL,
        producer_id=notification.producer_id,
        recipient_id=notification.recipient_id,
        reason="permanent",
        detail="",
        snapshot={
            "template_id": "plain",
            "variables": notification.variables,
            "had_secrets": False,
        },
        created_at=clock.now(),
    )


def test_a_new_sensitive_variable_is_sealed_in_what_was_stored_before(
    caller: Caller, template: Template, reach: Reach, take: Accept, later: Later
) -> None:
    reach(email="maria@example.com")
    schedule = _schedule(caller)
    at = (clock.now() + 5 * _HOUR).isoformat()
    variables = {"name": "Ana", "code": CODE}
    [one_off] = deliveries_of(
        take(template_id="plain", variables=variables, scheduled_at=at, ttl_seconds=600)
    )
    notification = Notification.objects.get()
    letter = _letter(one_off, notification)
    before = {"notifications_schedule", "notifications_deadletter"}
    assert _in_clear() >= before

    _published(("code",))
    _work_off()
    assert _in_clear() >= before, "requests with the former version may still be coming"
    later(2 * dt.timedelta(minutes=1))
    _work_off(limit=1)

    assert _in_clear() == set()
    schedule.refresh_from_db()
    assert late_encryption.body_with_masks(schedule)["variables"] == {"name": "Ana", "code": MASK}
    assert late_encryption.body_of(schedule)["variables"] == variables
    notification.refresh_from_db()
    assert notification.variables == {"name": "Ana"}
    assert notification.secrets is not None
    assert secret_variables.decrypt(bytes(notification.secrets)).reveal() == {"code": CODE}
    letter.refresh_from_db()
    assert letter.snapshot["had_secrets"] is True
    job = SealingJob.objects.get()
    assert (job.schedules, job.notifications, job.dead_letters) == (1, 1, 1)
    assert job.finished_at is not None
    step = TemplateEvent.objects.order_by("-pk")[0]
    assert (step.template_id, step.version, step.verb) == ("plain", template.version + 1, "sealed")
    assert step.detail == "code: 1 schedules, 1 notifications, 1 dead letters"


def test_what_was_sealed_later_is_sent_with_its_value(
    caller: Caller, template: Template, scripted: Scripted, take: Accept, later: Later
) -> None:
    schedule = _schedule(caller)
    variables = {"name": "Ana", "code": CODE}
    [delivery] = deliveries_of(take(template_id="plain", variables=variables))
    _published(("code",))
    later(dt.timedelta(minutes=2))
    _work_off()
    assert template.version == 1
    assert _in_clear() == set()

    sent: list[str] = []

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        for each in batch:
            sent.append(each.body)
            yield each, Accepted()

    scripted.answer = answer
    deliver.deliver([delivery.pk])
    assert sent == [f"Ana: {CODE}"]
    made = sweep.run_once(now=clock.now(), limit=50).moved
    assert made > 20
    occurrence = Notification.objects.exclude(pk=Notification.objects.order_by("pk")[0].pk)[0]
    assert occurrence.secrets is not None
    assert secret_variables.decrypt(bytes(occurrence.secrets)).reveal() == {"code": CODE}
    assert _in_clear() == set()
    assert schedule.name == "daily"


def test_a_schedule_with_sealed_variables_is_paused_and_changed(
    caller: Caller, template: Template, reach: Reach, later: Later
) -> None:
    reach(email="maria@example.com")
    schedule = _schedule(caller)
    assert template.version == 1
    _published(("code",))
    changes.change(caller, schedule.pk, {"paused": True})  # the variables are not sealed yet
    later(dt.timedelta(minutes=2))
    _work_off()
    resumed = changes.change(caller, schedule.pk, {"paused": False})
    shown = late_encryption.body_with_masks(resumed)
    with pytest.raises(changes.ScheduleRefused):  # a mask is no value
        changes.change(caller, schedule.pk, {"request": shown})
    assert late_encryption.body_of(Schedule.objects.get())["variables"]["code"] == CODE
    mended = {**shown, "variables": {"name": "Ana"}, "template_id": "otp"}
    with pytest.raises(changes.ScheduleRefused) as refused:
        changes.change(caller, schedule.pk, {"request": mended})
    assert "needs this variable" in refused.value.problem.errors[0].detail


def test_a_value_of_a_lost_key_is_a_problem_that_says_so(
    caller: Caller,
    template: Template,
    reach: Reach,
    later: Later,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reach(email="maria@example.com")
    schedule = _schedule(caller)
    assert template.version == 1
    _published(("code",))
    later(dt.timedelta(minutes=2))
    _work_off()
    settings = replace(conf.current(), encryption_keys=(Fernet.generate_key().decode(),))
    with monkeypatch.context() as patch:
        patch.setattr(conf, "current", lambda: settings)
        secret_variables.forget()
        with pytest.raises(
            occurrences.UnreadableSchedule, match="is missing in NOTIFY_ENCRYPTION_KEYS"
        ):
            occurrences.materialise(schedule.pk, now=clock.now() + _HOUR)
        with pytest.raises(changes.ScheduleRefused) as refused:
            changes.change(caller, schedule.pk, {"paused": True})
    secret_variables.forget()
    assert refused.value.problem.kind is Kind.CONFLICT


def test_a_run_that_ends_in_the_middle_goes_on_where_it_stood(
    template: Template, reach: Reach, take: Accept, later: Later
) -> None:
    person: Recipient = reach(email="maria@example.com")
    for number in range(5):
        taken = take(template_id="plain", variables={"name": "Ana", "code": f"{CODE}{number}"})
        assert isinstance(taken, AcceptedRequest)
    _published(("code",))
    later(dt.timedelta(minutes=2))
    for done in (2, 4, 5):
        late_encryption.work_off(limit=2)
        assert SealingJob.objects.get().notifications == done
    assert Notification.objects.filter(recipient_id=person.pk, secrets=None).count() == 0
    values: list[Any] = [
        secret_variables.decrypt(bytes(row.secrets or b"")).reveal()["code"]
        for row in Notification.objects.order_by("pk")
    ]
    assert values == [f"{CODE}{number}" for number in range(5)]
    assert template.version == 1
    assert Delivery.objects.filter(status=Status.QUEUED).count() == 5
    assert CODE not in orjson.dumps(list(TemplateEvent.objects.values_list("detail"))).decode()
