"""Classes of callbacks, and the effect that each class has, whichever vendor reports it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from enum import StrEnum
from typing import Any, NamedTuple

import pytest

from notifications.core.delivery import routing
from notifications.core.rules.states import Status
from notifications.core.rules.suppression import Cause
from providers import registry
from tests.providers.aws.signed_posts import Signer, SnsServer

Event = Mapping[str, Any]


class CallbackClass(StrEnum):
    """What a vendor says about a message or an address."""

    DELIVERED = "delivered"
    DEFERRED = "deferred"
    """The vendor tries again: no result yet."""
    DEAD = "dead"
    """No such mailbox, no such number."""
    FULL = "full"
    """The mailbox is full, the handset is switched off: the address works again later."""
    BLOCKED = "blocked"
    """By policy or as spam."""
    OUR_FAULT = "our fault"
    """The refusal concerns our account, sender or text."""
    SUPPRESSED = "suppressed"
    """On the vendor's list after a bounce."""
    COMPLAINED = "complained"
    COMPLAINED_BEFORE = "complained before"
    """On the vendor's list after a complaint."""
    OPTED_OUT = "opted out"
    OPTED_OUT_BEFORE = "opted out before"
    """On the vendor's list after an opt-out."""
    LEFT_GROUP = "left a group"
    """The person left one of the vendor's groups, lists or topics."""
    REMOVED = "removed"
    """The vendor removed the address from its list."""
    OPENED = "opened"
    CLICKED = "clicked"
    MACHINE_FLAGGED = "machine, by the vendor's flag"
    MACHINE_NAMED = "machine, by its user agent"


class Effect(NamedTuple):
    """The delivery's status, and what happens to the address."""

    status: Status
    listed: Cause | None = None
    """Reason of the new entry on the suppression list."""
    is_dead: bool = False
    """The contact is invalid."""


SENT, READ = Effect(Status.SENT), Effect(Status.READ)
EFFECTS: Mapping[CallbackClass, Effect] = {
    CallbackClass.DELIVERED: Effect(Status.DELIVERED),
    CallbackClass.DEFERRED: SENT,
    CallbackClass.DEAD: Effect(Status.BOUNCED, Cause.BOUNCE, is_dead=True),
    CallbackClass.FULL: Effect(Status.BOUNCED),
    CallbackClass.BLOCKED: Effect(Status.BOUNCED),
    CallbackClass.OUR_FAULT: Effect(Status.FAILED),
    CallbackClass.SUPPRESSED: Effect(Status.BOUNCED, Cause.BOUNCE, is_dead=True),
    CallbackClass.COMPLAINED: Effect(Status.READ, Cause.COMPLAINT, is_dead=True),
    CallbackClass.COMPLAINED_BEFORE: Effect(Status.BOUNCED, Cause.COMPLAINT, is_dead=True),
    CallbackClass.OPTED_OUT: Effect(Status.READ, Cause.UNSUBSCRIBE_ALL),
    CallbackClass.OPTED_OUT_BEFORE: Effect(Status.BOUNCED, Cause.UNSUBSCRIBE_ALL),
    CallbackClass.LEFT_GROUP: Effect(Status.READ, Cause.UNSUBSCRIBE_ALL),
    CallbackClass.REMOVED: SENT,
    CallbackClass.OPENED: READ,
    CallbackClass.CLICKED: READ,
    CallbackClass.MACHINE_FLAGGED: SENT,
    CallbackClass.MACHINE_NAMED: SENT,
}
"""Effects by class. A vendor's row may give another status; the address fares alike everywhere."""


class CallbackRow(NamedTuple):
    """A callback of a class, as the vendor documents it."""

    vendor: str
    said: CallbackClass
    event: Event
    status: Status | None = None
    """None: the status of the class."""

    @property
    def effect(self) -> Effect:
        """The effect that is expected of a mail."""
        return self.effect_by(EFFECTS)

    def effect_by(self, effects: Mapping[CallbackClass, Effect]) -> Effect:
        """Return the effect that is expected by a channel's table."""
        usual = effects[self.said]
        return usual if self.status is None else usual._replace(status=self.status)

    def __str__(self) -> str:
        return f"{self.vendor}: {self.said}"


@contextmanager
def configured(
    monkeypatch: pytest.MonkeyPatch, settings: Mapping[str, str], *, signer: Signer
) -> Iterator[None]:
    """Configure vendors; the certificates of SNS come from a server of the test."""
    for name, value in settings.items():
        if name != "NOTIFY_PUBLIC_URL":
            monkeypatch.setenv(name, value)
    with closing(SnsServer(signer)) as server:
        build = functools.partial(registry.build_all, transport=server)
        monkeypatch.setattr(registry, "build_all", build)
        routing.forget()
        yield
        server.stop()
    routing.forget()
