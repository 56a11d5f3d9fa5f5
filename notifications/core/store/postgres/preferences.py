"""Preferences: written by producers, operators and recipients.

Cells switched off by the recipient are kept apart (`channels_left`, `categories_left`,
`topics_left`), and a producer cannot switch such cells on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from django.db import transaction

from notifications.core.models import Contact, Preference, Recipient
from notifications.core.rules import preferences
from notifications.core.rules.preferences import Cell, CellChange, Cells
from notifications.core.store.redis import metric_counters
from providers.contract import Channel

MOST_UNKNOWN: Final = 100
"""Topics of one recipient that no notification type has; each delivery reads the row."""


class RecipientOptedOut(Exception):
    """The recipient switched cells off; only the recipient or an operator switches these on."""

    def __init__(self, cells: Collection[Cell]) -> None:
        """Carry the cells."""
        names = ", ".join(sorted(map(_name, cells)))
        super().__init__(
            f"the person switched {names} off: keep it off; the person or an operator may switch"
            " it on"
        )


class MandatoryTopic(Exception):
    """A choice would switch mandatory topics off."""

    def __init__(self, topics: Sequence[str]) -> None:
        """Carry the topics."""
        super().__init__(f"{', '.join(topics)}: messages of this kind are mandatory")


class TooManyTopics(Exception):
    """A change would store too many topics that no notification type has."""

    def __init__(self) -> None:
        """Say the limit."""
        super().__init__(f"more than {MOST_UNKNOWN} topics that no notification type has are off")


def off(preference: Preference) -> Cells:
    """Return the off cells."""
    return preferences.read(
        preference.channels_off, preference.categories_off, preference.topics_off
    )


def cells_off(preference: Preference) -> Cells:
    """Return the cells switched off by the recipient."""
    return preferences.read(
        preference.channels_left, preference.categories_left, preference.topics_left
    )


def channels_of(recipient: Recipient) -> list[Channel]:
    """Return the channels with a valid contact, and in-app, which needs none."""
    known = {each.value for each in Channel}
    found = Contact.objects.filter(recipient=recipient, invalidated_at=None)
    numbers = set(found.values_list("channel", flat=True)) & known
    return sorted(map(Channel, numbers | {Channel.IN_APP.value}))


def change(
    recipient: Recipient,
    columns: Mapping[str, object],
    *,
    choices: Sequence[CellChange] = (),
    by_recipient: bool = False,
    mandatory: Collection[str] = (),
    known: Collection[str] = (),
) -> Preference:
    """Change preferences of a recipient, also for queued deliveries. Safe to run twice.

    Args:
        recipient: whose preferences.
        columns: columns of the model with new values.
        choices: cells to switch on or off, after `columns`.
        by_recipient: the recipient makes the change, and may switch everything on.
        mandatory: topics that cannot be switched off.
        known: the topics of the notification types.

    Raises:
        TooManyTopics: the change adds topics to more than MOST_UNKNOWN unknown ones.
        RecipientOptedOut: a producer would switch a cell on that the recipient switched off.
        MandatoryTopic: the change switches a mandatory topic off.
    """
    with transaction.atomic():
        Preference.objects.get_or_create(recipient=recipient)
        row = Preference.objects.select_for_update().get(recipient=recipient)
        before, kept = off(row), cells_off(row)
        for name, value in columns.items():
            setattr(row, name, value)
        after = off(row)
        if choices:
            after = preferences.apply(after, choices, shown=channels_of(recipient))
        _check_mandatory(preferences.newly_off(before, after), mandatory)
        _check_number(before, after, known)
        returned = preferences.kept_cells_on(kept, after)
        if by_recipient:
            new = preferences.newly_off(before, after)
            kept = (kept - returned) | new
            metric_counters.count_opt_outs([
                metric_counters.CHANNEL if not cell.topic else metric_counters.CATEGORY
                for cell in new
            ])
        elif returned:
            raise RecipientOptedOut(returned)
        _store(row, after, kept)
    return row


def keep_left(row: Preference, after: Cells) -> None:
    """Forget the recipient's opt-outs that `after` switches on. Does not save the row."""
    kept = cells_off(row)
    if returned := preferences.kept_cells_on(kept, after):
        row.channels_left, row.categories_left, row.topics_left = preferences.write(kept - returned)


def _check_mandatory(switched_off: Cells, mandatory: Collection[str]) -> None:
    if refused := sorted({cell.topic for cell in switched_off} & set(mandatory)):
        raise MandatoryTopic(refused)


def _check_number(before: Cells, after: Cells, known: Collection[str]) -> None:
    unknown = {cell.topic for cell in after} - {preferences.WHOLE_CHANNEL} - set(known)
    if len(unknown) > MOST_UNKNOWN and unknown - {cell.topic for cell in before}:
        raise TooManyTopics


def _store(row: Preference, after: Cells, kept: Cells) -> None:
    if after != off(row):
        row.channels_off, row.categories_off, row.topics_off = preferences.write(after)
    if kept != cells_off(row):
        row.channels_left, row.categories_left, row.topics_left = preferences.write(kept)
    row.save()


def _name(cell: Cell) -> str:
    if cell.channel is None:
        return cell.topic
    return f"{cell.topic} by {cell.channel.label}" if cell.topic else cell.channel.label
