"""The service runs without each feature, and without the features that need it.

Requests, links, sweeps, admin pages and erasures are tried.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import orjson
import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import override_settings

from notifications.core import clock, feature
from notifications.core.api import schema
from notifications.core.models import (
    Attempt,
    Audience,
    Budget,
    BulkJob,
    BulkJobFigure,
    CancelJob,
    Contact,
    Inbox,
    InboxItem,
    NotificationType,
    Occurrence,
    Producer,
    Recipient,
    Schedule,
    Template,
)
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.bulk_job import BulkJobState, Total
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.roles import ROLES
from notifications.core.rules.states import Status
from notifications.core.store.postgres import alerts
from notifications.features.series.models import CustomEvent
from providers.contract import Channel
from tests.features import without_feature

_ROUTES: Final = {"NOTIFY_ROUTES": "in_app=inbox,email=sandbox"}
_ROOT: Final = Path(__file__).resolve().parents[2]
_OF_CORE: Final = {"sweep_archive", "sweep_lane_lag"}
"""Sweeps of the core that a sweep of a feature replaces: the core drops days and samples lags."""
FEATURES: Final = [each.label for each in feature.all_features()]
_THIRD = os.environ.get("TEST_FEATURES_THIRD")
_FIRST, _STEP = (int(_THIRD), 3) if _THIRD else (0, 1)
"""`.ci/run` tries a third of the features, another one on each of three days."""


def _removed_with(name: str) -> list[feature.Feature]:
    """Return a feature and its dependents."""
    return [each for each in feature.all_features() if name in {each.label, *each.needs}]


def _labels(removed: list[feature.Feature]) -> str:
    return ",".join(each.label for each in removed)


def _run_without(names: str, *, empty_database: str, sandbox: str) -> dict[str, Any]:
    """Run tests/features/without_feature.py, and return the facts that the program prints."""
    databases = {
        "WITHOUT_DATABASE": str(connection.settings_dict["NAME"]),
        "WITHOUT_EMPTY_DATABASE": empty_database,
    }
    ran = subprocess.run(
        [sys.executable, "-m", "tests.features.without_feature", names],
        env={
            **os.environ,
            **without_feature.PROVIDER,
            **_ROUTES,
            **databases,
            "NOTIFY_SANDBOX_URL": sandbox,
        },
        cwd=_ROOT,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()[-3_000:]
    facts: dict[str, Any] = orjson.loads(ran.stdout.splitlines()[-1])
    return facts


@pytest.fixture
def empty_database(name: str) -> Iterator[str]:
    database = f"without_{name}"
    with connection.cursor() as running:
        running.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
        running.execute(f"CREATE DATABASE {database}")
    yield database
    with connection.cursor() as running:
        running.execute(f"DROP DATABASE {database} WITH (FORCE)")


@pytest.fixture
def leaving() -> Recipient:
    """A recipient with rows of features, and what the program needs: producer, template, alerts."""
    with override_settings(PASSWORD_HASHERS=without_feature.QUICK_HASHERS):
        User.objects.create_superuser("without", password="a-long-password")
    producer = Producer.objects.create(name="without", may_send_content=True)
    NotificationType.objects.create(name="WITHOUT", priority=Priority.P1)
    template = Template.objects.create(template_id="links")
    template.texts.create(
        channel=Channel.EMAIL, title="Links", body="{{ unsubscribe_url }} {{ preferences_url }}"
    )
    Template.objects.filter(pk=template.pk).update(published_at=clock.now())
    recipient = Recipient.objects.create(user_id="leaving", mode=Mode.LIVE)
    Contact.objects.create(
        recipient=recipient, channel=Channel.EMAIL, address="leaving@sandbox.example"
    )
    CustomEvent.objects.create(
        producer=producer,
        recipient=recipient,
        user_id="leaving",
        name="order_paid",
        occurred_at=clock.now(),
        received_at=clock.now(),
    )
    schedule = Schedule.objects.create(
        producer=producer,
        name="daily",
        rrule="FREQ=DAILY",
        starts_at=clock.now(),
        due_at=clock.now(),
        request={"user_id": "leaving"},
    )
    Occurrence.objects.create(schedule=schedule, local_at="2026-11-27T09:00:00", at=clock.now())
    for kind in AlertKind:
        alerts.raise_once(kind, "12", "the pages of alerts have no dead link")
    _add_jobs(producer)
    _add_item(recipient)
    return recipient


def _add_item(recipient: Recipient) -> None:
    """A message that is in the inbox since the app of the inbox was installed."""
    Inbox.objects.create(recipient_id=recipient.pk, version=1, unseen=1, unread=1, total=1)
    InboxItem.objects.create(
        id=uuid4(),
        recipient_id=recipient.pk,
        notification_id=uuid4(),
        type="WITHOUT",
        category="",
        title="Hello",
        body="Hello",
        created_at=clock.now(),
        added_version=1,
        version=1,
    )


def _add_jobs(producer: Producer) -> None:
    """Finished jobs and a saved audience, which name the recipient."""
    expression = {"user_ids": ["leaving", "staying"]}
    Audience.objects.create(name="two", mode=Mode.LIVE, expression=expression)
    job = BulkJob.objects.create(
        producer=producer,
        mode=Mode.LIVE,
        name="Menu",
        state=BulkJobState.FINISHED,
        audience=expression,
        type="WITHOUT",
        template_id="menu",
        template=1,
        spread="first",
        starts_at=clock.now(),
        created_at=clock.now(),
        started_at=clock.now(),
        finished_at=clock.now(),
    )
    BulkJobFigure.objects.create(job=job, kind="total", name=Total.COST_MICROS, count=5_000)
    CancelJob.objects.create(
        requested_by="without",
        metadata={"user": "leaving"},
        finished_at=clock.now(),
        **dict.fromkeys(("after", "first", "until"), clock.new_notification_id()),
    )


def _sent(*, has_inbox: bool) -> list[list[str]]:
    """Return statuses and reasons of the in-app message and of the e-mail."""
    waits = [Status.SCHEDULED.name, Reason.NO_PROVIDER]
    sent = [Status.SENT.name, ""]
    return [sent if has_inbox else waits, sent]


def _inbox_pages(*, has_inbox: bool) -> dict[str, int]:
    code = 200 if has_inbox else 404
    of_inbox = dict.fromkeys(("/demo/inbox", "/embed/latest/notify-inbox.js"), code)
    return {**of_inbox, "/embed/latest/notify-push.js": 200}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("leaving")
@pytest.mark.parametrize("name", FEATURES[_FIRST::_STEP])
def test_the_service_runs_without_the_feature_and_makes_its_tables(
    name: str, empty_database: str, sandbox: str
) -> None:
    removed = _removed_with(name)
    if name == "money":
        Budget.objects.create(channel=Channel.EMAIL, amount_micros=0, is_hard=True)
    facts = _run_without(_labels(removed), empty_database=empty_database, sandbox=sandbox)
    assert facts["sent"] == _sent(has_inbox=name != "inbox")
    assert facts["inbox_pages"] == _inbox_pages(has_inbox=name != "inbox")
    assert set(facts["links"].values()) == {200}
    assert {each: count for each, count in facts["failed"].items() if count} == {}
    assert {page: code for page, code in facts["pages"].items() if code not in {200, 302}} == {}
    assert facts["dead_links"] == {}
    assert facts["cancelled"] == "cancelled"
    assert facts["has_button"] == (name != "single_sign_on")
    documented = set(schema.document()["paths"])
    own = {str(each.pattern) for found in removed for each in found.url_patterns()}
    own_paths = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", f"/{each}") for each in own}
    assert documented - set(facts["paths"]) == documented & own_paths
    of_removed = {kind for found in removed for kind, _ in found.alert_pages}
    assert set(AlertKind) - set(facts["linked"]) == of_removed
    assert set(facts["open_alerts"]) - of_removed == set(facts["open_alerts"]) != set()
    assert facts["scopes"] == without_feature.scopes()
    own_sweeps = {f"sweep_{each.name}" for found in removed for each in found.sweeps}
    assert own_sweeps & set(facts["tasks"]) <= _OF_CORE
    assert facts["loaded"] == []
    assert not Recipient.objects.filter(user_id="leaving").exists()
    assert not CustomEvent.objects.filter(user_id="leaving").exists()
    assert not Schedule.objects.exists()
    assert not Inbox.objects.exists()
    assert not InboxItem.objects.exists()
    assert Audience.objects.get().expression == {"user_ids": ["staying"]}
    assert BulkJob.objects.get().audience == {"user_ids": ["staying"]}
    assert CancelJob.objects.get().metadata == {}
    assert Attempt.objects.get(cost_micros__gt=0).provider == "sandbox"  # of the e-mail

    groups, producers = _groups_and_producers(empty_database)
    assert (groups > len(ROLES), producers) == (True, 0)


def _groups_and_producers(database: str) -> tuple[int, int]:
    with psycopg.connect(**{**connection.get_connection_params(), "dbname": database}) as link:
        [(groups,)] = link.execute("SELECT count(*) FROM auth_group").fetchall()
        [(producers,)] = link.execute("SELECT count(*) FROM notifications_producer").fetchall()
    return int(groups), int(producers)
