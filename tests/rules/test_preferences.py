"""Which topics a recipient gets on which channel."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules import preferences
from notifications.core.rules.channels import RecipientContacts, Spread, targets
from notifications.core.rules.lane import Priority
from notifications.core.rules.preferences import WHOLE_CHANNEL, Cell, CellChange
from notifications.core.rules.reasons import Reason
from providers.contract import Channel

TOPICS = ["orders", "social", "LIKE"]
CELLS = st.builds(Cell, st.sampled_from(TOPICS), st.sampled_from([None, *Channel])) | st.builds(
    Cell, st.just(WHOLE_CHANNEL), st.sampled_from(Channel)
)
OFF = st.frozensets(CELLS, max_size=8)
SHOWN = [Channel.EMAIL, Channel.PUSH]


def _is_off(off: frozenset[Cell], topic: str, channel: Channel) -> bool:
    return Cell(topic, channel) in off or Cell(topic, None) in off


@given(OFF)
def test_stored_cells_are_read_as_they_were_written(off: frozenset[Cell]) -> None:
    assert preferences.read(*preferences.write(off)) == off


@given(off=OFF, cell=CELLS, on=st.booleans())
def test_a_choice_changes_its_own_cells_only(off: frozenset[Cell], cell: Cell, *, on: bool) -> None:
    after = preferences.apply(off, [CellChange(cell, on=on)], shown=SHOWN)
    for topic in TOPICS:
        for channel in Channel:
            if topic == cell.topic and cell.channel in {None, channel}:
                expected = not on
            elif topic == cell.topic and channel not in SHOWN and not on:
                # Off on each shown channel is off on all.
                expected = _is_off(off, topic, channel) or all(
                    _is_off(after, topic, each) for each in SHOWN
                )
            else:
                expected = _is_off(off, topic, channel)
            if channel in SHOWN or on:
                assert _is_off(after, topic, channel) is expected, (topic, channel)
    whole = {each for each in off if each.topic == WHOLE_CHANNEL} - {cell}
    if cell.topic == WHOLE_CHANNEL and not on:
        whole |= {cell}
    assert {each for each in after if each.topic == WHOLE_CHANNEL} == whole


@given(OFF, st.lists(st.builds(CellChange, CELLS, st.booleans()), max_size=4))
def test_choices_applied_twice_are_applied_once(
    off: frozenset[Cell], choices: list[CellChange]
) -> None:
    once = preferences.apply(off, choices, shown=SHOWN)
    assert preferences.apply(once, choices, shown=SHOWN) == once


def test_a_topic_that_is_off_on_each_shown_channel_is_off_on_a_later_one() -> None:
    choices = [CellChange(Cell("orders", channel), on=False) for channel in SHOWN]
    after = preferences.apply(frozenset(), choices, shown=SHOWN)
    assert after == {Cell("orders", None)}
    back = preferences.apply(
        after, [CellChange(Cell("orders", Channel.EMAIL), on=True)], shown=SHOWN
    )
    assert Cell("orders", Channel.SMS) in back
    assert Cell("orders", Channel.EMAIL) not in back


def test_a_stored_channel_of_another_release_is_left_out() -> None:
    read = preferences.read([1, 99], ["orders"], {"pigeon": ["orders"], "email": ["social"]})
    expected = {Cell("", Channel.PUSH), Cell("orders", None), Cell("social", Channel.EMAIL)}
    assert read == expected


@given(off=OFF, priority=st.sampled_from(Priority), is_mandatory=st.booleans())
def test_a_message_leaves_by_the_first_channel_that_a_plain_rule_allows(
    off: frozenset[Cell], priority: Priority, *, is_mandatory: bool
) -> None:
    channels, topics, by_channel = preferences.write(off)
    reach = RecipientContacts(
        recipient_id=1,
        contacts={channel: [channel.value] for channel in Channel},
        channels_off=frozenset(channels),
        categories_off=frozenset(topics),
        topics_off=preferences.read_topics(by_channel),
    )
    asked = ("social", "LIKE")

    def allows(channel: Channel) -> bool:
        if Cell(WHOLE_CHANNEL, channel) in off:
            return False
        if is_mandatory or priority is Priority.P0:
            return True
        return not any(_is_off(off, topic, channel) for topic in asked)

    found = targets(
        reach,
        wanted=list(Channel),
        spread=Spread.FIRST,
        topics=() if is_mandatory else asked,
        priority=priority,
    )
    allowed = [channel for channel in Channel if allows(channel)]
    if allowed:
        assert found[0].channel is allowed[0]
        assert found[0].stop is None
    else:
        assert found[0].stop is Reason.OPTED_OUT


@pytest.mark.parametrize("priority", Priority)
def test_a_topic_that_is_off_on_a_channel_stops_everything_but_p0(priority: Priority) -> None:
    stops = preferences.declines(
        frozenset(), frozenset({"social"}), topics=("social", "LIKE"), priority=priority
    )
    assert stops is (priority is not Priority.P0)
