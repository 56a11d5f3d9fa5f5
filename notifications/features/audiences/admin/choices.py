"""The choices of the audience builder: attributes with operators, topics, lists and audiences.

Each list of choices is bounded. A name beyond the bound is found by typing (`name_search`); an
upload, a snapshot or a bulk job beyond the bound can be written as JSON.
"""

from __future__ import annotations

from typing import Any, Final

from notifications.core.admin import names
from notifications.core.models import BulkJob, RecipientList
from notifications.core.rules.attributes import AttributeKind
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.core.store.cached import attributes
from notifications.features.audiences.admin import name_search
from notifications.features.audiences.rules import attribute_conditions
from notifications.features.audiences.rules.nodes import Operator
from providers.contract import Channel

MOST: Final = names.MOST
_BUILT_IN: Final[tuple[tuple[str, str, tuple[Operator, ...]], ...]] = (
    ("locale", AttributeKind.TEXT.value, (Operator.IS, Operator.IN)),
    ("timezone", AttributeKind.TEXT.value, (Operator.IS, Operator.IN)),
    ("created_at", AttributeKind.DATE.value, (Operator.BEFORE, Operator.AFTER)),
)


def context(typed_mode: object) -> dict[str, Any]:
    """Return the values of the builder's template; an unknown mode counts as live mode."""
    mode = next((each for each in Mode if str(each.value) == str(typed_mode)), Mode.LIVE)
    topics, types = name_search.topics(mode), names.types()
    return {
        "audience_data": _data(mode),
        "topics": topics.options,
        "types": types.options,
        "searches": {
            kind: name_search.address(kind, mode)
            for kind, found in (("topics", topics), ("types", types))
            if not found.is_whole
        },
    }


def _data(mode: Mode) -> dict[str, Any]:
    """Return the data of the script: names, kinds, operators and labels."""
    defined = [
        (name, kind.value, attribute_conditions.operators_of(kind))
        for name, kind in sorted(attributes.kinds().items())
    ]
    saved = name_search.audiences(mode)
    return {
        "attributes": [*defined, *_BUILT_IN],
        "channels": [each.label for each in Channel],
        "audiences": [name for name, _ in saved.options],
        "audienceSearch": "" if saved.is_whole else name_search.address("audiences", mode),
        "uploads": _lists(mode, ListKind.UPLOAD),
        "snapshots": _lists(mode, ListKind.SNAPSHOT),
        "jobs": [
            (str(job.pk), f"{job.name} ({job.created_at:%Y-%m-%d})")
            for job in BulkJob.objects.filter(mode=mode).order_by("-pk")[:MOST]
        ],
    }


def _lists(mode: Mode, kind: ListKind) -> list[tuple[str, str]]:
    rows = RecipientList.objects.filter(
        mode=mode, kind=kind, state=ListState.READY, deleted_at=None
    ).order_by("-pk")
    return [(str(row.pk), f"{row} ({row.members:,})") for row in rows[:MOST]]
