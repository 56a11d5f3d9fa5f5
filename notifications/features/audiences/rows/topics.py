"""Topics and their subscribers.

A subscription is one row of two numbers. A topic has no counter, because subscriptions would wait
for the row of the counter; `estimates` gives the size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from notifications.core import clock
from notifications.core.models import Topic
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient import PREFIX
from notifications.core.store.postgres import db, merged_recipients


@dataclass(frozen=True, slots=True)
class SubscriptionResult:
    """The result of a list of subscriptions or unsubscriptions."""

    changed: int
    """Recipients that were subscribed or unsubscribed by the call."""
    found: frozenset[str]
    """User ids of existing recipients."""


def find(*, mode: Mode, name: str) -> Topic | None:
    """Return the topic with a name in a mode; None for an unknown or deleted topic."""
    return Topic.objects.filter(mode=mode, name=name, deleted_at=None).first()


def ensure(*, mode: Mode, name: str, by: str) -> Topic:
    """Return the topic with a name in a mode, which is created if there is none.

    A topic of another call may be deleted before it is read; the name is then free again.
    """
    while (found := find(mode=mode, name=name)) is None:
        Topic.objects.bulk_create(
            [Topic(mode=mode, name=name, created_by=by)], ignore_conflicts=True
        )
    return found


def subscribe(topic: Topic, user_ids: Sequence[str]) -> SubscriptionResult:
    """Add recipients to a topic; a subscriber stays. Safe to repeat."""
    return _change("topic_subscribe", topic, user_ids)


def unsubscribe(topic: Topic, user_ids: Sequence[str]) -> SubscriptionResult:
    """Remove recipients from a topic. Safe to repeat."""
    return _change("topic_unsubscribe", topic, user_ids)


def subscribers(topic: Topic, *, after: int, limit: int) -> list[tuple[int, str]]:
    """Return recipient ids above `after` with their user ids, in ascending order."""
    rows = db.rows("subscribers", {"topic": topic.pk, "after": after, "limit": limit})
    return [(row["id"], row["user_id"]) for row in rows]


def names_of(recipient_id: int, *, mode: Mode) -> list[str]:
    """Return the names of a recipient's topics, sorted; a look into every topic of the mode."""
    rows = db.rows("topics_of", {"recipient": recipient_id, "mode": int(mode)})
    return [row["name"] for row in rows]


def delete(topic: Topic) -> None:
    """Delete a topic. The name is free at once; a sweep removes the subscribers."""
    Topic.objects.filter(pk=topic.pk, deleted_at=None).update(deleted_at=clock.now())


def purge(topic_id: int, *, limit: int) -> int:
    """Remove up to `limit` subscribers of a deleted topic; return the number of rows."""
    return db.run("topic_purge", {"topic": topic_id, "limit": limit})


def _change(statement: str, topic: Topic, user_ids: Sequence[str]) -> SubscriptionResult:
    """Change the subscriptions; the user id of a merged recipient means the remaining recipient."""
    given = sorted(set(user_ids))
    if not given:
        return SubscriptionResult(0, frozenset())
    by_address = [each for each in given if each.startswith(PREFIX)]
    if not by_address:
        return _run(statement, topic, {each: each for each in given})
    with transaction.atomic():
        merged_recipients.hold()
        stays = merged_recipients.survivors(Mode(topic.mode), by_address)
        return _run(statement, topic, {each: stays.get(each, each) for each in given})


def _run(statement: str, topic: Topic, names: Mapping[str, str]) -> SubscriptionResult:
    """Run a statement for the values of `names`; the keys are the user ids of the caller."""
    parameters = {
        "topic": topic.pk,
        "mode": int(topic.mode),
        "user_ids": sorted(set(names.values())),
    }
    rows = db.fetch_in_own_transaction(statement, parameters)
    changed = sum(row["is_changed"] for row in rows)
    found = {row["user_id"] for row in rows}
    return SubscriptionResult(
        changed, frozenset(given for given, name in names.items() if name in found)
    )
