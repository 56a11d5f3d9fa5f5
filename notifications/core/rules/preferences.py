"""The choices of a recipient by topic and channel, as the set of the cells that are off.

    ("", EMAIL)           the channel is off: nothing is sent there, P0 included
    ("social", None)      the topic is off on each channel, also on a channel of the future
    ("social", EMAIL)     the topic is off on one channel

A topic is a category or a notification type. Off wins: a type is off where its category is off.
Messages of a mandatory topic, and P0, leave although the topic is off.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from notifications.core.rules.lane import Priority
from providers.contract import Channel

WHOLE_CHANNEL: Final = ""
"""The topic of a cell that stands for everything on a channel."""


class Cell(NamedTuple):
    """A topic on a channel; without a channel: the topic on each channel."""

    topic: str
    channel: Channel | None


Cells = frozenset[Cell]


class CellChange(NamedTuple):
    """A cell switched on or off."""

    cell: Cell
    on: bool


class StoredCells(NamedTuple):
    """Cells in the form of the columns and of the API."""

    channels: list[Channel]
    topics: list[str]
    """Topics off on each channel."""
    topics_by_channel: dict[str, list[str]]
    """Topics off on one channel, by the label of the channel."""


def read(
    channels: Iterable[int], topics: Iterable[str], topics_by_channel: Mapping[str, Iterable[str]]
) -> Cells:
    """Return stored cells without unknown channels of another release."""
    known = {each.value for each in Channel}
    return frozenset([
        *(Cell(WHOLE_CHANNEL, Channel(each)) for each in channels if each in known),
        *(Cell(topic, None) for topic in topics),
        *(
            Cell(topic, channel)
            for channel, names in read_topics(topics_by_channel).items()
            for topic in names
        ),
    ])


def read_topics(
    topics_by_channel: Mapping[str, Iterable[str]],
) -> dict[Channel, frozenset[str]]:
    """Return the topics that are off by channel; an unknown channel is left out."""
    return {
        Channel.from_label(label): frozenset(names)
        for label, names in topics_by_channel.items()
        if label.upper() in Channel.__members__
    }


def write(cells: Collection[Cell]) -> StoredCells:
    """Return the cells in the form of the columns, in a fixed order."""
    by_channel: dict[str, list[str]] = {}
    for topic, channel in sorted(cell for cell in cells if cell.channel is not None):
        if topic != WHOLE_CHANNEL and channel is not None:
            by_channel.setdefault(channel.label, []).append(topic)
    return StoredCells(
        channels=sorted(
            cell.channel for cell in cells if not cell.topic and cell.channel is not None
        ),
        topics=sorted(cell.topic for cell in cells if cell.channel is None),
        topics_by_channel=by_channel,
    )


def covers(off: AbstractSet[Cell], cell: Cell) -> bool:
    """Return True if the cell, or the topic on every channel, is off."""
    return cell in off or (cell.topic != WHOLE_CHANNEL and Cell(cell.topic, None) in off)


def apply(off: Cells, choices: Iterable[CellChange], *, shown: Collection[Channel]) -> Cells:
    """Return the off cells after some choices.

    A topic switched on for one channel stays off on other channels. A topic off on every
    channel in `shown` is off on all channels, so a later contact gets no message.
    """
    found = set(off)
    for (topic, channel), on in choices:
        if topic == WHOLE_CHANNEL:
            (found.discard if on else found.add)(Cell(topic, channel))
            continue
        everywhere = {Cell(topic, each) for each in Channel}
        if Cell(topic, None) in found:
            found = (found - {Cell(topic, None)}) | everywhere
        chosen = everywhere if channel is None else {Cell(topic, channel)}
        found = found - chosen if on else found | chosen
        visible = {Cell(topic, each) for each in shown} or everywhere
        if not on and (visible <= found or channel is None):
            found = (found - everywhere) | {Cell(topic, None)}
    return frozenset(found)


def newly_off(before: Cells, after: Cells) -> Cells:
    """Return the cells on in `before` and off in `after`."""
    return frozenset(cell for cell in after if not covers(before, cell))


def kept_cells_on(kept: Cells, after: Cells) -> Cells:
    """Return the cells of `kept` without the off cells of `after`."""
    return frozenset(cell for cell in kept if not covers(after, cell))


def declines(
    topics_off: AbstractSet[str],
    off_on_channel: AbstractSet[str],
    *,
    topics: Collection[str],
    priority: Priority,
) -> bool:
    """Return True if any of `topics` is off, everywhere or on the channel. Always False for P0."""
    if priority is Priority.P0:
        return False
    return not (topics_off.isdisjoint(topics) and off_on_channel.isdisjoint(topics))
