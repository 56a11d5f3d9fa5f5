"""SMS outage: while every SMS provider is paused, a switch holds the lane `p3.sms`.

P3 then makes no probe and no call, and each waiting P3 SMS gets the reason `channel_paused` with
the switch's text. P0, P1 and P2 probe as before, and fallback chains of P0 and P1 go on to the next
channel. The recovery of one provider resumes the switch, and its rows come back on a ramp. Without
P0, P1 and P2 no delivery probes, so the switch is also resumed when a probe is overdue for
PROBE_PATIENCE: a P3 then probes, and a failed probe sets the switch again.

An operator may resume the switch during the outage: the same outage sets no second switch. Safe to
run twice (one switch at a time), late or never (P3 SMS are probes like other deliveries).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final

from django.db import transaction

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.models import Switch
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.postgres import alerts, locks
from notifications.core.store.rate_limits import breaker_status
from notifications.core.store.rate_limits.breaker_status import BreakerStatus
from providers.contract import Channel

LANE: Final = Lane(Mode.LIVE, Priority.P3, Channel.SMS)
SET_BY: Final = "the service, for an SMS outage"
PROBE_PATIENCE: Final = dt.timedelta(minutes=2)
"""P0, P1 and P2 have this long to probe before a P3 may."""


def pause_or_resume() -> None:
    """Set the switch in an outage, and resume it afterwards; nothing while the state is away."""
    found = _statuses()
    if not all(each.is_known for each in found):
        return
    since = _outage_since(found)
    wants_probe = any(each.overdue >= PROBE_PATIENCE for each in found)
    with transaction.atomic():
        if not locks.try_for_transaction("sms_outage"):
            return
        newest = Switch.objects.filter(kind=SwitchKind.LANE, value=LANE.name, set_by=SET_BY).first()
        is_set = newest is not None and newest.resumed_at is None
        if since is None or wants_probe:
            if is_set:
                switches.resume(Switch.objects.filter(set_by=SET_BY), by=SET_BY)
        elif not is_set and not _was_resumed(newest, since):
            _pause()
        if since is None:
            alerts.resolve(AlertKind.MARKETING_SMS_PAUSED, LANE.name)


def _statuses() -> list[BreakerStatus]:
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
    return newest is not None and newest.resumed_by != SET_BY and newest.set_at >= since


def _pause() -> None:
    reason = "All SMS providers are down; resumed when one takes calls again."
    target = SwitchTarget(kind=SwitchKind.LANE, value=LANE.name)
    switches.set_switch(target, reason=reason, expires_at=None, by=SET_BY)
    detail = "every SMS provider is paused: P3 SMS wait behind a switch, and P0 to P2 probe"
    alerts.raise_once(AlertKind.MARKETING_SMS_PAUSED, LANE.name, detail)
