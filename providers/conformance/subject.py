"""The subject of a check: an adapter, a fake of its vendor, and the behaviour of the fake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from functools import partial
from itertools import count
from typing import Final, Protocol
from uuid import UUID

from providers.contract import (
    Accepted,
    Channel,
    Message,
    Misconfigured,
    Outcome,
    Provider,
    Rejected,
    Result,
    Throttled,
    Unanswered,
    Unavailable,
)

PATIENCE: Final = timedelta(seconds=30)
"""Deadline of sends that are meant to succeed."""


class Act(StrEnum):
    """The fake's behaviour for every message until the next change."""

    ACCEPT = "accept"
    REJECT = "reject"
    """Refuses the message for good, and repeats the address in the answer, as vendors do."""
    THROTTLE = "throttle"
    UNAVAILABLE = "unavailable"
    BAD_CREDENTIALS = "bad_credentials"
    CUT = "cut"
    """Reads the whole message, then closes the connection."""
    HANG = "hang"
    """Reads the whole message, then stays silent."""


EXPECTED: Final[Mapping[Act, type[Outcome]]] = {
    Act.ACCEPT: Accepted,
    Act.REJECT: Rejected,
    Act.THROTTLE: Throttled,
    Act.UNAVAILABLE: Unavailable,
    Act.BAD_CREDENTIALS: Misconfigured,
    Act.CUT: Unanswered,
    Act.HANG: Unanswered,
}


ABOUT_ITS_ADDRESS: Final = (Rejected, Unavailable)
"""Accepted outcomes of REJECT and BAD_CREDENTIALS if each address has a separate endpoint: the
answers concern the endpoint, so no answer is Misconfigured."""


class FakeVendor(Protocol):
    """The controls of the fake server."""

    @property
    def keys(self) -> Sequence[str]:
        """The vendor's keys against repeats, of the messages read by the fake, in order."""

    @property
    def retry_after(self) -> timedelta | None:
        """The wait in THROTTLE; None if the protocol has no wait."""

    def act(self, act: Act) -> None:
        """Set the behaviour for the next messages."""

    def stop(self) -> None:
        """Refuse connections, and close open connections."""

    def start(self) -> None:
        """Listen again, at the same address."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An adapter and the fake server that the adapter calls."""

    provider: Provider
    server: FakeVendor
    channel: Channel
    address: str
    secrets: Sequence[str] = ()
    """Secret texts of the settings that must never be in a log."""
    _serial: count[int] = field(default_factory=lambda: count(1))

    def messages(self, number: int) -> list[Message]:
        """Make new messages."""
        return [self._message(next(self._serial)) for _ in range(number)]

    def send(self, batch: Sequence[Message], *, deadline: timedelta = PATIENCE) -> list[Result]:
        """Send a batch to the end; every check requires exactly one result per message.

        Raises:
            ContractBroken: a message has no result, or two; or a call began without a note.
        """
        begun: list[UUID] = []
        noted = [
            replace(message, on_begin=partial(begun.append, message.delivery_id))
            for message in batch
        ]
        results = list(self.provider.send(noted, deadline=deadline))
        if self.provider.capabilities.marks_begin:
            left = {each.delivery_id for each in results if isinstance(each.outcome, _LEFT)}
            require(left <= set(begun), "a call must be noted before its bytes leave")
            require(len(begun) == len(set(begun)), "a call must be noted once")
        counts = Counter(result.delivery_id for result in results)
        require(
            counts == Counter(message.delivery_id for message in batch),
            "each message must get exactly one result",
        )
        return results

    def outcome(self, *, deadline: timedelta = PATIENCE) -> Outcome:
        """Send one new message."""
        return self.send(self.messages(1), deadline=deadline)[0].outcome

    def _message(self, serial: int) -> Message:
        delivery_id = UUID(int=serial)
        return Message(
            delivery_id=delivery_id,
            notification_id=UUID(int=serial + 2**64),
            idempotency_key=f"{delivery_id}.0",
            channel=self.channel,
            address=self.address,
            title="A private subject",
            body="A private body, grüße €",
            data={"type": "ORDER_READY"},
        )


_LEFT: Final = (Accepted, Unanswered)
"""Outcomes of calls whose bytes have left."""


class ContractBroken(AssertionError):
    """The adapter breaks `providers.contract`: the message names the broken guarantee."""


def require(holds: bool, promise: str) -> None:  # noqa: FBT001 - the function is an assertion
    """Check a promise.

    Raises:
        ContractBroken: the promise does not hold.
    """
    if not holds:
        raise ContractBroken(promise)
