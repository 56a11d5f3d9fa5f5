"""Stories 1 to 4 and 7: the course of single notifications."""

from __future__ import annotations

import signal
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

from notifyproj.devstack.demo.environment import (
    PATIENT,
    DemoEnvironment,
    Reply,
    Service,
    now,
    pause,
    until,
)
from notifyproj.devstack.demo.report import Report, instant

_SLACK_SECONDS: Final = 1.5
"""Tolerance of a wait, which is rounded up to share a message and grows on a busy machine."""
_OVER_A_SECOND: Final = 1.2
_FINAL: Final = frozenset({"delivered", "failed", "suppressed", "expired", "cancelled"})


def third_try(scene: DemoEnvironment, tell: Report) -> None:
    """Message A: the provider answers 503, 503, 202."""
    asked = {
        "user_id": "u_ana",
        "type": "ORDER_SHIPPED",
        "priority": "P2",
        "template_id": "order_shipped",
        "variables": {"order_id": "ORD-91"},
        "channels": ["email"],
    }
    reply = scene.orders.notify(asked, key=f"ord-91:shipped:{scene.run}")
    found = _wait_until_final(scene.orders, reply.body["notification_id"])
    tell.timeline(found)
    calls = _calls(scene, found)
    began = [instant(call["at"]) for call in calls]
    waits = [(later - earlier).total_seconds() for earlier, later in pairwise(began)]
    tell.say(f"answers {[call['status'] for call in calls]}, waits {waits} s")
    statuses = [call["status"] for call in calls]
    tell.check("sent at the third try", held=statuses == [503, 503, 202])
    lowest = (1.0, 2.0)
    tell.check(
        "waits of 1-2 s and 2-4 s",
        held=len(waits) == len(lowest)
        and all(
            low <= wait <= 2 * low + _SLACK_SECONDS for low, wait in zip(lowest, waits, strict=True)
        ),
    )
    keys = {call["idempotency_key"] for call in calls}
    tell.check("the same key each time", held=len(keys) == 1)
    tell.check("delivered, by the sandbox's receipt", held=found["status"] == "delivered")


def wrong_number(scene: DemoEnvironment, tell: Report) -> None:
    """Message B: 400 invalid number, repaired and replayed."""
    scene.operator.person("u_wrong_number", contacts=[_sms("+15550000")])
    asked: dict[str, object] = {"type": "ORDER_SHIPPED", "template_id": "order_shipped"}
    asked |= {"channels": ["sms"], "variables": {"order_id": "ORD-92"}}
    first, *behind = scene.orders.notify_all([
        {**asked, "user_id": user_id} for user_id in ("u_wrong_number", *["u_lisa"] * 4)
    ])
    failed = _wait_until_final(scene.orders, first)
    tell.timeline(failed)
    calls = _calls(scene, failed)
    tell.check("one call, answered 400", held=[call["status"] for call in calls] == [400])
    neighbours = [_wait_until_final(scene.orders, each) for each in behind]
    slowest = max(
        instant(_calls(scene, each)[0]["at"]) - instant(each["created_at"]) for each in neighbours
    )
    tell.check(
        f"nothing behind it waited (the slowest neighbour {slowest.total_seconds():.2f} s)",
        held=slowest - (instant(calls[0]["at"]) - instant(failed["created_at"]))
        < timedelta(seconds=1),
    )
    letter = _letter_of(scene, failed["deliveries"][0]["delivery_id"])
    tell.check(f"a dead letter: {letter['reason']}", held=letter["reason"] == "permanent")
    scene.operator.person("u_wrong_number", contacts=[_sms("+15552000003")])
    tell.say("the number is repaired, and an operator replays the letter")
    job = {"ids": [letter["id"]]}
    scene.operator.ask(
        "POST",
        "/v1/dead-letters/replay",
        job,
    )
    found = _wait_until_final(scene.orders, first, status="delivered")
    tell.timeline(found)
    tell.check("then it was delivered", held=found["status"] == "delivered")


def order_ready(scene: DemoEnvironment, tell: Report) -> None:
    """The food-delivery order, posted twice with one key."""
    key = f"ord-4521-ready-notif:{scene.run}"
    asked = {
        "user_id": "u_789012",
        "type": "ORDER_READY",
        "priority": "P1",
        "template_id": "order_ready_v3",
        "variables": {"restaurant": "Burger Palace", "order_id": "ORD-4521"},
        "channels": ["push", "sms"],
        "fallback_chain": False,
    }
    first, second = (scene.orders.notify(asked, key=key) for _ in range(2))
    found = _wait_until_final(scene.orders, first.body["notification_id"])
    tell.timeline(found)
    again = second.headers.get("Idempotent-Replayed") == "true"
    tell.check("posted twice: one notification", held=again and first.body == second.body)
    got = scene.sandbox.messages(notification_id=found["notification_id"])
    shown = [message["title"] for message in got for _ in range(message["shown"])]
    tell.check("one push", held=[message["channel"] for message in got] == ["push"])
    tell.check(f"in Portuguese: {shown}", held=shown == ["Burger Palace: seu pedido está pronto"])
    took = (instant(got[0]["first_at"]) - instant(found["created_at"])).total_seconds()
    tell.say(f"accepted to provider: {took * 1000:.0f} ms")


def not_now(scene: DemoEnvironment, tell: Report) -> None:
    """Opted out; expired; scheduled in 3 s; cancelled before leaving."""
    mail: dict[str, object] = {
        "user_id": "u_lisa",
        "type": "ORDER_SHIPPED",
        "template_id": "order_shipped",
        "variables": {"order_id": "ORD-94"},
        "channels": ["email"],
    }
    ids = {"expired": _expire(scene, tell, mail)}
    at, later = now() + timedelta(seconds=3), now() + timedelta(hours=1)
    wishes: dict[str, dict[str, object]] = {
        "opted out": {"user_id": "u_quiet", "channels": ["push"]},
        "scheduled in 3 s": {"scheduled_at": at.isoformat()},
        "cancelled": {"scheduled_at": later.isoformat()},
    }
    ids |= {name: _id(scene.orders.notify(mail | wish)) for name, wish in wishes.items()}
    cancelled = ids["cancelled"]
    scene.orders.ask("POST", f"/v1/notifications/{cancelled}/cancel", {})
    found = {name: _wait_until_final(scene.orders, each) for name, each in ids.items()}
    for name, notification in found.items():
        tell.say(name)
        tell.timeline(notification)
    calls = {name: _calls(scene, notification) for name, notification in found.items()}
    for name, status in {
        "opted out": "suppressed",
        "expired": "expired",
        "cancelled": "cancelled",
    }.items():
        held = found[name]["status"] == status and not calls[name]
        tell.check(f"{name}: {status}, and no call was made", held=held)
    late = (instant(calls["scheduled in 3 s"][0]["at"]) - at).total_seconds()
    tell.check(f"scheduled: left {late:.2f} s after its time, not before", held=late >= 0)


def airplane_mode(scene: DemoEnvironment, tell: Report) -> None:
    """An OTP to a phone in airplane mode: the push is not confirmed, the SMS follows."""
    phone = {"channel": "push", "kind": "fcm_token", "address": "maria-phone.receipt-never"}
    scene.operator.person("u_traveller", locale="pt-BR", contacts=[phone, _sms("+15552000004")])
    asked = {
        "user_id": "u_traveller",
        "type": "OTP",
        "priority": "P0",
        "template_id": "otp_v2",
        "variables": {"code": "847291"},
        "channels": ["push", "sms"],
        "fallback_chain": True,
    }
    found = _wait_until_final(scene.auth, _id(scene.auth.notify(asked)))
    tell.timeline(found)
    by_channel = {each["channel"]: each["status"] for each in found["deliveries"]}
    tell.check(
        "the push stays unconfirmed, the SMS is delivered",
        held=by_channel == {"push": "unconfirmed", "sms": "delivered"},
    )
    got = {
        message["channel"]: message
        for message in scene.sandbox.messages(notification_id=found["notification_id"])
    }
    tell.check("one push and one SMS", held=[got[name]["shown"] for name in got] == [1, 1])
    after = (instant(got["sms"]["first_at"]) - instant(got["push"]["first_at"])).total_seconds()
    tell.check(
        f"the SMS left {after:.1f} s after the push, not before the window of 5 s ended",
        held=after >= 5,  # noqa: PLR2004 - the window of P0
    )


def _expire(scene: DemoEnvironment, tell: Report, mail: dict[str, object]) -> str:
    """Send a notification that expires after a second while the workers are paused."""
    pids = [scene.signal_worker(name, signal.SIGSTOP) for name in PATIENT]
    try:
        asked = scene.orders.notify(mail | {"ttl_seconds": 1})
        pause(_OVER_A_SECOND)
    finally:
        for name in PATIENT:
            scene.signal_worker(name, signal.SIGCONT)
    tell.say(f"(the workers, processes {pids}, stood still for over a second)")
    return _id(asked)


def _wait_until_final(
    service: Service, notification_id: str, *, status: str = ""
) -> dict[str, Any]:
    """Return the notification as soon as its status is final, or is `status` if given."""
    wanted = {status} if status else _FINAL

    def look() -> dict[str, Any] | None:
        found = service.notification(notification_id)
        return found if found["status"] in wanted else None

    return until(look, what=f"{notification_id} is {' or '.join(sorted(wanted))}")


def _calls(scene: DemoEnvironment, notification: dict[str, Any]) -> list[dict[str, Any]]:
    got = scene.sandbox.messages(notification_id=notification["notification_id"])
    return [call for message in got for call in message["calls"]]


def _letter_of(scene: DemoEnvironment, delivery_id: str) -> dict[str, Any]:
    letters = scene.operator.ask("GET", "/v1/dead-letters?channel=sms").body["results"]
    found: dict[str, Any] = next(
        letter for letter in letters if letter["delivery_id"] == delivery_id
    )
    return found


def _id(reply: Reply) -> str:
    found: str = reply.body["notification_id"]
    return found


def _sms(number: str) -> dict[str, str]:
    return {"channel": "sms", "address": number}
