"""The matrix shows what the gate does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notifications.core import clock
from notifications.core.delivery import batch, gates
from notifications.core.feedback import preference_matrix
from notifications.core.feedback.preference_matrix import Lock, Mandatory
from notifications.core.intake.accept import Caller
from notifications.core.models import NotificationType, Preference, Recipient, TopicText
from notifications.core.rules import preferences
from notifications.core.rules.lane import Priority
from notifications.core.rules.preferences import WHOLE_CHANNEL, Cell
from notifications.core.store.cached import notification_types, topic_texts
from notifications.core.store.postgres import claims
from notifications.core.store.postgres import preferences as stored_preferences
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of

Outbox = Callable[[UUID], list[Any]]
TYPES = {
    "OTP": (Priority.P0, "security", False),
    "INVOICE": (Priority.P1, "orders", True),
    "SHIPPED": (Priority.P1, "orders", False),
    "LIKE": (Priority.P2, "social", False),
    "SURVEY": (Priority.P2, "", False),
}
CHANNELS = (Channel.EMAIL, Channel.PUSH)
CELLS = st.builds(
    Cell,
    st.sampled_from([*TYPES, "security", "orders", "social"]),
    st.sampled_from([None, *CHANNELS]),
) | st.builds(Cell, st.just(WHOLE_CHANNEL), st.sampled_from(CHANNELS))


@pytest.fixture(autouse=True)
def _types(caller: Caller) -> None:  # noqa: ARG001 - its types are replaced
    NotificationType.objects.all().delete()
    for name, (priority, category, is_mandatory) in TYPES.items():
        NotificationType.objects.create(
            name=name, priority=priority, category=category, is_mandatory=is_mandatory
        )
    notification_types.forget()
    topic_texts.forget()


def _write(person: Recipient, off: frozenset[Cell]) -> Preference:
    channels, topics, by_channel = preferences.write(off)
    columns = {"channels_off": channels, "categories_off": topics, "topics_off": by_channel}
    row, _ = Preference.objects.update_or_create(recipient=person, defaults=columns)
    return row


def _states(person: Recipient, row: Preference) -> dict[tuple[str, Channel], bool]:
    matrix = preference_matrix.of(person, row, language="en")
    topics = [*matrix.topics, *(each for topic in matrix.topics for each in topic.types)]
    return {(topic.topic, cell.channel): cell.on for topic in topics for cell in topic.cells}


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(off=st.frozensets(CELLS, max_size=5), type_=st.sampled_from(sorted(TYPES)))
@pytest.mark.usefixtures("outbox")
def test_a_cell_is_on_if_the_gate_lets_a_queued_message_pass(
    reach: Reach, take: Accept, off: frozenset[Cell], type_: str
) -> None:
    person = Recipient.objects.filter(user_id="maria").first() or reach(
        email="maria@sandbox.example", push="maria-phone"
    )
    Preference.objects.filter(recipient=person).delete()
    deliveries = deliveries_of(take(type=type_, channels=["email", "push"], delivery="all"))
    row = _write(person, off)
    states = _states(person, row)
    claim = claims.claim([each.pk for each in deliveries], now=clock.now())
    loaded = batch.load(claim)
    assert len(loaded.deliveries) == len(CHANNELS)
    for claimed in loaded.deliveries:
        stops = gates.objections([claimed], now=loaded.now)
        assert (not stops) is states[type_, claimed.delivery.channel], claimed.delivery.channel


def test_what_is_mandatory_is_shown_with_the_reason(reach: Reach) -> None:
    person = reach(email="maria@sandbox.example")
    row = _write(person, frozenset({Cell("orders", None)}))
    matrix = preference_matrix.of(person, row, language="de")
    by_topic = {each.topic: each for each in matrix.topics}
    assert list(by_topic) == ["orders", "social", "security", "SURVEY"]
    assert by_topic["security"].mandatory is Mandatory.SECURITY
    assert by_topic["security"].mandatory_reason.startswith("Immer an")
    shipped, invoice = by_topic["orders"].types
    assert (invoice.mandatory, invoice.cells[0].on) == (Mandatory.REQUIRED, True)
    assert invoice.cells[0].locked is Lock.MANDATORY
    assert (shipped.cells[0].on, shipped.cells[0].locked) == (False, Lock.CATEGORY_OFF)
    assert preference_matrix.mandatory_topics() == {"OTP", "security", "INVOICE"}


def test_names_come_in_the_language_and_without_a_text_from_the_key(reach: Reach) -> None:
    TopicText.objects.create(topic="orders", locale="de", name="Bestellungen", description="Neu.")
    topic_texts.forget()
    person = reach(email="maria@sandbox.example")
    matrix = preference_matrix.of(person, Preference(), language="de")
    names = {each.topic: (each.name, each.description) for each in matrix.topics}
    assert names["orders"] == ("Bestellungen", "Neu.")
    assert names["SURVEY"] == ("Survey", "")
    assert [each.name for each in matrix.channels] == ["E-Mail", "In der App"]


def test_a_type_that_is_not_listed_is_left_out(reach: Reach) -> None:
    NotificationType.objects.filter(category="social").update(is_listed=False)
    notification_types.forget()
    person = reach(email="maria@sandbox.example")
    matrix = preference_matrix.of(person, Preference(), language="en")
    assert "social" not in {each.topic for each in matrix.topics}


def test_the_channels_are_those_with_a_contact_and_in_app(reach: Reach) -> None:
    person = reach(email="maria@sandbox.example", push="phone")
    person.contacts.filter(channel=Channel.PUSH).update(invalidated_at=clock.now())
    assert stored_preferences.channels_of(person) == [Channel.EMAIL, Channel.IN_APP]
