"""Runs in which a server stands still: it takes connections and answers nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from notifications.core.rules.lane import Priority
from providers.contract import Channel
from tests.chaos.named import Tokens
from tests.chaos.plans import SERVICE_LEVELS, Action, Deed, Manner, Plan

_SLOW: Final = Manner(fastest=0.5, slowest=2.5)


def frozen_state(seed: int) -> Plan:
    """The state instance stands still for 30 s."""
    return _frozen("state", "state instance", seed)


def frozen_broker(seed: int) -> Plan:
    """The broker stands still for 30 s."""
    return _frozen("broker", "broker", seed)


def _frozen(target: str, name: str, seed: int) -> Plan:
    """P0 and P1 keep their service levels."""
    return Plan(
        name=f"{name} frozen for 30 s",
        seed=seed,
        posts=Tokens(seed).trickle(5, 45, Priority),
        actions=[Action(at=5, deed=Deed.FREEZE, target=target, seconds=30)],
        levels=SERVICE_LEVELS,
    )


def frozen_postgres(seed: int) -> Plan:
    """Postgres stands still for 8 s while answers arrive; then three workers are killed."""
    tokens = Tokens(seed)
    workers = ("p0", "channels", "transactional")
    return Plan(
        name="Postgres frozen for 8 s, then three workers killed",
        seed=seed,
        posts=[
            tokens.batch(200, Priority.P2, Channel.EMAIL),
            tokens.batch(100, Priority.P2, Channel.SMS),
            *tokens.trickle(5, 20, [Priority.P0, Priority.P1]),
        ],
        actions=[
            Action(at=3, deed=Deed.FREEZE, target="postgres", seconds=8),
            *(Action(at=10.5, deed=Deed.KILL, target=worker) for worker in workers),
        ],
        manners={Channel.EMAIL: _SLOW, Channel.SMS: _SLOW},
    )


FROZEN_SERVERS: Final[Mapping[str, Callable[[int], Plan]]] = MappingProxyType({
    run.__name__: run for run in (frozen_state, frozen_broker, frozen_postgres)
})
