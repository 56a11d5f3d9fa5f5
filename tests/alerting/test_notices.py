"""Alerts reach mail, Slack, PagerDuty and webhooks: raised, reminded, acknowledged, resolved."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from email import message_from_bytes
from threading import Barrier, Thread

import orjson
import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection

from notifications.core import clock
from notifications.core.alerting import notices
from notifications.core.models import Alert, AlertDestination, AlertNotice, DeadLetter
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.rate_limits import circuit_breaker
from notifications.core.store.postgres import alerts
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import state
from notifications.core.sweeps import dead_letters
from providers.conformance import Act
from providers.contract import Channel
from tests.alerting.conftest import KEY, PAGERDUTY, SLACK, MakeDestination
from tests.providers.fakes import HttpFake, SmtpFake

pytestmark = pytest.mark.django_db(transaction=True)

_MINUTE = dt.timedelta(minutes=1)
_HOUR = dt.timedelta(hours=1)
State = AlertNotice.State


def raised(kind: AlertKind = AlertKind.NO_PROVIDER, subject: str = "email") -> Alert:
    """Raise an alert that is old enough for its first notice."""
    alerts.raise_once(kind, subject, "for the test")
    rows = Alert.objects.filter(kind=kind, subject=subject, resolved_at=None)
    rows.update(raised_at=clock.now() - 2 * _MINUTE)
    return rows.get()


def work(*, after: dt.timedelta = dt.timedelta()) -> int:
    return notices.work_off(now=clock.now() + after, limit=100)


def events(fake: HttpFake) -> list[str]:
    return [orjson.loads(request.body)["type"] for request in fake.requests]


def actions(fake: HttpFake) -> list[tuple[str, str]]:
    bodies = [orjson.loads(request.body) for request in fake.requests]
    return [(each["event_action"], each["dedup_key"]) for each in bodies]


def test_an_alert_and_its_end_reach_a_webhook_with_links(
    hook: HttpFake, make_destination: MakeDestination
) -> None:
    place = make_destination(hook.url)
    alert = raised()
    assert work() == 1
    assert work() == 0
    alerts.resolve(AlertKind.NO_PROVIDER, "email")
    assert work() == 1
    assert events(hook) == ["alert.raised", "alert.resolved"]
    first, last = (orjson.loads(request.body)["data"] for request in hook.requests)
    assert first["incident"] == last["incident"]
    assert first["title"] == "A channel has no provider"
    assert first["severity"] == "page"
    assert first["url"].endswith(f"/admin/notifications/alert/{alert.pk}/change/")
    assert first["runbook_url"].endswith("/docs/operations.html#no_provider")
    assert "/providerroute/" in first["cause_url"]
    place.refresh_from_db()
    assert (place.failures, place.last_error) == (0, "")
    assert place.last_sent_at is not None


def test_a_cause_that_comes_and_goes_is_told_three_times_and_again_when_it_stays(
    hook: HttpFake, make_destination: MakeDestination
) -> None:
    make_destination(hook.url)
    for _ in range(6):
        raised()
        work()
        alerts.resolve(AlertKind.NO_PROVIDER, "email")
        work()
    assert events(hook) == ["alert.raised", "alert.resolved"] * 3
    raised(subject="sms")
    assert work() == 1, "another subject is another cause"
    alert = raised()
    assert work() == 0
    Alert.objects.filter(pk=alert.pk).update(raised_at=clock.now() - 5 * _MINUTE)
    assert work() == 1


def test_pagerduty_has_one_incident_for_an_alert(
    pagerduty: HttpFake, make_destination: MakeDestination
) -> None:
    make_destination(PAGERDUTY)
    alert = raised()
    work()
    rows = Alert.objects.filter(pk=alert.pk)
    until = clock.now() + _HOUR
    alerts.acknowledge(rows, by="maria", until=until)
    work()
    work()
    alerts.resolve(AlertKind.NO_PROVIDER, "email")
    work()
    (_, incident), *_ = told = actions(pagerduty)
    assert told == [("trigger", incident), ("acknowledge", incident), ("resolve", incident)]
    body = orjson.loads(pagerduty.requests[0].body)
    assert pagerduty.requests[0].path == "/v2/enqueue"
    assert body["routing_key"] == KEY
    assert body["payload"]["severity"] == "critical"
    assert {link["text"] for link in body["links"]} == {"Cause", "Runbook"}


def test_slack_and_a_mailbox_get_the_text(
    slack: HttpFake, mail_server: SmtpFake, make_destination: MakeDestination
) -> None:
    make_destination(SLACK, name="slack")
    make_destination("mailto:oncall@shop.example", name="mail")
    raised()
    assert work() == 2
    [request] = slack.requests
    assert request.path == "/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
    assert b"Page: A channel has no provider: email" in request.body
    assert b"operations.html#no_provider" in request.body
    [content] = mail_server.contents
    mail = message_from_bytes(content)
    assert mail["Subject"] == "Page: A channel has no provider: email"
    assert mail["To"] == "oncall@shop.example"


def test_an_open_alert_is_repeated_after_four_hours_and_not_while_acknowledged(
    hook: HttpFake, make_destination: MakeDestination
) -> None:
    make_destination(hook.url)
    alert = raised()
    work()
    assert work(after=3 * _HOUR) == 0
    assert work(after=4 * _HOUR + _MINUTE) == 1
    until = clock.now() + 20 * _HOUR
    alerts.acknowledge(Alert.objects.filter(pk=alert.pk), by="maria", until=until)
    assert work(after=5 * _HOUR) == 1, "the webhook learns of the acknowledgement"
    assert work(after=19 * _HOUR) == 0
    assert work(after=21 * _HOUR) == 1, "the acknowledgement has ended"
    assert events(hook) == [
        *("alert.raised", "alert.reminded", "alert.acknowledged", "alert.reminded")
    ]


def test_an_alert_that_comes_back_after_an_acknowledgement_is_sent(
    hook: HttpFake, make_destination: MakeDestination
) -> None:
    make_destination(hook.url)
    alert = raised()
    until = clock.now() + _HOUR
    alerts.acknowledge(Alert.objects.filter(pk=alert.pk), by="maria", until=until)
    assert work() == 0, "acknowledged before the first notice"
    alerts.resolve(AlertKind.NO_PROVIDER, "email")
    assert work() == 0, "a destination that knows nothing learns nothing of the end"
    raised()
    assert work() == 1


def test_a_short_alert_and_a_covered_alert_send_nothing(
    hook: HttpFake, make_destination: MakeDestination
) -> None:
    make_destination(hook.url)
    alerts.raise_once(AlertKind.NO_PROVIDER, "sms", "for some seconds")
    assert work() == 0
    alerts.resolve(AlertKind.NO_PROVIDER, "sms")
    raised(AlertKind.PROVIDER_MISCONFIGURED, "ses email")
    raised(AlertKind.BREAKER_OPEN, "ses email")
    assert work() == 1
    [request] = hook.requests
    assert orjson.loads(request.body)["data"]["kind"] == "provider_misconfigured"


def test_a_destination_filters_by_severity_and_kind(
    hook: HttpFake, make_fake: Callable[[], HttpFake], make_destination: MakeDestination
) -> None:
    others = make_fake()
    make_destination(hook.url, name="pages", minimum_severity="page")
    make_destination(others.url, name="sweeps", kinds=["sweep_off"])
    raised(AlertKind.SWEEP_OFF, "relay")
    raised(AlertKind.NO_PROVIDER, "email")
    assert work() == 2
    assert [orjson.loads(each.body)["data"]["kind"] for each in hook.requests] == ["no_provider"]
    assert [orjson.loads(each.body)["data"]["kind"] for each in others.requests] == ["sweep_off"]


@pytest.mark.parametrize("act", [Act.REJECT, Act.UNAVAILABLE, Act.THROTTLE, Act.CUT])
def test_a_failing_destination_is_tried_again_and_raises_an_alert_elsewhere(
    hook: HttpFake, make_fake: Callable[[], HttpFake], make_destination: MakeDestination, act: Act
) -> None:
    other = make_fake()
    place = make_destination(hook.url)
    hook.act(act)
    raised()
    for _ in range(3):
        AlertNotice.objects.update(due_at=TransactionNow())
        assert work() == 1
    assert work() == 0, "the next try waits"
    make_destination(other.url, name="other", kinds=["alert_destination_failing"])
    place.refresh_from_db()
    assert place.failures == 3
    assert place.last_error
    assert hook.url not in place.last_error
    assert AlertNotice.objects.get().state == State.WAITING
    Alert.objects.filter(kind="alert_destination_failing").update(
        raised_at=clock.now() - 2 * _MINUTE
    )
    work()
    assert [orjson.loads(each.body)["data"]["subject"] for each in other.requests] == ["oncall"]
    assert set(hook.keys) == {str(AlertNotice.objects.earliest("pk").key)}
    hook.act(Act.ACCEPT)
    assert work(after=_HOUR) >= 1
    work()
    failing = Alert.objects.get(kind="alert_destination_failing")
    assert failing.resolved_at is not None


def test_a_destination_that_never_answers_ends_after_a_day(
    hook: HttpFake, make_destination: MakeDestination
) -> None:
    make_destination(hook.url)
    hook.act(Act.UNAVAILABLE)
    raised()
    work()
    AlertNotice.objects.update(created_at=clock.now() - dt.timedelta(hours=25))
    assert work(after=_MINUTE) >= 1
    first = AlertNotice.objects.earliest("pk")
    assert (first.state, first.due_at) == (State.FAILED, None)


def test_two_sweeps_at_once_send_a_notice_once(
    hook: HttpFake, make_destination: MakeDestination
) -> None:
    make_destination(hook.url)
    for number in range(20):
        raised(AlertKind.SWEEP_OFF, f"sweep {number}")
    together = Barrier(2)
    counts: list[int] = []

    def run() -> None:
        together.wait()
        try:
            counts.append(work())
        finally:
            connection.close()

    threads = [Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == 20
    assert len(hook.keys) == len(set(hook.keys)) == 20


_KILLED = """
import os, signal
import django
django.setup()
from notifications.core import clock
from notifications.core.alerting import notices
def die(_claimed):
    os.kill(os.getpid(), signal.SIGKILL)
notices._send = die
notices.work_off(now=clock.now(), limit=10)
"""


def test_a_kill_between_claim_and_send_loses_no_notice(
    hook: HttpFake, make_destination: MakeDestination
) -> None:
    make_destination(hook.url)
    raised()
    name = connection.settings_dict["NAME"]
    url = os.environ["DATABASE_URL"].rpartition("/")[0] + f"/{name}"
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED],
        env={**os.environ, "DATABASE_URL": url},
        check=False,
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL
    row = AlertNotice.objects.get()
    assert (row.attempts, row.state) == (1, State.WAITING)
    assert work() == 0, "the lease of the killed process runs"
    assert work(after=alerts.NOTICE_LEASE + _MINUTE) == 1
    assert hook.keys == [str(row.key)]


def test_resolved_never_overtakes_raised(hook: HttpFake, make_destination: MakeDestination) -> None:
    make_destination(hook.url)
    raised()
    notices._make(clock.now())
    [claimed] = alerts.claim_notices(now=clock.now(), limit=10)
    alerts.resolve(AlertKind.NO_PROVIDER, "email")
    assert work() == 0, "the first notice is on its way in another process"
    notices._send([claimed])
    assert work() == 1
    assert events(hook) == ["alert.raised", "alert.resolved"]


def test_an_inactive_destination_drops_its_notices(
    hook: HttpFake, make_destination: MakeDestination
) -> None:
    place = make_destination(hook.url)
    hook.act(Act.UNAVAILABLE)
    raised()
    work()
    AlertDestination.objects.filter(pk=place.pk).update(is_active=False)
    assert work(after=_HOUR) == 0
    assert AlertNotice.objects.get().state == State.DROPPED


def test_no_notice_has_a_token(
    hook: HttpFake,
    pagerduty: HttpFake,
    make_destination: MakeDestination,
    caplog: pytest.LogCaptureFixture,
    log_output: Callable[[], str],
) -> None:
    secret = hook.url + "/a-secret-token"
    place = make_destination(secret)
    pagerduty.act(Act.REJECT)
    make_destination(PAGERDUTY, name="pagerduty")
    raised()
    work()
    said = caplog.text + log_output()
    assert "a-secret-token" not in said + place.secret + place.target
    assert KEY not in said
    assert b"a-secret-token" not in hook.requests[0].body


def test_a_test_alert_shows_the_answer(
    pagerduty: HttpFake, make_destination: MakeDestination
) -> None:
    place = make_destination(PAGERDUTY)
    assert notices.describe(notices.send_test(place)) == ""
    pagerduty.act(Act.REJECT)
    assert notices.describe(notices.send_test(place)).startswith("rejected 400")


def test_a_short_outage_at_low_volume_reaches_the_operators(
    hook: HttpFake, make_destination: MakeDestination, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.client().flushdb()
    circuit_breakers.forget()
    make_destination(hook.url)
    rule = circuit_breaker.Thresholds(quiet_ms=0)  # the outage's two seconds have passed
    monkeypatch.setattr(circuit_breakers, "thresholds", lambda _health: rule)
    mail = circuit_breaker.HealthKey("ses", Channel.EMAIL)
    for _ in range(3):  # three calls of one P1, with nothing else to send
        circuit_breakers.record_calls({
            mail: circuit_breaker.CallStats(calls=1, unavailable=1, last_failures=1)
        })
    Alert.objects.update(raised_at=clock.now() - _MINUTE)
    assert work() == 1
    [raised_one] = hook.requests
    data = orjson.loads(raised_one.body)["data"]
    assert (data["kind"], data["subject"]) == ("breaker_open", "ses email")
    assert "3 failures in a row" in data["detail"]
    circuit_breakers.record_calls({
        mail: circuit_breaker.CallStats(calls=1, accepted=1, probe=circuit_breaker.Probe.ACCEPTED)
    })
    assert work() == 1
    assert events(hook) == ["alert.raised", "alert.resolved"]


def test_one_lost_p1_reaches_the_operators(
    hook: HttpFake, make_destination: MakeDestination
) -> None:
    make_destination(hook.url)
    DeadLetter.objects.create(
        delivery_id=clock.new_notification_id(),
        mode=Mode.LIVE,
        priority=Priority.P1,
        channel=Channel.EMAIL,
        producer_id=1,
        recipient_id=1,
        contact_id=1,
        reason="retries_exhausted",
        snapshot={},
        created_at=clock.now(),
    )
    dead_letters.run_once(now=clock.now(), limit=10)
    Alert.objects.update(raised_at=clock.now() - _MINUTE)
    assert work() == 1
    assert orjson.loads(hook.requests[0].body)["data"]["kind"] == "urgent_dead_letters"
