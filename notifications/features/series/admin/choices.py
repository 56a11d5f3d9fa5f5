"""The choices of the editor: templates, types, events, channels.

Each list is bounded. A name beyond the bound can be typed.
"""

from __future__ import annotations

from typing import Any, Final

from notifications.core.admin import names
from notifications.core.rules.channels import Spread
from notifications.core.rules.lane import Priority
from notifications.core.rules.times.quiet_hours import Weekday
from notifications.features.series.models import CustomEvent, Series
from notifications.features.series.rules import definition
from notifications.features.series.rules.conditions import MessageStatus
from notifications.features.series.rules.states import Reentry
from providers.contract import Channel

_LATEST: Final = 1_000
"""Latest custom events of all producers, among which the names of events are found."""
_REENTRY: Final = {
    Reentry.NEVER.value: "once",
    Reentry.AFTER_EXIT.value: "again after the end of an enrolment",
}
_SPREAD: Final = {
    Spread.FIRST.value: "the first channel that reaches the recipient",
    Spread.ALL.value: "each of the channels",
}


def data(series: Series | None) -> dict[str, Any]:
    """Return the values of the selects for the script, each with a text."""
    return {
        "name": series.name if series else "",
        "channels": [each.label for each in Channel],
        "priorities": [each.name for each in Priority],
        "spreads": list(_SPREAD.items()),
        "reentries": list(_REENTRY.items()),
        "statuses": [each.value for each in MessageStatus],
        "weekdays": [each.value for each in Weekday],
        "max_depth": definition.MAX_DEPTH,
    }


def lists(series: Series | None) -> dict[str, Any]:
    """Return the names that text boxes complete."""
    return {
        "templates": names.templates(is_published=True).options,
        "types": names.types().options,
        "events": _events(series),
    }


def _events(series: Series | None) -> list[str]:
    """Return the names of the latest events of the producer, and of events in its series."""
    latest = CustomEvent.objects.order_by("-pk").values_list("producer_id", "mode", "name")
    found = {
        name
        for producer, mode, name in latest[:_LATEST]
        if series is None or (producer, mode) == (series.producer_id, series.mode)
    }
    rows = Series.objects.exclude(current=None)
    if series is not None:
        rows = rows.filter(producer=series.producer_id, mode=series.mode)
    used = rows.order_by("-pk").values_list("trigger_event", "current__listens")
    for trigger, listens in used[: names.MOST]:
        found |= {trigger, *(listens or ())}
    return sorted(found - {""})[: names.MOST]
