"""SMS outage: while every SMS provider rests, a switch holds the lane `p3.sms`.

P3 then makes no probe and no call, and each waiting P3 SMS gets the reason `channel_paused` with
the switch's text. P0, P1 and P2 probe as before, and fallback chains of P0 and P1 go on to the next
channel. The recovery of one provider resumes the switch, and its rows come back on a ramp.

An operator may resume the switch during the outage: the same outage sets no second switch. Safe to
run twice (one switch at a time), late or never (P3 SMS are probes like other deliveries).
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.db import transaction

from notifications import clock
from notifications.delivery import routing
from notifications.models import Switch
from notifications.operations import switches
from notifications.operations.switches import SwitchTarget
from notifications.rules.alerts import AlertKind
from notifications.rules.lane import Lane, Mode, Priority
from notifications.rules.switches import SwitchKind
from notifications.store.postgres import alerts, locks
from notifications.store.rate_limits import breaker_status
from providers.contract import Channel

LANE: Final = Lane(Mode.LIVE, Priority.P3, Channel.SMS)
SET_BY: Final = "the service, for an SMS outage"


def pause_or_resume() -> None:
    """Set the switch in an outage, and resume it afterwards."""
    since = _outage_since()
    with transaction.atomic():
        if not locks.try_for_transaction("sms_outage"):
            return
        newest = Switch.objects.filter(kind=SwitchKind.LANE, value=LANE.name, set_by=SET_BY).first()
        is_set = newest is not None and newest.resumed_at is None
        if since is not None and not is_set and not _was_resumed(newest, since):
            _pause()
        elif since is None and is_set:
            switches.resume(Switch.objects.filter(set_by=SET_BY), by=SET_BY)
        if since is None:
            alerts.resolve(AlertKind.MARKETING_SMS_PAUSED, LANE.name)


def _outage_since() -> dt.datetime | None:
    """Return the time since which every SMS provider rests; None: one takes calls, or none is set.

    While the state Redis is away, every breaker counts as closed.
    """
    providers = routing.live_providers(Channel.SMS)
    found = breaker_status.of_pairs((each.name, Channel.SMS) for each in providers)
    if not found or not all(each.is_open for each in found.values()):
        return None
    return max(each.since or clock.now() for each in found.values())


def _was_resumed(newest: Switch | None, since: dt.datetime) -> bool:
    """Return True if an operator resumed the switch of this outage."""
    return newest is not None and newest.resumed_by != SET_BY and newest.set_at >= since


def _pause() -> None:
    reason = "All SMS providers are down; resumed when one takes calls again."
    target = SwitchTarget(kind=SwitchKind.LANE, value=LANE.name)
    switches.set_switch(target, reason=reason, expires_at=None, by=SET_BY)
    detail = "every SMS provider rests: P3 SMS wait behind a switch, and P0 to P2 probe"
    alerts.raise_once(AlertKind.MARKETING_SMS_PAUSED, LANE.name, detail)
