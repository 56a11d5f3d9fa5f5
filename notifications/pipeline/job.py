"""A job is a claimed delivery with all that is needed to send it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from notifications.rules.retries import Preset
from notifications.store import reads, retry_presets
from notifications.store.claims import Claimed


@dataclass(slots=True, kw_only=True)
class Job:
    """One delivery on its way through a task."""

    delivery: Claimed
    asked: reads.Asked
    destination: reads.Destination
    providers: tuple[str, ...] = ()
    """Who may take it, the one whose turn it is first; `route` gives them, `fail_over` goes on."""
    waits_for_turn: bool = False
    """Another delivery of its ordering key goes first; `ordering` tells."""
    segments: int | None = None
    """What its text takes as an SMS; None elsewhere."""
    call: int = 0
    """Number of the call under way: the delivery's attempts, this one included."""
    passed_by: bool = False
    """A provider of this round could not take it for a reason that passes; it may later."""
    in_doubt: bool = False
    """A provider of this round answered with an error after which it may have sent."""
    is_probe: bool = False
    """The call asks whether a resting provider is well again: it spends no attempt."""

    @property
    def preset(self) -> Preset:
        """Its retry policy."""
        return retry_presets.preset_for(
            self.delivery.priority, self.delivery.channel, chosen=self.asked.retry_preset
        )

    def time_to_live(self, now: dt.datetime) -> dt.timedelta:
        """What is left of it."""
        return self.asked.expires_at - now
