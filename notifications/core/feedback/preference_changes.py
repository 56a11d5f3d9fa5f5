"""Changes of preferences, with the audit entry: by the API and by the preference page.

A change applies to queued deliveries too, because the gates read the preferences before each call.
The sweep `release` ends the holds by the former settings (`models.HoldCheck`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from notifications.core.feedback import preference_matrix
from notifications.core.models import Preference, Recipient
from notifications.core.rules.preferences import CellChange
from notifications.core.rules.times.digest_times import DigestChoice
from notifications.core.store.postgres import audit, merged_recipients, preferences


class NoDigest(Exception):
    """A digest was chosen for topics without a digest template."""

    def __init__(self, topics: Sequence[str]) -> None:
        """Carry the topics."""
        super().__init__(
            f"{', '.join(topics)}: no digest; an operator gives a type with priority P2 or P3 a"
            " digest template"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceChange:
    """The changed values."""

    columns: Mapping[str, object] = field(default_factory=dict)
    """Columns of `Preference`."""
    choices: Sequence[CellChange] = ()
    """Cells to switch on or off, after `columns`."""
    digests: Mapping[str, DigestChoice] = field(default_factory=dict)
    """Digest choices by topic, after `columns`; other topics keep their choice."""
    profile: Mapping[str, str] = field(default_factory=dict)
    """`locale` and `timezone` of the recipient."""

    @property
    def is_empty(self) -> bool:
        """Return True if nothing changes."""
        return not (self.columns or self.choices or self.digests or self.profile)


def change(
    recipient: Recipient, wanted: PreferenceChange, *, by: str, by_recipient: bool
) -> tuple[Recipient, Preference]:
    """Apply a change, in one transaction with the audit entries. Safe to run twice.

    Args:
        recipient: whose preferences.
        wanted: the change.
        by: the actor in the audit log.
        by_recipient: the recipient makes the change, and may switch everything on.

    Raises:
        RecipientOptedOut: a producer would switch a cell on that the recipient switched off.
        MandatoryTopic: the change switches a mandatory topic off.
        TooManyTopics: the change switches too many topics off that no notification type has.
        NoDigest: a topic of `digests` offers no digest.
    """
    if refused := sorted(set(wanted.digests) - preference_matrix.digest_topics()):
        raise NoDigest(refused)
    with transaction.atomic():
        return _apply(merged_recipients.staying(recipient), wanted, by, by_recipient=by_recipient)


def _apply(
    recipient: Recipient, wanted: PreferenceChange, by: str, *, by_recipient: bool
) -> tuple[Recipient, Preference]:
    rows = (
        Recipient.objects.filter(pk=recipient.pk),
        Preference.objects.filter(recipient=recipient),
    )
    with audit.changes(by, "change_preferences", *rows):
        locked = Recipient.objects.select_for_update(no_key=True).get(pk=recipient.pk)
        if wanted.profile:
            for name, value in wanted.profile.items():
                setattr(locked, name, value)
            locked.save(update_fields=[*wanted.profile, "updated_at"])
        row = preferences.change(
            locked,
            _columns(locked, wanted),
            choices=wanted.choices,
            by_recipient=by_recipient,
            mandatory=preference_matrix.mandatory_topics(),
            known=preference_matrix.known_topics(),
        )
    return locked, row


def _columns(locked: Recipient, wanted: PreferenceChange) -> Mapping[str, object]:
    """Return the changed columns; the lock of the recipient keeps the stored digests as read."""
    if not wanted.digests:
        return wanted.columns
    if "digests" in wanted.columns:
        return {**wanted.columns, "digests": dict(wanted.digests)}
    row = Preference.objects.filter(recipient=locked).first()
    return {**wanted.columns, "digests": {**(row.digests if row else {}), **wanted.digests}}
