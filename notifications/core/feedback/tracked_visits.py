"""Tracked visits: opens and clicks that the service itself sees, recorded as client receipts.

    pixel of an e-mail          read   client_opened
    tracked link of an e-mail   read   client_clicked
    short link of an SMS        read   client_clicked, if the notification type has `tracks_clicks`

A visit proves less than a report of an app: a mail program may load pictures in advance, and a
mail gateway may follow links. So a visit does not note on the contact that an app sends receipts.
A database that is away costs the record, never the picture or the redirect.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from django.db import Error

from notifications.core.delivery.mail_tracking import TrackedDelivery
from notifications.core.feedback import client_receipts
from notifications.core.feedback.client_receipts import ClientReceipt
from notifications.core.models import Notification
from notifications.core.rules import ids
from notifications.core.rules.client_receipts import ClientReceiptKind, TokenHolder
from notifications.core.rules.lane import Mode
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres.short_links import FollowedLink

_log = structlog.get_logger(__name__)


def record(tracked: TrackedDelivery, kind: ClientReceiptKind) -> None:
    """Record a visit. Safe to run twice."""
    receipt = ClientReceipt(kind=kind, subject=tracked.delivery_id)
    with _tolerating_an_absent_database(kind):
        client_receipts.record(tracked.holder, [receipt], from_app=False)


def record_click(link: FollowedLink) -> None:
    """Record a click on a short link, if the notification's type tracks clicks."""
    with _tolerating_an_absent_database(ClientReceiptKind.CLICKED):
        tracked = _delivery_of(link)
        if tracked is not None:
            record(tracked, ClientReceiptKind.CLICKED)


def _delivery_of(link: FollowedLink) -> TrackedDelivery | None:
    """Return the delivery of a short link; None if its type does not track clicks."""
    rules = notification_types.every()
    if not any(rule.tracks_clicks for rule in rules.values()):
        return None
    rows = Notification.objects.filter(pk=ids.notification_of(link.delivery_id))
    found = rows.values_list("type", "recipient_id", "mode").first()
    if found is None or found[0] not in rules or not rules[found[0]].tracks_clicks:
        return None
    _, recipient_id, mode = found
    return TrackedDelivery(TokenHolder(recipient_id, Mode(mode)), link.delivery_id)


@contextmanager
def _tolerating_an_absent_database(kind: ClientReceiptKind) -> Iterator[None]:
    """Log an error of the database, and go on."""
    try:
        yield
    except Error as error:
        _log.warning("visit_not_recorded", kind=kind.value, error=type(error).__name__)
