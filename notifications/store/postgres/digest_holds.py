"""Deliveries that wait for a digest by the recipient's choice."""

from __future__ import annotations

from notifications.rules import ids
from notifications.rules.reasons import Reason
from notifications.rules.request import MAX_TTL
from notifications.rules.states import Status
from notifications.store.postgres import db, id_ranges


def end(recipient_id: int) -> None:
    """Let the sweep `digests` decide again about a recipient's waiting deliveries.

    Runs in the transaction that changes the choice. Safe to run twice: the sweep holds a delivery
    whose digest time is ahead again.
    """
    parameters = {"recipient_id": recipient_id, "devices": ids.MAX_DELIVERIES}
    state = {"scheduled": Status.SCHEDULED, "reason": Reason.DIGEST}
    db.run("end_digest_holds", {**parameters, **state, **id_ranges.last_days(MAX_TTL.days)})
