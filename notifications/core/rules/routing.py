"""The providers of a delivery, in order. Rules are data.

A rule gives a channel to a provider: everywhere, in one region (the beginning of a phone number) or
on one platform (an address kind). Only the most specific fitting rules decide, so a row for `+49`
excludes the general rows for Germany. A lower rank comes first; providers of one rank share their
deliveries by weight.

The draw depends on the delivery alone: a retry comes to the same provider, and a provider added to
a rank takes over its share and moves no other delivery.
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
class RoutingRule:
    """A rule from a channel to a provider."""

    channel: Channel
    provider: str
    region: str = ""
    """Beginning of numbers, such as `+49`; empty: any address."""
    platform: str = ""
    """Address kind, such as `apns_token`; empty: any."""
    rank: int = 0
    """Lower is tried first."""
    weight: int = 1
    """Share among the rules of its rank."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The rules for a kind of address."""

    rules: tuple[RoutingRule, ...]
    same_for_all: tuple[str, ...] | None
    """The order of all deliveries; None if weights draw one for each."""

    def order(self, delivery_id: UUID) -> tuple[str, ...]:
        """Return the providers for a delivery, in order."""
        if self.same_for_all is not None:
            return self.same_for_all
        drawn = sorted(self.rules, key=lambda rule: (rule.rank, _draw(rule, delivery_id)))
        return tuple(rule.provider for rule in drawn)


def choose(rules: Iterable[RoutingRule], *, address: str, kind: str) -> Choice:
    """Find the rules for a kind of address; empty if no rule matches.

    `address` may be truncated to the length of the longest region.
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


def _specificity(rule: RoutingRule) -> tuple[int, bool]:
    return len(rule.region), bool(rule.platform)


def _draw(rule: RoutingRule, delivery_id: UUID) -> float:
    """Draw exponentially at the rule's weight; the lowest draw wins.

    Each provider draws for itself (weighted rendezvous hashing), so the other draws stay when a
    provider comes or goes.
    """
    seed = delivery_id.bytes + rule.provider.encode()
    draw = int.from_bytes(hashlib.blake2b(seed, digest_size=8).digest())
    return -math.log((draw + 1) / _DRAWS) / rule.weight
