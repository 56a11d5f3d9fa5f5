"""Idempotency keys of what is being accepted: which are new, and what was answered to the others.

What is in use is read beforehand (`known.answered`). What is not is inserted with the rows that it
asks for; where somebody else was quicker, the unique index refuses the lot, and it is sorted out
again with the answers that are known then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from notifications.pipeline.check import Ask
from notifications.pipeline.plan import Plan
from notifications.rules.request import fingerprint
from notifications.store.idempotency import Entry, Key


@dataclass(slots=True, kw_only=True)
class Sorted:
    """Which plans are to be stored with which keys, and the first answers to the others."""

    fresh: list[Plan] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    """The keys of `fresh`, each once."""
    earlier: dict[UUID, Entry] = field(default_factory=dict)
    """By the plan's own id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeKey:
    """The idempotency key of a whole call."""

    key: Key
    body_hash: bytes


@dataclass(frozen=True, slots=True)
class Repeat:
    """A request whose key was in use before it was planned."""

    earlier: Entry
    body_hash: bytes
    """Of the request that came now."""


class Answered(Exception):
    """The whole call was answered before: give that answer if the body is the same."""

    def __init__(self, earlier: Entry) -> None:
        super().__init__(earlier.key.name)
        self.body_hash = earlier.body_hash
        self.response: Any = earlier.response


def repeat_of(ask: Ask, answered: Mapping[Key, Entry]) -> Repeat | None:
    """The request as a repeat of an earlier one; None when its key is new, or it has none."""
    name = ask.wanted.idempotency_key
    if not name:
        return None
    earlier = answered.get(Key(ask.caller.producer_id, ask.caller.mode, name))
    return None if earlier is None else Repeat(earlier, fingerprint(ask.wanted))


def sorted_out(plans: Sequence[Plan], answered: Mapping[Key, Entry]) -> Sorted:
    """Tell what is new from what was answered, in this list or before it.

    A key that stands twice: its first plan is the earlier answer of its second.
    """
    found = Sorted()
    here: dict[Key, Entry] = {}
    for plan in plans:
        key = plan.key
        if key is None:
            found.fresh.append(plan)
        elif earlier := answered.get(key) or here.get(key):
            found.earlier[plan.id] = earlier
        else:
            here[key] = Entry(key, plan.body_hash, plan.response)
            found.fresh.append(plan)
    found.entries = list(here.values())
    return found
