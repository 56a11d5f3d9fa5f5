"""Links of alerts: the page of the admin that shows the cause, and the entry of the runbook.

The values are paths below the public URL. Workers do not load the admin, so the paths are data;
`tests/admin/test_alerts.py` opens each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from providers.contract import Channel

RUNBOOK: Final = "/docs/operations.html#"
_LISTS: Final = "/admin/notifications/"
_ACTIVITY: Final = "/admin/notifications/notification/activity/"
_TASKS: Final = "/admin/django_celery_beat/periodictask/"
_LIVE: Final = f"mode={Mode.LIVE:d}"

_PAGES: Final[dict[AlertKind, str]] = {
    AlertKind.ALERT_DESTINATION_FAILING: f"{_LISTS}alertdestination/?q={{subject}}",
    AlertKind.ARCHIVE_LATE: f"{_LISTS}sweeprun/",
    AlertKind.BEAT_DEAD: f"{_LISTS}sweeprun/",
    AlertKind.BEAT_DOUBLED: "/readyz",
    AlertKind.BREAKER_OPEN: f"{_LISTS}breaker/",
    AlertKind.BOUNCES_NOT_BELIEVED: f"{_ACTIVITY}?{_LIVE}&status={Status.BOUNCED:d}",
    AlertKind.BROKER_AWAY: f"{_LISTS}delivery/workers/",
    AlertKind.CLOCK_SKEW: "/readyz",
    AlertKind.DEAD_LETTERS_GROW: f"{_LISTS}deadletter/?{_LIVE}",
    AlertKind.DELIVERY_RATE_LOW: f"{_ACTIVITY}?{_LIVE}&status={Status.FAILED:d}"
    "&channel={channel}",
    AlertKind.DELIVERIES_ORPHANED: f"{_ACTIVITY}?{_LIVE}&status={Status.SENDING:d}",
    AlertKind.DELIVERIES_STUCK: f"{_LISTS}sweeprun/",
    AlertKind.DELIVERIES_UNREACHABLE: f"{_ACTIVITY}?{_LIVE}",
    AlertKind.ENDPOINTS_REST: f"{_LISTS}breaker/",
    AlertKind.FEED_HELD: f"{_LISTS}webhookendpoint/",
    AlertKind.LANE_BEHIND: "/admin/",
    AlertKind.LANE_PAUSED: "/admin/",
    AlertKind.MARKETING_SMS_PAUSED: f"{_LISTS}switch/",
    AlertKind.MESSAGES_REFUSED: f"{_LISTS}deadletter/?{_LIVE}",
    AlertKind.NO_LIVE_PROCESS: f"{_LISTS}delivery/workers/",
    AlertKind.NO_PROVIDER: f"{_LISTS}providerroute/?channel__exact={{channel}}",
    AlertKind.PERMANENT_FAILURES_HIGH: f"{_LISTS}deadletter/?{_LIVE}&reason=permanent",
    AlertKind.POISON: f"{_LISTS}deadletter/?{_LIVE}&reason=poison",
    AlertKind.PROCESSING_SLOW: "/admin/",
    AlertKind.PROVIDER_FAILING: f"{_LISTS}breaker/",
    AlertKind.PROVIDER_MISCONFIGURED: f"{_LISTS}providerroute/providers/",
    AlertKind.QUEUE_DEEP: "/admin/",
    AlertKind.QUEUE_OVERSIZED: f"{_LISTS}delivery/workers/",
    AlertKind.REFUSALS_NOT_BELIEVED: f"{_LISTS}breaker/",
    AlertKind.RETRIES_DEEP: f"{_LISTS}breaker/",
    AlertKind.RETRY_SUCCESS_LOW: f"{_LISTS}deadletter/?{_LIVE}&reason=retries_exhausted",
    AlertKind.ROLLUPS_LATE: f"{_LISTS}sweeprun/",
    AlertKind.SENT_LEDGER_UNREAD: f"{_ACTIVITY}?{_LIVE}&status={Status.SENDING:d}",
    AlertKind.SERVICE_LEVEL_AT_RISK: "/admin/",
    AlertKind.SERVICE_LEVEL_MISSED: "/admin/",
    AlertKind.FLIGHT_RECORDER_OFF: f"{_LISTS}delivery/workers/",
    AlertKind.REPLICA_LEFT: "/readyz",
    AlertKind.STATE_AWAY: f"{_LISTS}delivery/workers/",
    AlertKind.SWEEP_FAILED: f"{_LISTS}sweeprun/",
    AlertKind.SWEEP_LATE: _TASKS,
    AlertKind.SWEEP_OFF: _TASKS,
    AlertKind.SWEEP_UNFINISHED: f"{_LISTS}sweeprun/",
    AlertKind.UNKNOWN_GROW: f"{_LISTS}delivery/?mode__exact={Mode.LIVE:d}"
    f"&status__exact={Status.UNKNOWN:d}",
    AlertKind.URGENT_DEAD_LETTERS: f"{_LISTS}deadletter/?{_LIVE}",
    AlertKind.URGENT_LANE_BEHIND: "/admin/",
    AlertKind.WEBHOOK_PAUSED: f"{_LISTS}webhookendpoint/{{number}}/change/",
    AlertKind.WORKERS_BUSY: f"{_LISTS}delivery/workers/",
    AlertKind.WORKERS_WANTED: f"{_LISTS}delivery/workers/",
}


def add(pages: Iterable[tuple[AlertKind, str]]) -> None:
    """Add the pages of a feature, at the start of the process."""
    _PAGES.update(pages)


def kinds() -> frozenset[str]:
    """Return the kinds of the core and of the installed features: each kind has a page."""
    return frozenset(map(str, _PAGES))


def page_of(kind: str, subject: str) -> str:
    """Return the path of the page that shows the cause of an alert; empty for an unknown kind."""
    pattern = {str(each): path for each, path in _PAGES.items()}.get(kind, "")
    last = subject.rsplit(maxsplit=1)[-1] if subject else ""
    return pattern.format(
        channel=_channel_number(last), subject=quote(subject, safe=""), number=quote(last, safe="")
    )


def runbook_of(kind: str) -> str:
    """Return the path of the runbook entry of a kind."""
    return f"{RUNBOOK}{quote(kind, safe='')}"


def own_page_of(alert_id: int) -> str:
    """Return the path of an alert's own page."""
    return f"{_LISTS}alert/{alert_id}/change/"


def _channel_number(label: str) -> int:
    try:
        return int(Channel.from_label(label))
    except KeyError:
        return 0
