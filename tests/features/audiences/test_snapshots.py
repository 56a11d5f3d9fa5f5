"""Snapshots that two processes fill at the same time."""

from __future__ import annotations

import pytest

from notifications.core.models import Recipient, RecipientList, TopicSubscriber
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListState
from notifications.features.audiences import snapshots
from notifications.features.audiences.rows import members, topics
from notifications.features.audiences.rows.members import Member
from notifications.features.audiences.rules.parse import parse

pytestmark = pytest.mark.django_db


def test_a_late_process_ends_no_snapshot_that_another_process_fills(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshots, "PAGE", 3)
    Recipient.objects.bulk_create(Recipient(user_id=f"u_{n}") for n in range(5))
    topic = topics.ensure(mode=Mode.LIVE, name="news", by="test")
    topics.subscribe(topic, ["u_0", "u_4"])
    snapshot = snapshots.begin(parse({"topic": "news"}), mode=Mode.LIVE, name="", by="test")
    read = members.page

    def read_and_stop(*given: object, **options: object) -> list[Member]:
        found = read(*given, **options)  # type: ignore[arg-type]  # as given
        monkeypatch.setattr(members, "page", read)
        topics.subscribe(topic, ["u_1", "u_2", "u_3"])
        assert not snapshots.advance(RecipientList.objects.get(pk=snapshot.pk))
        return found

    monkeypatch.setattr(members, "page", read_and_stop)
    assert not snapshots.advance(snapshot)
    while not snapshots.advance(snapshot):
        pass
    snapshot.refresh_from_db()
    assert (snapshot.state, snapshot.members) == (ListState.READY, 5)


def test_a_snapshot_keeps_conditions_about_received_messages_as_written() -> None:
    Recipient.objects.create(user_id="u_0")
    written = {"not": {"received": {"type": "PROMO", "within_days": 7}}}
    snapshot = snapshots.begin(parse(written), mode=Mode.LIVE, name="", by="test")
    assert snapshot.expression == written
    while not snapshots.advance(snapshot):
        pass
    snapshot.refresh_from_db()
    assert (snapshot.state, snapshot.members) == (ListState.READY, 1)


def test_a_subscription_to_a_topic_that_was_removed_meanwhile_leaves_no_row() -> None:
    Recipient.objects.create(user_id="u_0")
    topic = topics.ensure(mode=Mode.LIVE, name="news", by="test")
    topics.delete(topic)
    assert topics.subscribe(topic, ["u_0"]).changed == 0
    assert not TopicSubscriber.objects.filter(topic_id=topic.pk).exists()
