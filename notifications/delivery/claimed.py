"""A job is a claimed delivery with all that is needed to send it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from notifications.rules.retries import Preset
from notifications.store.cached import retry_presets
from notifications.store.postgres import reads
from notifications.store.postgres.claims import Claimed


@dataclass(slots=True, kw_only=True)
class Job:
    """A delivery on the way through a task, with all data for the call."""

    delivery: Claimed
    asked: reads.Asked
    destination: reads.Destination
    providers: tuple[str, ...] = ()
    """Providers that may take the delivery, the next one first; set by `route` and `fail_over`."""
    waits_for_turn: bool = False
    """Another delivery of its ordering key goes first; set by `ordering`."""
    segments: int | None = None
    """SMS segments of the text; None on other channels."""
    call: int = 0
    """Number of the call under way: the delivery's attempts, with this one."""
    passed_by: bool = False
    """A provider of this round could not take the delivery for a temporary reason."""
    in_doubt: bool = False
    """A provider of this round answered with an error after which it may have sent."""
    is_probe: bool = False
    """The call probes a resting provider and spends no attempt."""

    @property
    def preset(self) -> Preset:
        """The retry policy."""
        return retry_presets.preset_for(
            self.delivery.priority, self.delivery.channel, chosen=self.asked.retry_preset
        )

    def time_to_live(self, now: dt.datetime) -> dt.timedelta:
        """Return the rest of the time to live."""
        return self.asked.expires_at - now
