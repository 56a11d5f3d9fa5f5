"""The largest size of the attachments of an e-mail."""

from __future__ import annotations

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.rules.lane import Mode
from providers.contract import Channel


def most_bytes(mode: Mode) -> int:
    """Return the bytes that the setting permits and a provider of e-mails takes; 0: no provider."""
    most = conf.current().attachments_max_bytes
    if mode is Mode.TEST:
        return most
    able = [each.capabilities for each in routing.live_providers(Channel.EMAIL)]
    return min(most, max((each.attachment_bytes for each in able), default=0))
