"""Daily reports: a mail to each operator of the group `mail: daily report`.

The mail is an ordinary notification of the type `daily_report` in live mode, so it has a timeline,
retries and the suppression list. Each run in the configured hour of the day accepts the mails under
the idempotency key of day and operator. Safe to run twice (the key makes no second notification),
late (until the hour is over) or never (the mail is missing, and `manage.py report daily` has the
figures). A refused mail is logged and counted as failed.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

import structlog
from django.contrib.auth.models import User

from notifications.core import conf
from notifications.core.intake import accept
from notifications.core.intake.accept import Caller, Refused
from notifications.core.models import Producer
from notifications.core.rules import request
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Problem
from notifications.core.rules.roles import DAILY_REPORT_GROUP
from notifications.core.rules.times import local_time
from notifications.core.sweeps.rounds import Swept
from notifications.features.analytics import daily_report

PRODUCER: Final = "daily-reports"
"""Name of the producer; the producer has no API key."""
TYPE: Final = "daily_report"
_MOST_LINES: Final = 300
"""Lines of a mail; the command prints all."""
_log = structlog.get_logger(__name__)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Send the report of yesterday, in the configured hour; returns the number of mails."""
    settings = conf.current()
    if now.astimezone(local_time.zone(settings.report_timezone)).hour != settings.report_hour:
        return Swept()
    readers = list(
        User.objects
        .filter(groups__name=DAILY_REPORT_GROUP, is_active=True)
        .exclude(email="")
        .order_by("pk")[:limit]
    )
    if not readers:
        return Swept()
    report = daily_report.build(now.date() - dt.timedelta(days=1), now=now)
    producer, _ = Producer.objects.get_or_create(name=PRODUCER)
    caller = Caller(
        producer_id=producer.pk,
        mode=Mode.LIVE,
        priorities=frozenset({Priority.P1}),
        may_send_content=True,
        may_register=True,
    )
    refused = [user for user in readers if not _send(caller, user, report)]
    return Swept(moved=len(readers) - len(refused), failed=len(refused))


def _send(caller: Caller, user: User, report: daily_report.DailyReport) -> bool:
    lines = daily_report.as_text(report).splitlines()
    cut = [*lines[:_MOST_LINES], "..."] if len(lines) > _MOST_LINES else lines
    asked = request.own(
        f"daily-report-{report.day}-{user.pk}",
        {
            "to": {"email": user.email},
            "type": TYPE,
            "priority": Priority.P1.name,
            "channels": ["email"],
            "content": {"title": lines[0], "body": "\n".join(cut)},
        },
    )
    if isinstance(asked, Problem):
        _log.warning("daily_report_refused", user=user.pk, reason=asked.detail)
        return False
    [answer] = accept.accept(caller, [asked])
    if isinstance(answer, Refused):
        _log.warning("daily_report_refused", user=user.pk, reason=answer.problem.detail)
        return False
    return True
