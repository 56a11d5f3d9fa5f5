"""The enums of `rules/` as Django choices: the admin shows names, the database stores numbers."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import Status
from providers.contract import Channel

CHANNELS: Final = [(channel.value, channel.label) for channel in Channel]
MODES: Final = [(mode.value, mode.label) for mode in Mode]
PRIORITIES: Final = [(priority.value, priority.name) for priority in Priority]
STATUSES: Final = [(status.value, status.label) for status in Status]
