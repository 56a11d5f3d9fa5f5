"""A night: what waits for quiet hours to end arrives once, in its turn, whatever is killed.

Workers, sweeper and beat are killed while the morning's ramp is released. Who changed their mind
overnight is asked again: what they do not want any more does not come. Nobody sits the night out:
it goes on when the due times, the times to live and the window of the quiet hours are moved back.
"""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import psycopg

from notifications.core.rules.ids import notification_of
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import now, until
from notifyproj.devstack.ports import LOOPBACK
from tests.scenarios.world import World

_HOUR: Final = timedelta(hours=1)
_SLEEPERS: Final = 10
_MAILS_EACH: Final = 30
_GRACE: Final = timedelta(seconds=6)
"""The sweep leaves a row to its own message for five."""
_TURNS: Final = (timedelta(seconds=100), timedelta(seconds=200), timedelta(seconds=300))
"""Behind the end of the quiet: where the ramp of five minutes is looked at."""


def _zone() -> ZoneInfo:
    """Berlin, where a spring night lacks an hour, unless it is the autumn night with an hour twice.

    In that night a window that is moved could end in either of the two hours.
    """
    berlin, later = ZoneInfo("Europe/Berlin"), now() + 5 * _HOUR
    before, after = (each.astimezone(berlin).utcoffset() for each in (later - 10 * _HOUR, later))
    assert before is not None
    assert after is not None
    return ZoneInfo("UTC") if after < before else berlin


@dataclass
class _Night:
    """Quiet hours that began an hour ago and last two more, and how much of them has passed."""

    world: World
    zone: ZoneInfo = field(default_factory=_zone)
    begun: datetime = field(default_factory=lambda: now().replace(second=0, microsecond=0))
    passed: timedelta = timedelta(0)
    held: list[UUID] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ends = self.begun + 2 * _HOUR

    def quiet_hours(self) -> list[dict[str, object]]:
        """Where the window lies by now, in full minutes of the sleepers' clock."""
        back = -(-self.passed // timedelta(minutes=1)) * timedelta(minutes=1)
        instants = (self.begun - _HOUR - back, self.ends - back)
        start, end = (each.astimezone(self.zone) for each in instants)
        return [{"days": [], "channels": [], "start": f"{start:%H:%M}", "end": f"{end:%H:%M}"}]

    def goes_on(self, span: timedelta) -> None:
        """All that was held is so much older; no trigger takes the moved window for a wish."""
        self.passed += span
        url = self.world.stack.postgres.url
        with psycopg.connect(url, options="-c session_replication_role=replica") as link:
            link.execute(
                "UPDATE notifications_preference SET quiet_hours = %s WHERE quiet_hours <> '[]'"
                " AND recipient_id IN"
                " (SELECT recipient_id FROM notification WHERE id = ANY(%s))",
                (json.dumps(self.quiet_hours()), self.held),
            )
        self.world.rows(
            "UPDATE notification SET expires_at = expires_at - %s WHERE id = ANY(%s)",
            span,
            self.held,
        )
        self.world.rows(
            "UPDATE delivery SET due_at = due_at - %s"
            " WHERE notification_of(id) = ANY(%s) AND status = %s",
            span,
            self.held,
            Status.SCHEDULED,
        )

    def until_after_its_end(self, *, behind: timedelta) -> timedelta:
        """How much must pass."""
        return self.ends + behind - (now() + self.passed) + _GRACE

    def sleeper(self, **contacts: str) -> str:
        """Somebody who is in it."""
        somebody = self.world.person(timezone=self.zone.key, **contacts)
        self.world.wish(somebody, quiet_hours=self.quiet_hours())
        return somebody

    def mails(self, count: int, user_id: str, **fields: object) -> list[UUID]:
        """Hand these in."""
        made = self.world.send_mails(count, user_id=user_id, **fields)
        self.held += made
        return made

    def turns(self, notifications: Sequence[UUID]) -> dict[UUID, timedelta]:
        """Behind the end of the quiet, when each of these may leave."""
        return {
            notification_of(row["id"]): row["due_at"] + self.passed - self.ends
            for row in self.world.deliveries(notifications)
        }

    def arrivals(self, notifications: Sequence[UUID]) -> dict[UUID, timedelta]:
        """Behind the end of the quiet, when these came: right for those since it last went on."""
        return {
            each: datetime.fromisoformat(message["first_at"]) + self.passed - self.ends
            for each, message in self.world.got(notifications).items()
        }


def test_the_morning_comes_to_each_once_and_in_turn_though_everything_is_killed(
    world: World,
) -> None:
    night = _Night(world)
    address = "x+slow-300ms+receipt-never@sandbox.example"
    people = [night.sleeper(email=address) for _ in range(_SLEEPERS)]
    mails = [each for somebody in people for each in night.mails(_MAILS_EACH, somebody)]
    [more] = world.start_extra("transactional")
    world.in_status(Status.SCHEDULED, mails)

    # Somebody looks at them in the middle of the night: they wait on.
    world.expire_waits(mails[:_MAILS_EACH])
    until(
        lambda: world.reasons(mails[0]).count("quiet_hours") == 2,
        what="the first has been held again",
    )
    world.in_status(Status.SCHEDULED, mails)
    turns = night.turns(mails)
    assert timedelta(0) <= min(turns.values()) < _TURNS[0]
    assert _TURNS[-2] < max(turns.values()) < _TURNS[-1]
    assert not world.got(mails)

    arrived: dict[UUID, timedelta] = {}
    victims = (more, *(world.processes[name] for name in ("channels", "ops", "beat")))
    for behind in _TURNS:
        night.goes_on(night.until_after_its_end(behind=behind))
        if behind is not _TURNS[-1]:
            world.until_more_than(len(arrived), mails)
            world.kill_and_restart(*victims)
            world.forget_the_killed(mails)
        world.in_status(Status.SENT, [each for each, turn in turns.items() if turn <= behind])
        arrived = night.arrivals(mails) | arrived
    assert not [each for each in mails if arrived[each] < turns[each]]
    assert world.shown(mails) == [1] * len(mails)


def test_who_changed_their_mind_overnight_is_asked_again(world: World) -> None:
    # The clocks of a sleeper and of a traveller are an hour apart wherever the moved window lies.
    night = _Night(world, zone=ZoneInfo("UTC"))
    number = f"+15552{uuid4().int % 1000:03}0{uuid4().int % 100:02}"  # STOP outlives the run
    address = "x+receipt-never@sandbox.example"
    stays, leaves, travels = (night.sleeper(email=address) for _ in range(3))
    tired = night.sleeper(sms=number)
    kept = night.mails(3, stays)
    unwanted = night.mails(3, leaves)
    carried = night.mails(3, travels)
    stale = night.mails(3, stays, ttl_seconds=1800)
    stopped = night.mails(3, tired, channels=["sms"])
    world.in_status(Status.SCHEDULED, night.held)

    world.wish(leaves, channels_off=["email"])
    # Where it is an hour earlier the night ends an hour later.
    world.service("operator").person(travels, timezone="Etc/GMT+1")
    _answer(world, number, "STOP")
    world.kill_and_restart(world.processes["channels"])
    night.goes_on(_HOUR)
    world.in_status(Status.EXPIRED, stale)
    night.goes_on(night.until_after_its_end(behind=_TURNS[-1]))
    world.in_status(Status.SENT, kept)
    world.in_status(Status.SUPPRESSED, [*unwanted, *stopped])
    until(
        lambda: all(world.reasons(mail).count("quiet_hours") == 2 for mail in carried),
        what="they have been held again",
    )
    world.in_status(Status.SCHEDULED, carried)

    assert set(world.got(night.held)) == set(kept)
    said = {
        Status.EXPIRED: (stale, "ttl_passed_in_quiet_hours"),
        Status.SUPPRESSED: (unwanted, "opted_out"),
    }
    for mails, reason in (*said.values(), (stopped, "suppression_list")):
        assert Counter(row["reason"] for row in world.deliveries(mails)) == {reason: len(mails)}


def _answer(world: World, number: str, text: str) -> None:
    """Answer from a number, and wait for the entry on the suppression list."""
    link = http.client.HTTPConnection(LOOPBACK, world.ports.sandbox, timeout=10)
    link.request("POST", "/reply", urlencode({"address": number, "text": text}))
    link.getresponse().read()
    link.close()
    until(
        lambda: world.rows(
            "SELECT 1 FROM notifications_suppression WHERE address = %s AND undone_at IS NULL",
            number,
        ),
        what=f"{text} has arrived",
    )
