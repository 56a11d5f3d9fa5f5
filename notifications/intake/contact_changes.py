"""A recipient's contact is about to change: bound how often, and tell the old address.

    with watched(mode, user_id) as losing:    charges the recipient's bucket if contacts differ then
        address_book.put(...)                 calls `losing` with each primary contact that goes

Whoever takes over a producer's key with `contacts:write` could send the next one-time password
elsewhere. The old number or mailbox gets a notice (P1, template `contact_changed`, sent as other
notifications are), so the recipient notices. NOTIFY_CONTACT_NOTICE=no switches the notice off;
without the template, or without a provider of the channel, there is none, and the log says so.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, cast

import structlog

from notifications import conf
from notifications.intake import accept
from notifications.intake.accept import Caller, Refused
from notifications.models import Contact, Producer
from notifications.rules import request
from notifications.rules.lane import Mode, Priority
from notifications.rules.problems import Kind, Problem
from notifications.rules.suppression import CONTACT_CHANGED
from notifications.store.redis import state
from providers.contract import Channel

WHO: Final = "contact-notices"
"""The producer of the notices; it has no key."""
TEMPLATE: Final = "contact_changed"
TOLD: Final = frozenset({Channel.SMS, Channel.EMAIL})
"""Channels that use one address of a person."""
BURST: Final = 20
"""Changes of one recipient's contacts at once: an app that is installed anew changes a few."""
EVERY: Final = dt.timedelta(minutes=6)
"""Between two changes after that: ten an hour."""

_log = structlog.get_logger(__name__)

Losing = Callable[[Contact], None]


class TooOften(Exception):
    """The recipient's contacts were changed too often; `problem` says when they may be again."""

    def __init__(self, wait: dt.timedelta) -> None:
        """Carry the problem to the door."""
        said = f"contacts of one recipient may change {BURST} times at once, then every 6 minutes"
        self.problem = Problem(Kind.RATE_LIMITED, said, (), wait)
        super().__init__(said)


@contextmanager
def watched(mode: Mode, user_id: str) -> Iterator[Losing]:
    """Watch a change of a recipient's contacts, in an open transaction.

    Raises:
        TooOften: the contacts differ afterwards, and did so too often lately.
    """
    before = _contacts(mode, user_id)
    yield tell
    after = _contacts(mode, user_id)
    if before and after != before:
        _charge(mode, user_id)


def tell(contact: Contact) -> None:
    """Hand in the notice for a contact that is still the one that is used."""
    channel, recipient = Channel(contact.channel), contact.recipient
    wanted = conf.current().contact_notice and channel in TOLD and recipient.mode == Mode.LIVE
    if not wanted or contact.invalidated_at is not None:
        return
    asked = request.parse({
        "user_id": recipient.user_id,
        "type": CONTACT_CHANGED,
        "priority": Priority.P1.name,
        "template_id": TEMPLATE,
        # The id of the request, by which the audit log finds the change.
        "variables": {"reference": structlog.contextvars.get_contextvars().get("trace_id", "-")},
        "channels": [channel.label],
    })
    problem = asked if isinstance(asked, Problem) else _refused(asked)
    if problem is not None:
        _log.warning("contact_notice_refused", channel=channel.label, problem=problem.kind)


def _refused(asked: request.NotificationRequest) -> Problem | None:
    producer, _ = Producer.objects.get_or_create(name=WHO)
    caller = Caller(
        producer_id=producer.pk,
        mode=Mode.LIVE,
        priorities=frozenset({Priority.P1}),
        may_send_content=False,
    )
    [answer] = accept.accept(caller, [asked])
    return answer.problem if isinstance(answer, Refused) else None


def _contacts(mode: Mode, user_id: str) -> set[tuple[object, ...]]:
    found = Contact.objects.filter(recipient__mode=mode, recipient__user_id=user_id)
    return set(found.values_list("channel", "address", "is_primary", "invalid_reason"))


def _charge(mode: Mode, user_id: str) -> None:
    price = EVERY / dt.timedelta(microseconds=1)
    bucket = f"contacts:{mode.label}:{user_id}"
    try:
        [[granted, _, _, wait]] = cast(
            "list[list[int]]", state.call("gcra", [bucket], [price, BURST, 1])
        )
    except state.Away:
        return
    if not granted:
        raise TooOften(dt.timedelta(microseconds=wait))
