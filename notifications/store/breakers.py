"""Breakers: what calls came to, told to all processes; and what each breaker says now.

The state is one JSON object a breaker in the state Redis, changed by Lua alone. Every trip, probe
and close leaves a `BreakerEvent`, a count, a log line, and an alert while it lasts. While Redis is
away each process has breakers of its own, so a dead provider is still spared, by each process
alone; what one learns then it keeps to itself.

Asking whether deliveries may leave is `departures`; this module tells, shows and forces.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

import orjson
import structlog
from django.db.models import F

from notifications import clock
from notifications.models import Breaker as Row
from notifications.models import BreakerEvent
from notifications.rules import breaker as rules
from notifications.rules.breaker import THRESHOLDS, Breaker, Change, Door, Forced, Tally
from notifications.store import alerts, controls, state
from notifications.store.controls import Pair
from providers.contract import Channel

_log = structlog.get_logger(__name__)
Kind = BreakerEvent.Kind

MILLISECOND: Final = dt.timedelta(milliseconds=1)
_KEPT_OPEN: Final = dt.timedelta(hours=1)
"""A breaker that nobody has probed for so long is forgotten: nobody uses its provider any more."""
_TELL_EVERY: Final = 1.0
"""Seconds between two tellings of nothing but success: they only weigh what failed."""
ALERT: Final = "breaker_open"
_COUNTED: Final = {Kind.TRIPPED: "trips", Kind.PROBED: "probes", Kind.CLOSED: "closes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a breaker stands, for whoever looks."""

    forced: Forced
    since: dt.datetime | None
    """When it tripped; None: it has not."""
    why: str
    wait: dt.timedelta
    """Until the next probe; zero when one is due, or none is needed."""
    calls: int
    """Calls of the last minutes, while it is closed."""
    failures: int

    @property
    def is_open(self) -> bool:
        """Nothing is sent but probes; with `forced`, not even they."""
        match self.forced:
            case Forced.OPEN:
                return True
            case Forced.CLOSED:
                return False
            case _:
                return self.since is not None


class _Mine:
    """What this process knows: breakers while Redis is away, and successes not told yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        self.breakers: dict[Pair, Breaker] = {}
        self.untold: dict[Pair, Tally] = {}
        self.told_at: dict[Pair, float] = {}
        self.probing: set[Pair] = set()


_mine = _Mine()


def forget() -> None:
    """Forget what this process knows."""
    _mine.clear()


def key(pair: Pair) -> str:
    """Where a breaker is kept."""
    return f"breaker:{pair[1].label}:{pair[0]}"


def report(pair: Pair, tally: Tally) -> None:
    """Take in what a batch of live calls came to. Never fails for want of Redis.

    Nothing but success is told once a second, anything else at once.
    """
    rule = THRESHOLDS[pair[1]]
    if rule is None:
        return
    with _mine.lock:
        tally = _mine.untold.pop(pair, Tally()) + tally
        due = _mine.told_at.get(pair, 0.0) + _TELL_EVERY <= clock.monotonic()
        if tally.is_clean and not due and pair not in _mine.probing:
            _mine.untold[pair] = tally
            return
        _mine.told_at[pair] = clock.monotonic()
        _mine.probing.discard(pair)
    arguments: list[str | int | float | bytes] = [
        orjson.dumps(rule),
        orjson.dumps(tally),
        rules.PROBE_EVERY // MILLISECOND,
        _KEPT_OPEN // MILLISECOND,
    ]
    try:
        answer = state.call("breaker_told", [key(pair)], arguments)
    except state.Away:
        changed, why = _told_locally(pair, tally, rule)
    else:
        number, said = cast("tuple[int, bytes]", answer)
        changed, why = Change(number), said.decode()
    _note_change(pair, changed, why)


def _told_locally(pair: Pair, tally: Tally, rule: rules.Thresholds) -> tuple[Change, str]:
    with _mine.lock:
        mine = _mine.breakers.setdefault(pair, Breaker())
        return mine.told(tally, rule=rule, now=_now_ms()), mine.why


def ask_locally(pair: Pair) -> tuple[Door, int]:
    """This process's own breaker, for `departures` while Redis is away; as `Breaker.ask`."""
    with _mine.lock:
        mine = _mine.breakers.get(pair)
        return mine.ask(now=_now_ms()) if mine else (Door.CLOSED, 0)


def _now_ms() -> int:
    return int(clock.monotonic() * 1000)


def note_probe(pair: Pair) -> None:
    """One delivery leaves to see whether the provider is well: its outcome is told at once."""
    with _mine.lock:
        _mine.probing.add(pair)
    _note(pair, Kind.PROBED, "")


def _note_change(pair: Pair, changed: Change, why: str) -> None:
    subject = _subject(pair)
    if changed is Change.TRIPPED:
        _note(pair, Kind.TRIPPED, why)
        alerts.raise_once(ALERT, subject, f"it is given a rest: {why}")
    elif changed is Change.CLOSED:
        _note(pair, Kind.CLOSED, "a probe was answered")
        alerts.resolve(ALERT, subject)
        alerts.resolve("provider_misconfigured", pair[0])


def _note(pair: Pair, kind: Kind, detail: str) -> None:
    provider, channel = pair
    _log.warning("breaker", provider=provider, channel=channel.label, kind=kind.value, why=detail)
    BreakerEvent.objects.create(provider=provider, channel=channel, kind=kind, detail=detail[:200])
    if column := _COUNTED.get(kind):
        row, _ = Row.objects.get_or_create(provider=provider, channel=channel)
        Row.objects.filter(pk=row.pk).update(**{column: F(column) + 1})


def _subject(pair: Pair) -> str:
    return f"{pair[0]} {pair[1].label}"


def force(pair: Pair, forced: Forced, *, by: str) -> None:
    """An operator's word on a breaker; every process heeds it within two seconds."""
    provider, channel = pair
    Row.objects.update_or_create(provider=provider, channel=channel, defaults={"forced": forced})
    kind = {
        Forced.AUTO: Kind.AUTO,
        Forced.OPEN: Kind.FORCED_OPEN,
        Forced.CLOSED: Kind.FORCED_CLOSED,
    }[forced]
    _note(pair, kind, f"by {by}")
    controls.forget()


def standings(pairs: Iterable[Pair]) -> dict[Pair, Standing]:
    """How these breakers stand; without Redis, as this process knows them."""
    wanted = list(pairs)
    try:
        kept = [_read(value) for value in state.get_many([key(pair) for pair in wanted])]
        now = int(clock.now().timestamp() * 1000)
    except state.Away:
        kept = [_mine.breakers.get(pair) or Breaker() for pair in wanted]
        now = _now_ms()
    return {pair: _standing(pair, each, now=now) for pair, each in zip(wanted, kept, strict=True)}


def noted() -> dict[Pair, tuple[Row, Standing]]:
    """Those that ever tripped or were forced: their counts, and how they stand."""
    rows = {(row.provider, Channel(row.channel)): row for row in Row.objects.all()}
    found = standings(rows)
    return {pair: (row, found[pair]) for pair, row in rows.items()}


_FIELDS: Final = frozenset(field.name for field in dataclasses.fields(Breaker))


def _read(value: bytes | None) -> Breaker:
    if value is None:
        return Breaker()
    kept = orjson.loads(value)
    # Lua writes an empty list as an empty object; a newer release may write more fields.
    known = _FIELDS & kept.keys()
    return Breaker(**{name: kept[name] if kept[name] != {} else [] for name in known})


def _standing(pair: Pair, breaker: Breaker, *, now: int) -> Standing:
    calls, unavailable, unanswered = breaker.seen()
    open_for = None if breaker.open_since is None else (now - breaker.open_since) * MILLISECOND
    return Standing(
        forced=controls.current().forced.get(pair, Forced.AUTO),
        since=None if open_for is None else clock.now() - open_for,
        why=breaker.why,
        wait=breaker.wait(now=now) * MILLISECOND,
        calls=calls,
        failures=unavailable + unanswered,
    )
