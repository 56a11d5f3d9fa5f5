"""Outages of push while one-time passwords have a fallback chain to SMS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from notifications.core.rules.lane import Priority
from providers.contract import Channel
from tests.chaos.named import Tokens
from tests.chaos.plans import PEOPLE, WELL, Action, Deed, Manner, Plan

_AWAY: Final = Manner(unavailable=1.0)


def push_away_with_chain(seed: int) -> Plan:
    """The push provider answers 503 for three minutes, and codes fall back to SMS."""
    return _outage(seed, seconds=180, people=PEOPLE)


def _outage(seed: int, *, seconds: int, people: int) -> Plan:
    """The push provider answers 503, and eight codes a second fall back to SMS."""
    posts = Tokens(seed, people=people).trickle(8, seconds + 15, [Priority.P0], [Channel.PUSH])
    return Plan(
        name=f"push provider away for {seconds} s, P0 with a fallback chain to SMS",
        seed=seed,
        posts=[
            replace(
                post,
                messages=tuple(replace(each, falls_back_to=Channel.SMS) for each in post.messages),
            )
            for post in posts
        ],
        actions=[
            Action(at=5, deed=Deed.STEER, target="push", manner=_AWAY),
            Action(at=5 + seconds, deed=Deed.STEER, target="push", manner=WELL),
        ],
        people=people,
        levels={Priority.P0: 10.0},
        may_be_late=0.001,
        drain_seconds=200.0,
    )


def outage_15_minutes(seed: int) -> Plan:
    """Eight codes a second, each to another number of Sao Paulo, while push answers 503."""
    return _outage(seed, seconds=900, people=7_321)


PUSH_OUTAGES: Final[Mapping[str, Callable[[int], Plan]]] = MappingProxyType({
    run.__name__: run for run in (push_away_with_chain,)
})
