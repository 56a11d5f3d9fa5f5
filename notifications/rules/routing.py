"""Which providers may take a delivery, and in which order they are tried. Rules are data.

A rule says that a provider takes a channel: everywhere, in one region (the beginning of a phone
number) or on one platform (an address kind). Of the rules that fit an address only the most
specific decide, so one row for `+49` takes Germany out of the general rows altogether. Among those
that decide, a lower rank comes first; providers of one rank share their deliveries by weight.

The draw depends on the delivery alone. So a retry comes to the same provider, which may know the
message's key, and a provider added to a rank takes over its share and moves no other delivery.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from providers.contract import Channel

_DRAWS: Final = 2**64
"""Values that eight bytes of a hash can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One provider's claim to a channel."""

    channel: Channel
    provider: str
    region: str = ""
    """How the numbers begin that it is for, such as `+49`; empty: any address."""
    platform: str = ""
    """The address kind that it is for, such as `apns_token`; empty: any."""
    rank: int = 0
    """Lower is tried first."""
    weight: int = 1
    """Its share among the rules of its rank."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The rules that decide for one sort of address."""

    rules: tuple[Rule, ...]
    same_for_all: tuple[str, ...] | None
    """The order of all deliveries; None where weights draw one for each."""

    def order(self, delivery_id: UUID) -> tuple[str, ...]:
        """The providers that this delivery tries, in turn."""
        if self.same_for_all is not None:
            return self.same_for_all
        drawn = sorted(self.rules, key=lambda rule: (rule.rank, _draw(rule, delivery_id)))
        return tuple(rule.provider for rule in drawn)


def choose(rules: Iterable[Rule], *, address: str, kind: str) -> Choice:
    """Find what decides for an address of this kind; no rules where none fits.

    Of an address only as many characters count as the longest region has.
    """
    fitting = [
        rule for rule in rules if address.startswith(rule.region) and rule.platform in {"", kind}
    ]
    most = max(map(_specificity, fitting), default=None)
    decide = sorted(
        (rule for rule in fitting if _specificity(rule) == most), key=lambda rule: rule.rank
    )
    shares = len({rule.rank for rule in decide}) < len(decide)
    same_for_all = None if shares else tuple(rule.provider for rule in decide)
    return Choice(tuple(decide), same_for_all)


def _specificity(rule: Rule) -> tuple[int, bool]:
    return len(rule.region), bool(rule.platform)


def _draw(rule: Rule, delivery_id: UUID) -> float:
    """An exponential draw at the rule's weight: who draws lowest wins, as often as its weight says.

    Each provider draws for itself (weighted rendezvous hashing), so that the others' draws stay
    when one comes or goes.
    """
    seed = delivery_id.bytes + rule.provider.encode()
    draw = int.from_bytes(hashlib.blake2b(seed, digest_size=8).digest())
    return -math.log((draw + 1) / _DRAWS) / rule.weight
