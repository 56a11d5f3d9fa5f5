"""The largest size of the attachments of an e-mail."""

from __future__ import annotations

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.rules.lane import Mode
from providers.contract import Channel


def most_bytes(mode: Mode, *, with_images: bool = False) -> int:
    """Return the bytes that the setting permits and a provider of e-mails takes; 0: no provider.

    `with_images`: the provider takes images that the HTML shows.
    """
    most = conf.current().attachments_max_bytes
    if mode is Mode.TEST:
        return most
    able = [each.capabilities for each in routing.live_providers(Channel.EMAIL)]
    sizes = [each.attachment_bytes for each in able if each.inline_images or not with_images]
    return min(most, max(sizes, default=0))
