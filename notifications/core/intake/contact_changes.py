"""Contact changes: a rate limit for each recipient, and a notice to the old address.

    with watch(mode, user_id, by=actor) as change:    charges the bucket if contacts changed
        recipients.merge(..., change=change)          calls `losing` with each lost primary contact

A stolen API key with `contacts:write` could redirect the next one-time password. The notice goes to
the old number or mailbox (P1, template `contact_changed`, sent as a normal notification), so the
recipient learns about the change. NOTIFY_CONTACT_NOTICE=no disables the notice. Without the
template or a provider for the channel the notice fails, and a log line reports the failure.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, cast

import structlog

from notifications.core import conf
from notifications.core.intake import accept
from notifications.core.intake.accept import Caller, Refused
from notifications.core.models import Contact, Producer
from notifications.core.rules import problems, request
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.suppression import CONTACT_CHANGED
from notifications.core.store.postgres.contact_book import ContactChange
from notifications.core.store.redis import state
from providers.contract import Channel

PRODUCER_NAME: Final = "contact-notices"
"""Name of the producer of notices; the producer has no API key."""
TEMPLATE: Final = "contact_changed"
NOTICE_CHANNELS: Final = frozenset({Channel.SMS, Channel.EMAIL})
"""Channels that get a notice: channels with a single address for a recipient."""
BURST: Final = 20
"""Contact changes of a recipient without a wait: a reinstalled app changes a few."""
EVERY: Final = dt.timedelta(minutes=6)
"""Interval of further changes: ten an hour."""

_log = structlog.get_logger(__name__)


class TooManyChanges(problems.Refused):
    """Too many contact changes of a recipient; `problem` has the time to wait."""

    def __init__(self, wait: dt.timedelta) -> None:
        detail = f"contacts of one recipient may change {BURST} times at once, then every 6 minutes"
        super().__init__(Problem(Kind.RATE_LIMITED, detail, (), wait))


@contextmanager
def watch(mode: Mode, user_id: str, *, by: str) -> Iterator[ContactChange]:
    """Charge a change of a recipient's contacts by an actor, inside an open transaction.

    Raises:
        TooManyChanges: the contacts changed, and the rate limit is used up.
    """
    before = _contacts(mode, user_id)
    yield ContactChange(by=by, losing=send_notice)
    after = _contacts(mode, user_id)
    if before and after != before:
        _charge(next(iter(before))[0])


def send_notice(contact: Contact) -> None:
    """Send the notice to a contact, unless the contact is invalid."""
    channel, recipient = Channel(contact.channel), contact.recipient
    wanted = (
        conf.current().contact_notice and channel in NOTICE_CHANNELS and recipient.mode == Mode.LIVE
    )
    if not wanted or contact.invalidated_at is not None:
        return
    asked = request.parse({
        "user_id": recipient.user_id,
        "type": CONTACT_CHANGED,
        "priority": Priority.P1.name,
        "template_id": TEMPLATE,
        # The request id, under which the audit log has the change.
        "variables": {"reference": structlog.contextvars.get_contextvars().get("trace_id", "-")},
        "channels": [channel.label],
    })
    problem = asked if isinstance(asked, Problem) else _accept_notice(asked)
    if problem is not None:
        _log.warning("contact_notice_refused", channel=channel.label, problem=problem.kind)


def _accept_notice(asked: request.NotificationRequest) -> Problem | None:
    producer, _ = Producer.objects.get_or_create(name=PRODUCER_NAME)
    caller = Caller(
        producer_id=producer.pk,
        mode=Mode.LIVE,
        priorities=frozenset({Priority.P1}),
        may_send_content=False,
    )
    [answer] = accept.accept(caller, [asked])
    return answer.problem if isinstance(answer, Refused) else None


def _contacts(mode: Mode, user_id: str) -> set[tuple[int, int, str, bool, str]]:
    """Return the contacts of a recipient; each begins with the id of the recipient."""
    found = Contact.objects.filter(recipient__mode=mode, recipient__user_id=user_id)
    columns = ("recipient_id", "channel", "address", "is_primary", "invalid_reason")
    return set(found.values_list(*columns))


def _charge(recipient_id: int) -> None:
    price = EVERY / dt.timedelta(microseconds=1)
    bucket = f"contacts:{recipient_id}"  # the user id would outlive an erasure
    try:
        [[granted, _, _, wait]] = cast(
            "list[list[int]]", state.call("gcra", [bucket], [price, BURST, 1])
        )
    except state.Away:
        return
    if not granted:
        raise TooManyChanges(dt.timedelta(microseconds=wait))
