"""The named runs: each has one fault, and states the harm that the fault must not do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from notifications.core.rules.lane import Priority
from providers.contract import Channel
from tests.chaos.plans import (
    CHANNELS,
    PEOPLE,
    SERVICE_LEVELS,
    WORKERS,
    Action,
    Deed,
    Manner,
    Message,
    Plan,
    Post,
    token,
)

_SLOW_MAIL: Final = {Channel.EMAIL: Manner(fastest=0.2, slowest=0.4)}
_VERY_SLOW_MAIL: Final = {Channel.EMAIL: Manner(fastest=0.6, slowest=1.0)}
_THROTTLES: Final = Manner(throttled=1.0, retry_after=2)
_AWAY: Final = Manner(unavailable=1.0)
_DOWN: Final = Manner(is_down=True)
_STANDS_STILL: Final = Manner(stands_still=True)
_SILENT: Final = Manner(hangs=1.0)
_WELL: Final = Manner()
_HOURS: Final = 7_200
_LEASE_AND_MORE: Final = 75.0
"""Seconds: longer than the lease of P1 to P3."""


class Tokens:
    """Numbers a run's messages."""

    def __init__(self, seed: int, *, people: int = PEOPLE) -> None:
        self._seed = seed
        self._people = people
        self._made = 0

    def batch(self, count: int, priority: Priority, channel: Channel, *, at: float = 0.0) -> Post:
        """One request with so many messages of a kind."""
        return Post(at, tuple(self._message(priority, channel) for _ in range(count)))

    def trickle(
        self,
        per_second: float,
        seconds: float,
        priorities: Iterable[Priority],
        channels: Iterable[Channel] = CHANNELS,
    ) -> list[Post]:
        """Single requests, each kind in turn."""
        kinds = [(priority, channel) for priority in priorities for channel in channels]
        return [
            Post(number / per_second, (self._message(*kinds[number % len(kinds)]),))
            for number in range(int(per_second * seconds))
        ]

    def _message(self, priority: Priority, channel: Channel) -> Message:
        self._made += 1
        return Message(
            token=token(self._seed, self._made),
            priority=priority,
            channel=channel,
            person=self._made % self._people,
        )


def one_worker(seed: int) -> Plan:
    """One worker is killed a second into 300 newsletter mails: only calls in flight are unsure."""
    return Plan(
        name="one worker killed in 300 P3 mails",
        seed=seed,
        posts=[Tokens(seed).batch(300, Priority.P3, Channel.EMAIL)],
        actions=[Action(at=3.0, deed=Deed.KILL, target="channels")],
        manners=_SLOW_MAIL,
    )


def slow_codes(seed: int) -> Plan:
    """Sixty sign-in codes at once and a slow mail server: no fault, so nobody gets two."""
    return Plan(
        name="60 P0 mails, 0.6-1.0 s each",
        seed=seed,
        posts=[Tokens(seed).batch(60, Priority.P0, Channel.EMAIL)],
        manners=_VERY_SLOW_MAIL,
    )


def codes_beside_bulk(seed: int) -> Plan:
    """A thousand newsletter mails must not make sixty sign-in codes wait."""
    tokens = Tokens(seed)
    bulk = tokens.batch(1000, Priority.P3, Channel.EMAIL)
    codes = [tokens.batch(1, Priority.P0, Channel.EMAIL, at=5 + 0.25 * n) for n in range(60)]
    return Plan(
        name="1,000 P3 mails beside 60 P0",
        seed=seed,
        posts=[bulk, *codes],
        manners=_SLOW_MAIL,
        levels={Priority.P0: SERVICE_LEVELS[Priority.P0]},
        drain_seconds=300.0,
    )


def dead_broker(seed: int) -> Plan:
    """The broker stays dead for 30 s: workers take due rows from Postgres."""
    return Plan(
        name="broker dead for 30 s",
        seed=seed,
        posts=Tokens(seed).trickle(3, 45, [Priority.P0, Priority.P1]),
        actions=[Action(at=5, deed=Deed.STAY_DEAD, target="broker", seconds=30)],
        levels=SERVICE_LEVELS,
    )


def broker_restarts(seed: int) -> Plan:
    """The broker is killed every 20 s: workers outlive it."""
    return Plan(
        name="broker restarted every 20 s",
        seed=seed,
        posts=Tokens(seed).trickle(5, 70, Priority),
        actions=[Action(at=10 + 20 * n, deed=Deed.KILL, target="broker") for n in range(3)],
    )


def receiver_away(seed: int) -> Plan:
    """The webhook receiver answers 503 for 90 s: nothing becomes a dead letter."""
    return Plan(
        name="webhook receiver away for 90 s",
        seed=seed,
        posts=Tokens(seed).trickle(4, 100, Priority, [Channel.WEBHOOK, Channel.SMS]),
        actions=[
            Action(at=5, deed=Deed.STEER, target="webhook", manner=_AWAY),
            Action(at=95, deed=Deed.STEER, target="webhook", manner=_WELL),
        ],
        drain_seconds=300.0,
    )


def throttled(seed: int) -> Plan:
    """The SMS provider answers 429 for 30 s: it is waited for, and costs no attempt."""
    return Plan(
        name="SMS throttled for 30 s",
        seed=seed,
        posts=Tokens(seed).trickle(4, 45, Priority, [Channel.SMS, Channel.PUSH]),
        actions=[
            Action(at=5, deed=Deed.STEER, target="sms", manner=_THROTTLES),
            Action(at=35, deed=Deed.STEER, target="sms", manner=_WELL),
        ],
        drain_seconds=300.0,
    )


def mail_down(seed: int) -> Plan:
    """Nobody listens on the mail server's port for 60 s."""
    return Plan(
        name="SMTP down for 60 s",
        seed=seed,
        posts=Tokens(seed).trickle(4, 75, Priority, [Channel.EMAIL, Channel.PUSH]),
        actions=[
            Action(at=5, deed=Deed.STEER, target="email", manner=_DOWN),
            Action(at=65, deed=Deed.STEER, target="email", manner=_WELL),
        ],
        drain_seconds=300.0,
    )


def mail_hangs(seed: int) -> Plan:
    """The mail server stands still for 40 s: it takes connections and says nothing."""
    return Plan(
        name="SMTP server stands still for 40 s",
        seed=seed,
        posts=Tokens(seed).trickle(6, 60, Priority, [Channel.EMAIL, Channel.PUSH]),
        actions=[
            Action(at=5, deed=Deed.STEER, target="email", manner=_STANDS_STILL),
            Action(at=45, deed=Deed.STEER, target="email", manner=_WELL),
        ],
        drain_seconds=300.0,
    )


def push_hangs(seed: int) -> Plan:
    """For 40 s the push provider takes each message and answers none."""
    return Plan(
        name="push taken and not answered for 40 s",
        seed=seed,
        posts=Tokens(seed).trickle(6, 60, Priority, [Channel.PUSH, Channel.SMS]),
        actions=[
            Action(at=5, deed=Deed.STEER, target="push", manner=_SILENT),
            Action(at=45, deed=Deed.STEER, target="push", manner=_WELL),
        ],
        drain_seconds=300.0,
    )


def sms_away(seed: int) -> Plan:
    """The SMS provider answers 503 for three minutes."""
    return Plan(
        name="SMS provider away for 180 s",
        seed=seed,
        posts=Tokens(seed).trickle(3, 195, Priority, [Channel.SMS, Channel.PUSH]),
        actions=[
            Action(at=5, deed=Deed.STEER, target="sms", manner=_AWAY),
            Action(at=185, deed=Deed.STEER, target="sms", manner=_WELL),
        ],
        drain_seconds=200.0,
    )


def mostly_well(seed: int) -> Plan:
    """A fifth of all calls get 503, and one in twenty is taken and cut: codes do not wait."""
    return Plan(
        name="20 % 503 and 5 % taken and cut, every channel",
        seed=seed,
        posts=Tokens(seed).trickle(8, 60, Priority),
        manners=dict.fromkeys(CHANNELS, Manner(unavailable=0.2, cuts=0.05)),
        drain_seconds=300.0,
    )


def deploys(seed: int) -> Plan:
    """Each process gets SIGTERM in turn, twice: a deploy is no crash."""
    names = (*WORKERS, "web", "ops", "beat")
    turns = [name for _ in range(2) for name in names]
    return Plan(
        name="rolling SIGTERMs",
        seed=seed,
        posts=[
            *Tokens(seed).trickle(8, 100, Priority),
            *(
                Tokens(seed + 1000 * n).batch(40, Priority.P2, Channel.EMAIL, at=8.0 * n)
                for n in range(1, 12)
            ),
        ],
        actions=[
            Action(at=5 + 8.0 * turn, deed=Deed.TERMINATE, target=name)
            for turn, name in enumerate(turns)
        ],
    )


def full_broker(seed: int) -> Plan:
    """The broker takes no writes for 45 s."""
    return Plan(
        name="broker full for 45 s",
        seed=seed,
        posts=Tokens(seed).trickle(4, 60, Priority),
        actions=[Action(at=5, deed=Deed.FILL, target="broker", seconds=45)],
        levels=SERVICE_LEVELS,
    )


def full_state(seed: int) -> Plan:
    """The state instance takes no writes for 45 s."""
    return Plan(
        name="state instance full for 45 s",
        seed=seed,
        posts=Tokens(seed).trickle(4, 60, Priority),
        actions=[Action(at=5, deed=Deed.FILL, target="state", seconds=45)],
        levels=SERVICE_LEVELS,
    )


def dead_state(seed: int) -> Plan:
    """The state instance stays dead for 60 s, and each person has caps."""
    return Plan(
        name="state instance dead for 60 s, with caps",
        seed=seed,
        posts=Tokens(seed).trickle(5, 72, Priority),
        actions=[Action(at=5, deed=Deed.STAY_DEAD, target="state", seconds=60)],
        settings={"NOTIFY_CAPS": "push=100/hour,sms=100/day,email=100/day"},
    )


def many_callers(seed: int) -> Plan:
    """Sixteen callers post each request at once, and batches overlap: a key is one notification."""
    tokens = Tokens(seed)
    singles = tokens.trickle(2, 20, Priority)
    batches = []
    for at in (4.0, 9.0, 14.0):
        whole = tokens.batch(40, Priority.P2, Channel.SMS, at=at).messages
        batches += [Post(at, whole[:30]), Post(at, whole[:9:-1])]
    return Plan(
        name="16 callers for each request, overlapping batches",
        seed=seed,
        posts=[*singles, *batches],
        actions=[
            Action(at=3, deed=Deed.FLUSH, target="state"),
            Action(at=6.1, deed=Deed.KILL, target="web"),
            Action(at=10.1, deed=Deed.KILL, target="postgres"),
            Action(at=14.1, deed=Deed.KILL, target="web"),
        ],
        copies=16,
    )


def read_only(seed: int) -> Plan:
    """Postgres takes no writes for 20 s, as during a failover: requests get 503."""
    return Plan(
        name="Postgres read-only for 20 s",
        seed=seed,
        posts=Tokens(seed).trickle(4, 35, Priority),
        actions=[Action(at=5, deed=Deed.READ_ONLY, target="postgres", seconds=20)],
    )


def frozen_worker(seed: int) -> Plan:
    """A worker stands still for longer than its leases and comes back."""
    tokens = Tokens(seed)
    return Plan(
        name=f"channels frozen for {_LEASE_AND_MORE:.0f} s",
        seed=seed,
        posts=[
            tokens.batch(100, Priority.P2, Channel.EMAIL),
            *tokens.trickle(4, 90, Priority),
        ],
        actions=[Action(at=3, deed=Deed.FREEZE, target="channels", seconds=_LEASE_AND_MORE)],
        manners=_SLOW_MAIL,
    )


def web_main(seed: int) -> Plan:
    """The web server's main process is killed: what it started must not keep the port."""
    return Plan(
        name="web's main process killed",
        seed=seed,
        posts=Tokens(seed).trickle(5, 30, [Priority.P0, Priority.P1]),
        actions=[Action(at=5, deed=Deed.KILL_MAIN, target="web")],
    )


def fast_worker(seed: int) -> Plan:
    """The clock of one worker's host is two hours ahead: it takes no work, and nothing expires."""
    return _wrong_clock(seed, "channels", _HOURS)


def _wrong_clock(seed: int, process: str, seconds: int) -> Plan:
    return Plan(
        name=f"{process}'s clock wrong by {seconds:+d} s",
        seed=seed,
        posts=Tokens(seed).trickle(4, 20, Priority),
        clocks={process: seconds},
        drain_seconds=60.0,
    )


RUNS: Final[Mapping[str, Callable[[int], Plan]]] = MappingProxyType({
    run.__name__: run
    for run in (
        one_worker,
        slow_codes,
        codes_beside_bulk,
        dead_broker,
        broker_restarts,
        receiver_away,
        throttled,
        mail_down,
        mail_hangs,
        push_hangs,
        sms_away,
        mostly_well,
        deploys,
        full_broker,
        full_state,
        dead_state,
        many_callers,
        read_only,
        frozen_worker,
        web_main,
        fast_worker,
    )
})
