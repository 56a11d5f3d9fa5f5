"""Lane lag: sample the lag of each lane.

    each run   breakers of the SMS providers -> pause or resume P3 SMS
               sample of all lanes -> alerts about the lag of a priority

Safe to run twice (a sample replaces the last one), late or never (the lag is unknown). The feature
`back_pressure` replaces the sweep by one that also refuses and drops P3.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from django.db import transaction

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.models import LaneLag, Switch
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules import lane_lag as lag_rules
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.postgres import alerts, lane_lag, locks
from notifications.core.store.rate_limits import breaker_status
from notifications.core.store.rate_limits.breaker_status import BreakerStatus
from notifications.core.sweeps.rounds import Swept
from providers.contract import Channel

SMS_LANE: Final = Lane(Mode.LIVE, Priority.P3, Channel.SMS)
_SET_BY: Final = "the service, for an SMS outage"
PROBE_PATIENCE: Final = dt.timedelta(minutes=2)
"""P0, P1 and P2 have this long to probe before a P3 may."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Sample the lag, and end the effects of back-pressure, which is not installed."""
    del limit
    sample(now=now)
    ended = {"refuses_since": None, "drops_since": None, "dropped_at": None}
    in_effect = LaneLag.objects.exclude(**ended)
    in_effect.update(**ended, retry_after_seconds=0, dropped=0)
    return Swept()


def sample(*, now: dt.datetime) -> list[LaneLag]:
    """Store the lag of each lane, and raise the alerts about the lag of a priority."""
    pause_or_resume_sms()
    rows = lane_lag.sample(now=now)
    _look_at_priorities(rows)
    return rows


def _look_at_priorities(rows: Iterable[LaneLag]) -> None:
    """Raise the alerts about the lag of a priority, and resolve them well under the limits."""
    waiting: Mapping[Lane, int] = {lane_lag.lane_of(row): row.waiting for row in rows}
    lags = lag_rules.by_priority(waiting)
    ended: list[tuple[AlertKind, str]] = []

    def compare(kind: AlertKind, priority: Priority, most: int, plan: str) -> None:
        if lags[priority] > most:
            alerts.raise_once(kind, priority.name, f"{lags[priority]:,} wait; {plan}")
        elif lags[priority] <= most * lag_rules.END_SHARE:
            ended.append((kind, priority.name))

    for priority, processes in lag_rules.workers_wanted(waiting).items():
        plan = f"{processes} worker processes are recommended"
        compare(AlertKind.WORKERS_WANTED, priority, lag_rules.SCALE_WAITING, plan)
    for priority, size in lag_rules.SIZES.items():
        compare(AlertKind.QUEUE_OVERSIZED, priority, size, f"planned for {size:,}")
    alerts.resolve_each(ended)


def pause_or_resume_sms() -> None:
    """Set the switch in an outage, and resume it afterwards; nothing while the state is away.

    P3 then makes no probe and no call, and each waiting P3 SMS gets the reason `channel_paused`
    with the switch's text. P0, P1 and P2 probe as before, and fallback chains of P0 and P1 go on to
    the next channel. The recovery of one provider resumes the switch, and its rows come back on a
    ramp. Without P0, P1 and P2 no delivery probes, so the switch is also resumed when a probe is
    overdue for PROBE_PATIENCE: a P3 then probes, and a failed probe sets the switch again.

    An operator may resume the switch during the outage: the same outage sets no second switch. Safe
    to run twice (one switch at a time), late or never (P3 SMS are probes like other deliveries).
    """
    found = _sms_statuses()
    if not all(each.is_known for each in found):
        return
    since = _outage_since(found)
    wants_probe = any(each.overdue >= PROBE_PATIENCE for each in found)
    with transaction.atomic():
        if not locks.try_for_transaction("sms_outage"):
            return
        newest = Switch.objects.filter(
            kind=SwitchKind.LANE, value=SMS_LANE.name, set_by=_SET_BY
        ).first()
        is_set = newest is not None and newest.resumed_at is None
        if since is None or wants_probe:
            if is_set:
                switches.resume(Switch.objects.filter(set_by=_SET_BY), by=_SET_BY)
        elif not is_set and not _was_resumed(newest, since):
            _pause_sms()
        if since is None:
            alerts.resolve(AlertKind.MARKETING_SMS_PAUSED, SMS_LANE.name)


def _sms_statuses() -> list[BreakerStatus]:
    """Return the breakers of the SMS providers."""
    providers = routing.live_providers(Channel.SMS)
    found = breaker_status.of_pairs((each.name, Channel.SMS) for each in providers)
    return list(found.values())


def _outage_since(found: Sequence[BreakerStatus]) -> dt.datetime | None:
    """Return the start of the pause of all SMS providers; None: one takes calls, or none is set."""
    if not found or not all(each.is_open for each in found):
        return None
    return max(each.since or clock.now() for each in found)


def _was_resumed(newest: Switch | None, since: dt.datetime) -> bool:
    """Return True if an operator resumed the switch of this outage."""
    return newest is not None and newest.resumed_by != _SET_BY and newest.set_at >= since


def _pause_sms() -> None:
    reason = "All SMS providers are down; resumed when one takes calls again."
    target = SwitchTarget(kind=SwitchKind.LANE, value=SMS_LANE.name)
    switches.set_switch(target, reason=reason, expires_at=None, by=_SET_BY)
    detail = "every SMS provider is paused: P3 SMS wait behind a switch, and P0 to P2 probe"
    alerts.raise_once(AlertKind.MARKETING_SMS_PAUSED, SMS_LANE.name, detail)
