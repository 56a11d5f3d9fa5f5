"""Parts of the pages of recipients and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.template.loader import render_to_string

from notifications.core.models import Notification, Recipient
from notifications.core.rules.states import Status
from notifications.core.store.postgres.timelines import DeliveryView
from notifications.features.inbox.admin import page
from notifications.features.inbox.rows import reads
from providers.contract import Channel

_STORED: Final = frozenset({Status.SENT, Status.UNCONFIRMED, Status.DELIVERED, Status.READ})


def card(person: Recipient, *, may_view: Callable[[str], bool]) -> str:
    """Return the counts of an inbox as HTML; empty if the operator may not view messages."""
    if not (may_view("notification") and may_view("delivery")):
        return ""
    context = {"person": person, "counts": reads.counts(person.pk)}
    return render_to_string("inbox/card.html", context)


def note(delivery: DeliveryView, notification: Notification, *, has_page: bool) -> str:
    """Return the state of an in-app message in the inbox as HTML, with times in UTC."""
    recipient_id = notification.recipient_id
    if delivery.channel is not Channel.IN_APP or delivery.status not in _STORED or not recipient_id:
        return ""
    item = reads.items(recipient_id, [delivery.id]).get(delivery.id)
    state = "Not in the inbox any more"
    if item is not None:
        times = [f"{name} {at:%Y-%m-%d %H:%M:%S} UTC" for name, at in page.times_of(item)]
        state = ", ".join(["In the inbox", *times])
    context = {"recipient_id": recipient_id if has_page else None, "state": state}
    return render_to_string("inbox/note.html", context)
