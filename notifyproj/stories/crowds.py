"""Stories 5 and 6: many notifications at once, and what breaks while they are under way."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final

from notifyproj.stories.scene import Scene, Service, now, until
from notifyproj.stories.telling import Teller, instant

_MAILS: Final = 2_000
_BATCH: Final = 1_000
_OTP_SECONDS: Final = 3.0
"""The service level of P0."""
_KILLED: Final = 200
"""Of each kind in the story of the killed workers: one message's worth of work."""
_LEASE: Final = timedelta(seconds=60)
"""After which an e-mail in a dead worker's hands is looked at again."""
_OPEN: Final = frozenset({"scheduled", "queued", "sending", "retrying"})


def otp_passes(scene: Scene, tell: Teller) -> None:
    """2,000 newsletters in two calls, and an OTP that passes them."""
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
    until(lambda: _got(scene, "email", since=began, ids=mails), what="the first mail arrives")
    otp = {"user_id": "u_lisa", "type": "OTP", "template_id": "otp_v2", "channels": ["sms"]}
    code = scene.auth.notify(otp | {"variables": {"code": "481516"}}).body
    got = until(
        lambda: scene.sandbox.messages(notification_id=code["notification_id"]),
        what="the OTP arrives",
    )
    arrived = instant(got[0]["first_at"])

    def arrived_mails() -> list[dict[str, Any]] | None:
        found = _got(scene, "email", since=began, ids=mails)
        return found if len(found) == _MAILS else None

    all_mails = until(arrived_mails, what=f"all {_MAILS} mails arrive", within=timedelta(minutes=2))
    waiting = sum(instant(mail["first_at"]) > arrived for mail in all_mails)
    took = (arrived - instant(code["created_at"])).total_seconds()
    lasted = (max(instant(mail["first_at"]) for mail in all_mails) - began).total_seconds()
    tell.table(
        ("what", "accepted to provider", "mails still waiting then"),
        [("OTP", f"{took * 1000:.0f} ms", waiting), ("last mail", f"{lasted:.1f} s", 0)],
    )
    tell.check(f"the OTP took less than {_OTP_SECONDS:g} s", held=took < _OTP_SECONDS)
    tell.check("it passed mails that had come before it", held=waiting > 0)
    shown = {mail["shown"] for mail in all_mails}
    tell.check(f"each of the {_MAILS} mails arrived once", held=shown == {1})


def killed_and_wiped(scene: Scene, tell: Teller) -> None:
    """Both workers are killed while they send, and the broker is wiped."""
    began = now()
    scene.sandbox.steer("slow-800ms", "email", "sms")
    try:
        expected = _hand_in(scene)
        # Killed when provider calls are under way: accepted by the provider, not yet answered.
        until(
            lambda: all(
                _got(scene, channel, since=began, ids=ids) for channel, ids in expected.items()
            ),
            what="calls of both kinds are under way",
        )
        pids = [scene.signal_worker(name, signal.SIGKILL) for name in ("p0", "channels")]
        scene.wipe_broker()
    finally:
        scene.sandbox.steer("", "email", "sms")
    tell.say(f"workers {pids} got SIGKILL in the middle of their calls; the broker was wiped")
    tell.say(f"P0's leases last 6 s, the others' {_LEASE.total_seconds():.0f} s: waiting for those")
    ids = set().union(*expected.values())
    statuses = until(
        lambda: _closed(scene, since=began, ids=ids),
        what="every delivery is settled",
        within=_LEASE + timedelta(minutes=1),
    )
    for channel, service in (("sms", scene.auth), ("email", scene.orders)):
        _tell_arrivals(scene, tell, channel, service=service, since=began, ids=expected[channel])
    unknown = {each for each, status in statuses.items() if status == "unknown"}
    arrived = {
        message["notification_id"]
        for channel in expected
        for message in _got(scene, channel, since=began, ids=ids)
    }
    tell.check(
        f"{len(arrived)} of {len(ids)} arrived, {len(unknown)} are shown as unknown, none is lost",
        held=ids <= arrived | unknown,
    )


def _hand_in(scene: Scene) -> dict[str, set[str]]:
    """Codes by SMS and order mails; their ids by channel."""
    code: dict[str, object] = {"type": "OTP", "template_id": "otp_v2", "channels": ["sms"]}
    code |= {"user_id": "u_lisa", "variables": {"code": "162342"}}
    mail: dict[str, object] = {"type": "ORDER_SHIPPED", "template_id": "order_shipped"}
    mail |= {"user_id": "u_lisa", "channels": ["email"], "variables": {"order_id": "ORD-96"}}
    return {
        "email": set(scene.orders.notify_all([mail] * _KILLED)),
        "sms": set(scene.auth.notify_all([code] * _KILLED)),
    }


def _tell_arrivals(
    scene: Scene,
    tell: Teller,
    channel: str,
    *,
    service: Service,
    since: datetime,
    ids: Collection[str],
) -> None:
    """Count calls, repeats and how each delivery in a dead worker's hands was saved."""
    got = _got(scene, channel, since=since, ids=ids)
    reasons: Counter[str] = Counter()
    for each in ids:
        reasons.update({event["reason"] for event in service.read(each)["timeline"]})
    effects = Counter(call["effect"] for message in got for call in message["calls"])
    twice = sum(message["shown"] > 1 for message in got)
    last = max(instant(message["last_at"]) for message in got)
    tell.say(
        f"{channel}: the last call came {(last - since).total_seconds():.1f} s after the start"
    )
    tell.table(
        ("deliveries", "calls", "seen twice", "repeats known by key", "healed by the ledger"),
        [(len(got), sum(effects.values()), twice, effects["duplicate"], reasons["ghost_healed"])],
    )
    tell.check(
        f"{channel}: nobody saw a message twice"
        f" ({effects['duplicate']} calls were repeated, and the provider knew their keys)",
        held=twice == 0,
    )


def _got(
    scene: Scene, channel: str, *, since: datetime, ids: Collection[str]
) -> list[dict[str, Any]]:
    found = scene.sandbox.messages(channel=channel, since=since.isoformat())
    return [message for message in found if message["notification_id"] in ids]


def _closed(scene: Scene, *, since: datetime, ids: Collection[str]) -> dict[str, str] | None:
    """The statuses of these, once none of them can still leave."""
    found = scene.orders.statuses(type_="ORDER_SHIPPED", since=since)
    found |= scene.auth.statuses(type_="OTP", since=since)
    mine = {each: found[each] for each in ids if each in found}
    settled = len(mine) == len(ids) and not _OPEN.intersection(mine.values())
    return mine if settled else None
