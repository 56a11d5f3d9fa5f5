"""Stories 5 and 6: many notifications at once, and a failure of workers and broker."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final

from notifications.core.management.demo_data import CODE_READERS
from notifyproj.devstack.demo.environment import DELIVERING, DemoEnvironment, Service, now, until
from notifyproj.devstack.demo.report import Report, instant

_MAILS: Final = 2_000
_BATCH: Final = 1_000
_KILLED: Final = 200
"""Notifications of each channel in story 6, which fit in one broker message."""
_LEASE: Final = timedelta(seconds=60)
"""Lease of an e-mail: a dead worker's e-mail is processed again after the lease."""
_OPEN: Final = frozenset({"scheduled", "queued", "sending", "retrying"})


def otp_passes(scene: DemoEnvironment, tell: Report) -> None:
    """Check that an OTP passes 2,000 newsletters from two calls."""
    began = now()
    dishes = [{"name": "Smash burger", "price": "9.90"}]
    newsletter: dict[str, object] = {
        "type": "MARKETING",
        "template_id": "weekend_special",
        "variables": {"headline": "Two for one", "dishes": dishes},
        "channels": ["email"],
    }
    readers = [f"reader_{number:04}" for number in range(1, _MAILS + 1)]
    mails: set[str] = set()
    for start in range(0, _MAILS, _BATCH):
        batch = readers[start : start + _BATCH]
        mails.update(scene.marketing.notify_all([{**newsletter, "user_id": to} for to in batch]))
    tell.say(f"{_MAILS} mails accepted in {(now() - began).total_seconds():.2f} s, in two calls")
    until(lambda: _count_of(scene, "email", since=began, ids=mails), what="the first mail arrives")
    otp = {"user_id": "u_lisa", "type": "OTP", "template_id": "otp_v2", "channels": ["sms"]}
    code = scene.auth.notify(otp | {"variables": {"code": "481516"}}).body
    got = until(
        lambda: scene.sandbox.messages(notification_id=code["notification_id"]),
        what="the OTP arrives",
    )
    arrived = instant(got[0]["first_at"])

    def find_mails() -> list[dict[str, Any]] | None:
        found = _count_of(scene, "email", since=began, ids=mails)
        return found if len(found) == _MAILS else None

    all_mails = until(find_mails, what=f"all {_MAILS} mails arrive", within=timedelta(minutes=2))
    waiting = sum(instant(mail["first_at"]) > arrived for mail in all_mails)
    took = (arrived - instant(code["created_at"])).total_seconds()
    lasted = (max(instant(mail["first_at"]) for mail in all_mails) - began).total_seconds()
    tell.table(
        ("what", "accepted to provider", "mails still waiting then"),
        [("OTP", f"{took * 1000:.0f} ms", waiting), ("last mail", f"{lasted:.1f} s", 0)],
    )
    tell.check("the OTP passed mails that had come before it", held=waiting > 0)
    shown = {mail["shown"] for mail in all_mails}
    tell.check(f"each of the {_MAILS} mails arrived once", held=shown == {1})


def kill_workers_and_wipe_broker(scene: DemoEnvironment, tell: Report) -> None:
    """Kill all workers during calls, wipe the broker, and check that no message is lost."""
    began = now()
    scene.sandbox.steer("slow-800ms", "email")
    scene.sandbox.steer("slow-800ms receipt-never", "sms")
    try:
        expected = _hand_in(scene)
        # Killed when provider calls are under way: accepted by the provider, not yet answered.
        until(
            lambda: all(
                _count_of(scene, channel, since=began, ids=ids) for channel, ids in expected.items()
            ),
            what="calls of both kinds are under way",
        )
        pids = [scene.signal_worker(name, signal.SIGKILL) for name in DELIVERING]
        scene.wipe_broker()
        killed_at = now()
    finally:
        scene.sandbox.steer("", "email", "sms")
    tell.say(f"workers {pids} got SIGKILL in the middle of their calls; the broker was wiped")
    tell.say(f"P0's leases last 6 s, the others' {_LEASE.total_seconds():.0f} s: waiting for those")
    ids = set().union(*expected.values())
    statuses = until(
        lambda: _final_statuses(scene, since=began, ids=ids),
        what="every delivery is settled",
        within=_LEASE + timedelta(minutes=1),
    )
    got = {
        channel: _count_of(scene, channel, since=began, ids=mine)
        for channel, mine in expected.items()
    }
    _tell_arrivals(scene.auth, tell, got["sms"], killed_at=killed_at)
    _tell_arrivals(scene.orders, tell, got["email"], killed_at=killed_at)
    unknown = {each for each, status in statuses.items() if status == "unknown"}
    arrived = {message["notification_id"] for messages in got.values() for message in messages}
    tell.check(
        f"{len(arrived)} of {len(ids)} arrived, {len(unknown)} are shown as unknown, none is lost",
        held=ids <= arrived | unknown,
    )


def _hand_in(scene: DemoEnvironment) -> dict[str, set[str]]:
    """Send codes by SMS and order mails; return the notification ids by channel."""
    code: dict[str, object] = {"type": "OTP", "template_id": "otp_v2", "channels": ["sms"]}
    code |= {"variables": {"code": "162342"}}
    readers = [f"code_reader_{number % CODE_READERS + 1:03}" for number in range(_KILLED)]
    mail: dict[str, object] = {"type": "ORDER_SHIPPED", "template_id": "order_shipped"}
    mail |= {"user_id": "u_lisa", "channels": ["email"], "variables": {"order_id": "ORD-96"}}
    return {
        "email": set(scene.orders.notify_all([mail] * _KILLED)),
        "sms": set(scene.auth.notify_all([{**code, "user_id": each} for each in readers])),
    }


def _tell_arrivals(
    service: Service, tell: Report, got: list[dict[str, Any]], *, killed_at: datetime
) -> None:
    """Report the results of the interrupted calls and the messages shown twice."""
    channel = got[0]["channel"]
    in_flight = [message for message in got if instant(message["first_at"]) < killed_at]
    saved = Counter(_proof_of_acceptance(service, message) for message in in_flight)
    effects = Counter(call["effect"] for message in got for call in message["calls"])
    twice = sum(message["shown"] > 1 for message in got)
    last = (max(instant(message["last_at"]) for message in got) - killed_at).total_seconds()
    when = f"{abs(last):.1f} s {'after' if last > 0 else 'before'} the kill"
    tell.say(f"{channel}: {len(got)} arrived, the last {when}")
    tell.say(f"of {len(in_flight)} whose call was under way then:")
    tell.table(("how many", "what became of it"), [(many, how) for how, many in saved.items()])
    tell.check(
        f"{channel}: no recipient got a message twice"
        f" ({effects['duplicate']} calls were repeated, and the provider knew their keys)",
        held=twice == 0,
    )


def _proof_of_acceptance(service: Service, message: dict[str, Any]) -> str:
    """Return the way in which the service learned that the provider had accepted a message."""
    if len(message["calls"]) > 1:
        return "sent again with the same key, which the provider knew"
    timeline = service.notification(message["notification_id"])["timeline"]
    if any(event["reason"] == "accepted_before_crash" for event in timeline):
        return "found in the sent-ledger, not sent again"
    if any(event["status"] == "sent" for event in timeline):
        return "settled just before"
    return "the provider's receipt came, not sent again"


def _count_of(
    scene: DemoEnvironment, channel: str, *, since: datetime, ids: Collection[str]
) -> list[dict[str, Any]]:
    found = scene.sandbox.messages(channel=channel, since=since.isoformat())
    return [message for message in found if message["notification_id"] in ids]


def _final_statuses(
    scene: DemoEnvironment, *, since: datetime, ids: Collection[str]
) -> dict[str, str] | None:
    """Return the statuses of `ids` as soon as every delivery is settled, else None."""
    found = scene.orders.statuses(type_="ORDER_SHIPPED", since=since)
    found |= scene.auth.statuses(type_="OTP", since=since)
    mine = {each: found[each] for each in ids if each in found}
    settled = len(mine) == len(ids) and not _OPEN.intersection(mine.values())
    return mine if settled else None
