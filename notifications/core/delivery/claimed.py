"""The data of a claimed delivery: row, notification, contact and providers."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from uuid import UUID

import orjson

from notifications.core.rules import attachments
from notifications.core.rules.attachments import Attachment
from notifications.core.rules.retries import Preset
from notifications.core.store import flight_recorder
from notifications.core.store.cached import retry_presets
from notifications.core.store.postgres import reads
from notifications.core.store.postgres.claims import Claimed
from providers.contract import Channel


@dataclass(slots=True, kw_only=True)
class ClaimedDelivery:
    """A claimed delivery with all data for the provider call."""

    delivery: Claimed
    notification: reads.NotificationRow
    destination: reads.ContactState
    providers: tuple[str, ...] = ()
    """Names of providers that may take the delivery, in order; set by `routing` and `failover`."""
    waits_for_turn: bool = False
    """True if an earlier delivery with the same ordering key must leave first; set by
    `deliver`."""
    is_confirmed_elsewhere: bool = False
    """True if another channel of the fallback chain has reached the recipient; set by
    `fall_back`."""
    is_fallback: bool = False
    """True for a later channel of a fallback chain whose earlier channel failed without a
    rejection of the address, or whose push was accepted; set by `fall_back`."""
    segments: int | None = None
    """SMS segments of the text; None on other channels."""
    call: int = 0
    """Number of the current provider call, starting at 1; set by `waves` before the call."""
    reserved_under: UUID | None = None
    """The claim under which the budgets have reserved the price of the call; None: no claim."""
    reserved: int | None = None
    """Reserved price of the call in microdollars; None: nothing is reserved."""
    reserved_at: dt.datetime | None = None
    """Time that chose the days of the budgets; None: nothing is reserved."""
    passed_by: bool = False
    """True if a provider of this round had a temporary failure, or an open breaker, or a pause."""
    in_doubt: bool = False
    """True if a provider of this round returned an error after which it may have sent the
    message."""
    is_one_of_many: bool = False
    """True if the provider refuses the same part of many messages, so that the delivery waits; set
    by `refused_parts`."""
    flight: int | None = None
    """The flight recorder's record of the current call; None: the call is not noted."""
    is_probe: bool = False
    """True if the call probes a provider whose breaker is open; a probe counts as no attempt."""
    held_bytes: int = 0
    """Memory that the contents of the attachments hold; set by `attached`."""

    def note_begin(self) -> None:
        """Note that bytes of the current call may leave from now on."""
        if (flight := self.flight) is not None:  # the task can end the call meanwhile
            flight_recorder.begin(flight)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The attachments of an e-mail; none on other channels."""
        written = self.notification.attachments
        if written is None or self.delivery.channel is not Channel.EMAIL:
            return ()
        return attachments.read(orjson.loads(written))

    @property
    def attachment_bytes(self) -> int:
        """Bytes of the attachments together."""
        return attachments.size_of(self.attachments) if self.notification.attachments else 0

    @property
    def preset(self) -> Preset:
        """The retry policy."""
        return retry_presets.preset_for(
            self.delivery.priority, self.delivery.channel, chosen=self.notification.retry_preset
        )

    def time_to_live(self, now: dt.datetime) -> dt.timedelta:
        """Return the remaining time to live."""
        return self.notification.expires_at - now
