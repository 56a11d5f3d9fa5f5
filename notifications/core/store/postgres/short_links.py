"""Short links: inserted per wave, followed one at a time, deleted after expiry."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from notifications.core.rules import ids
from notifications.core.store.postgres import db


class NewLink(NamedTuple):
    """A link to store."""

    token: str
    delivery_id: UUID
    target: str
    expires_at: dt.datetime


def insert_links(links: Sequence[NewLink]) -> None:
    """Store links in one statement; an existing link stays, an erased notification gets no link."""
    if links:
        owners = {ids.notification_of(each.delivery_id) for each in links}
        parameters = {**db.columns(links), "notification_ids": sorted(owners)}
        db.in_transaction(lambda: db.run("add_short_links", parameters))


def find_target(token: str) -> str | None:
    """Return the target of a link without counting; None for an unknown or expired link."""
    alive = "SELECT target FROM short_link WHERE token = %s AND expires_at > now()"
    with connection.cursor() as running:
        running.execute(alive, [token])
        found = running.fetchone()
    return found[0] if found else None


class FollowedLink(NamedTuple):
    """A followed link."""

    target: str
    delivery_id: UUID


def count_click(token: str) -> FollowedLink | None:
    """Count a click on a link, and return the link; None for an unknown or expired link."""
    found = db.fetch_as("follow_short_link", {"token": token}, FollowedLink)
    return found[0] if found else None
