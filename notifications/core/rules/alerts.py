"""Alerts for operators: each kind with title, severity and sentence, and one alert for a cause.

Every observation of a cause raises the alert again, and the end of the cause resolves the alert.
The end of a cause in `RENEWED` is not observed: such an alert ends `gone_after` its last
observation. The end of an alert in `WITH_BREAKER` also needs closed circuit breakers: a provider
without messages is observed by its breaker alone.

`alert_causes` names the alerts that follow from another open alert.
"""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Final, Self


class Severity(StrEnum):
    """Urgency of an alert, most urgent first."""

    PAGE = "page"
    """Recipients miss messages, or will in minutes: an operator is called, also at night."""
    TICKET = "ticket"
    """An operator looks during working hours."""


class AlertKind(StrEnum):
    """The kinds of alerts; Postgres stores the value."""

    label: str
    """The title: a few words for lists and notices (`str` has a method `title`)."""
    severity: Severity
    sentence: str
    """Meaning, and where to look."""

    def __new__(cls, value: str, label: str, severity: Severity, sentence: str) -> Self:
        """Create a member from a value, a title, a severity and a sentence."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.label = label
        member.severity = severity
        member.sentence = sentence
        return member

    ALERT_DESTINATION_FAILING = (
        *("alert_destination_failing", "A destination of alerts fails", Severity.TICKET),
        "Alerts do not reach a destination: see Alert destinations.",
    )
    ARCHIVE_LATE = (
        *("archive_late", "Old days are not archived", Severity.TICKET),
        "Days past retention are not archived and stay in the database: see Archive.",
    )
    BEAT_DEAD = (
        *("beat_dead", "No sweep runs", Severity.PAGE),
        "No sweep has run lately: check beat and the worker for ops.",
    )
    BEAT_DOUBLED = (
        *("beat_doubled", "Several beats run", Severity.TICKET),
        "Several beats run for one installation: end all but one; the detail names the hosts.",
    )
    BOUNCES_NOT_BELIEVED = (
        *("bounces_not_believed", "A provider reports most messages as bounced", Severity.TICKET),
        "Over half of the results of a provider are bounces: the contacts stay; check its account.",
    )
    BREAKER_OPEN = (
        *("breaker_open", "A provider fails and is paused", Severity.PAGE),
        "A provider is paused: deliveries wait or fail over; see Breakers.",
    )
    BROKER_AWAY = (
        *("broker_away", "A process works without the broker", Severity.TICKET),
        "The broker is away or refuses a process, which takes deliveries from PostgreSQL.",
    )
    BUDGET_NEARLY_SPENT = (
        *("budget_nearly_spent", "A budget is nearly spent", Severity.TICKET),
        "The messages of a day cost nearly as much as the budget allows: see Budgets.",
    )
    BUDGET_SPENT = (
        *("budget_spent", "A budget is spent", Severity.PAGE),
        "A day's budget is spent. If it is hard, P2 and P3 wait, P0 and P1 go on: see Budgets.",
    )
    BULK_JOB_ABORTED = (
        *("bulk_job_aborted", "A bulk job passed a limit and was aborted", Severity.TICKET),
        "Too many messages of a bulk job failed, bounced or brought complaints: see Bulk jobs.",
    )
    CERTIFICATE_ENDED = (
        *("certificate_ended", "A certificate has ended", Severity.PAGE),
        "A certificate that a setting names has ended: the detail has setting and cure.",
    )
    CERTIFICATE_ENDS = (
        *("certificate_ends", "A certificate ends soon", Severity.TICKET),
        "A certificate that a setting names ends within 14 days: renew it; see the detail.",
    )
    CLOCK_SKEW = (
        *("clock_skew", "The clock of a host is wrong", Severity.PAGE),
        "The clock of a process differs from the database's: check NTP.",
    )
    DEAD_LETTERS_GROW = (
        *("dead_letters_grow", "Dead letters grow", Severity.PAGE),
        "Many deliveries gave up in minutes: see Dead letters.",
    )
    DELIVERIES_ORPHANED = (
        *("deliveries_orphaned", "Deliveries of dead workers are not rescued", Severity.PAGE),
        "Deliveries stay in the status sending after their lease: see the sweep rescue.",
    )
    DELIVERIES_STUCK = (
        *("deliveries_stuck", "Due deliveries are not handled", Severity.PAGE),
        "Deliveries have been due for 15 minutes and no sweep takes them: see Sweep runs.",
    )
    DELIVERIES_UNREACHABLE = (
        *("deliveries_unreachable", "No step will take some open deliveries", Severity.PAGE),
        "Open deliveries have a state that no sweep and no worker takes: see the detail.",
    )
    DELIVERY_RATE_LOW = (
        *("delivery_rate_low", "The delivery rate of a channel is low", Severity.PAGE),
        "A channel sends under 99.5 % of its deliveries: see Deliveries.",
    )
    ENDPOINTS_REST = (
        *("endpoints_rest", "Endpoints of recipients do not answer", Severity.TICKET),
        "Recipients' endpoints do not answer: see Breakers.",
    )
    FEED_HELD = (
        *("feed_held", "The change feed is held", Severity.TICKET),
        "A transaction stays open: the change feed and status webhooks wait for its end.",
    )
    FLIGHT_RECORDER_OFF = (
        *("flight_recorder_off", "A worker takes no notes of its calls", Severity.TICKET),
        "The folder of NOTIFY_FLIGHT_RECORDER is not usable: calls of a killed worker are unknown.",
    )
    LANE_BEHIND = (
        *("lane_behind", "P2 or P3 deliveries wait too long", Severity.TICKET),
        "Due P2 or P3 deliveries wait for a worker for over 15 minutes: add workers.",
    )
    LANE_PAUSED = (
        *("lane_paused", "The tasks of a lane fail", Severity.PAGE),
        "The worker's code fails: a lane tries one row a second, and its deliveries wait.",
    )
    LANE_REFUSES_POSTS = (
        *("lane_refuses_posts", "New P3 posts are refused", Severity.TICKET),
        "The lag of a P3 lane is over its limit: producers get 429 for new P3 posts.",
    )
    MARKETING_SMS_PAUSED = (
        *("marketing_sms_paused", "P3 SMS are paused", Severity.TICKET),
        "Every SMS provider is paused: P3 SMS wait behind a switch until one takes calls again.",
    )
    MESSAGES_REFUSED = (
        *("messages_refused", "A provider refuses a sender or a template", Severity.PAGE),
        "A provider refuses a brand's sender or a template, or our account is in its sandbox.",
    )
    NO_LIVE_PROCESS = (
        *("no_live_process", "No live process runs", Severity.TICKET),
        "NOTIFY_LIVE_URL is set and no live process reports: inboxes are not live; see Workers.",
    )
    NO_PROVIDER = (
        *("no_provider", "A channel has no provider", Severity.PAGE),
        "Deliveries wait for a provider that takes them: check the routes.",
    )
    PERMANENT_FAILURES_HIGH = (
        *("permanent_failures_high", "Providers reject many messages for good", Severity.TICKET),
        "Over 5 % of the deliveries of an hour were rejected for good: see Dead letters.",
    )
    POISON = (
        *("poison", "Deliveries fail whenever a worker takes them", Severity.TICKET),
        "Five claims of a delivery ended without a result: see Dead letters.",
    )
    PROCESSING_SLOW = (
        *("processing_slow", "P0 deliveries are processed slowly", Severity.TICKET),
        "The 95th percentile from accept to the provider call is over 500 ms for P0.",
    )
    PROVIDER_FAILING = (
        *("provider_failing", "Most calls of a provider fail", Severity.PAGE),
        "Most calls of a provider fail or are rejected: see its status page.",
    )
    PROVIDER_MISCONFIGURED = (
        *("provider_misconfigured", "A provider refuses our account", Severity.PAGE),
        "A provider refuses our account: check it.",
    )
    QUEUE_DEEP = (
        *("queue_deep", "A queue is deep", Severity.TICKET),
        "Over 10,000 deliveries of a priority are due, or far more than usual.",
    )
    QUEUE_OVERSIZED = (
        *("queue_oversized", "More deliveries wait than planned for", Severity.PAGE),
        "The waiting deliveries of a priority are above the planned size: see Workers.",
    )
    REFUSALS_NOT_BELIEVED = (
        *("refusals_not_believed", "A provider refuses most messages", Severity.PAGE),
        "Most calls are refused: check the settings.",
    )
    REPLICA_LEFT = (
        *("replica_left", "A web process does not use the read replica", Severity.TICKET),
        "Figures, lists and exports read the primary: see the detail.",
    )
    RETRIES_DEEP = (
        *("retries_deep", "Far more deliveries than usual wait for a retry", Severity.TICKET),
        "Far more deliveries of a priority than usual wait for a retry: see Breakers.",
    )
    RETRY_SUCCESS_LOW = (
        *("retry_success_low", "Few retries succeed", Severity.TICKET),
        "Under 65 % of the deliveries with retries of an hour were sent.",
    )
    ROLLUPS_LATE = (
        *("rollups_late", "Figures are late", Severity.TICKET),
        "The roll-ups are over 5 minutes behind: charts and burn rates are late.",
    )
    SCHEDULE_FAILED = (
        *("schedule_failed", "A schedule failed", Severity.TICKET),
        "A schedule could not make its notification: see its page.",
    )
    SENT_LEDGER_UNREAD = (
        *("sent_ledger_unread", "Calls of dead workers are not known", Severity.TICKET),
        "The state Redis does not answer: deliveries of dead workers wait for the sent-ledger.",
    )
    SERVICE_LEVEL_AT_RISK = (
        *("service_level_at_risk", "A service level is at risk", Severity.TICKET),
        "Failures of three days use up the error budget of a service level.",
    )
    SERVICE_LEVEL_MISSED = (
        *("service_level_missed", "A service level is missed", Severity.PAGE),
        "Failures use up the error budget of a service level within days.",
    )
    SMS_ADDRESS_CEILING = (
        *("sms_address_ceiling", "SMS to a number are refused", Severity.TICKET),
        "P0 or P1 SMS to numbers of a country are above the ceiling of a number: see SMS pumping.",
    )
    SMS_PUMPING = (
        *("sms_pumping", "SMS are refused, perhaps an attack", Severity.PAGE),
        "P0 or P1 SMS to a prefix or a country are far above the usual traffic: see SMS pumping.",
    )
    STALE_DROPPED = (
        *("stale_dropped", "Stale P3 deliveries are dropped", Severity.PAGE),
        "The lag of a P3 lane is over its drop limit: deliveries that wait too long are dropped.",
    )
    STATE_AWAY = (
        *("state_away", "A process works without the state Redis", Severity.PAGE),
        "The state Redis is away or refuses a process: P2 and P3 with caps wait.",
    )
    SWEEP_FAILED = (
        *("sweep_failed", "A sweep failed", Severity.TICKET),
        "A sweep or some of its rows failed: see the ops log.",
    )
    SWEEP_LATE = (
        *("sweep_late", "A sweep is late", Severity.PAGE),
        "A sweep has not begun for a while: see Periodic tasks.",
    )
    SWEEP_OFF = (
        *("sweep_off", "A sweep is switched off", Severity.TICKET),
        "An operator switched a periodic task off: see Periodic tasks.",
    )
    SWEEP_UNFINISHED = (
        *("sweep_unfinished", "A sweep does not end", Severity.PAGE),
        "A sweep does not end: look for locks in the database.",
    )
    UNKNOWN_GROW = (
        *("unknown_grow", "Many calls get no answer", Severity.TICKET),
        "Over 1 % of the deliveries of an hour became unknown: see Deliveries.",
    )
    URGENT_DEAD_LETTERS = (
        *("urgent_dead_letters", "P0 or P1 messages gave up", Severity.PAGE),
        "P0 or P1 gave up: replay or discard each.",
    )
    URGENT_LANE_BEHIND = (
        *("urgent_lane_behind", "P0 or P1 deliveries wait too long", Severity.PAGE),
        "Due P0 or P1 deliveries wait for a worker: check the workers of the lane.",
    )
    WEBHOOK_PAUSED = (
        *("webhook_paused", "A webhook endpoint of a producer is paused", Severity.TICKET),
        "A producer's webhook endpoint failed for an hour and is paused: see Webhook endpoints.",
    )
    WORKERS_BUSY = (
        *("workers_busy", "All slots of a worker are busy", Severity.TICKET),
        "All slots of a worker, or of a channel in it, have been busy for 5 minutes: see Workers.",
    )
    WORKERS_WANTED = (
        *("workers_wanted", "More workers are recommended", Severity.TICKET),
        "Over 100,000 deliveries of P2 or P3 wait: add workers, or let an autoscaler add them.",
    )


_KINDS: Final = {str(each): each for each in AlertKind}


def find_kind(value: str) -> AlertKind | None:
    """Return the kind with a stored value; None for a value of another release."""
    return _KINDS.get(value)


def title(value: str) -> str:
    """Return the title of a stored kind; an unknown kind is returned as it is."""
    kind = find_kind(value)
    return kind.label if kind else value


def sentence(value: str) -> str:
    """Explain a stored kind; an unknown kind is returned as it is."""
    kind = find_kind(value)
    return kind.sentence if kind else value


def severity(value: str) -> Severity:
    """Return the severity of a stored kind; an unknown kind is a ticket."""
    kind = find_kind(value)
    return kind.severity if kind else Severity.TICKET


BEAT: Final = "beat"
"""The subject of `BEAT_DEAD` and `BEAT_DOUBLED`."""
RENEWED: Final = frozenset({
    AlertKind.BEAT_DOUBLED,
    AlertKind.BOUNCES_NOT_BELIEVED,
    AlertKind.BROKER_AWAY,
    AlertKind.FLIGHT_RECORDER_OFF,
    AlertKind.LANE_PAUSED,
    AlertKind.MESSAGES_REFUSED,
    AlertKind.NO_PROVIDER,
    AlertKind.PROVIDER_MISCONFIGURED,
    AlertKind.REFUSALS_NOT_BELIEVED,
    AlertKind.REPLICA_LEFT,
    AlertKind.SENT_LEDGER_UNREAD,
    AlertKind.STATE_AWAY,
    AlertKind.WORKERS_BUSY,
})
"""Raised again by every delivery or process that meets the cause, and resolved by time."""
WITH_BREAKER: Final = frozenset({
    AlertKind.PROVIDER_MISCONFIGURED,
    AlertKind.REFUSALS_NOT_BELIEVED,
})
"""Kinds of `RENEWED` about a provider and channel: open while the circuit breaker is open."""
OF_SWEEPS: Final = frozenset({
    AlertKind.SWEEP_FAILED,
    AlertKind.SWEEP_LATE,
    AlertKind.SWEEP_OFF,
    AlertKind.SWEEP_UNFINISHED,
})
"""Kinds whose subject is the name of a sweep."""
GONE_AFTER: Final = dt.timedelta(minutes=5)
"""Ten times as long as a delivery waits before it meets the cause again."""
_REFUSED_GONE_AFTER: Final = dt.timedelta(minutes=35)
"""Refused messages wait up to half an hour (`outcomes.LONGEST_REFUSED_WAIT`)."""


def gone_after(kind: AlertKind) -> dt.timedelta:
    """Return the time without an observation after which an alert of `RENEWED` ends."""
    return _REFUSED_GONE_AFTER if kind is AlertKind.MESSAGES_REFUSED else GONE_AFTER
