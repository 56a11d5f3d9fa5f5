"""The flags by which services mark an opening or a click of a machine.

Sources: SendGrid's event webhook (`sg_machine_open`), Mailgun's open and click bot detection,
Brevo's transactional webhooks (proxy open), SparkPost's event reference (`is_prefetched`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from providers import visitors
from providers.email.anymail.services import Path, value_at

_NO: Final = frozenset({"", "false"})
_FLAGS: Final[Mapping[str, Path]] = {
    "mailgun": ("event-data", "client-info", "bot"),  # "apple", "gmail", "generic"
    "sendgrid": ("sg_machine_open",),
    "sparkpost": ("msys", "track_event", "is_prefetched"),
}
"""Path of the flag: any value but false is a machine."""
_PROXY_OPENS: Final = frozenset({"proxy_open", "unique_proxy_open"})
"""Brevo has events of their own for them."""
_AGENTS: Final[Mapping[str, Path]] = {"brevo": ("user_agent",)}
"""Path of the user agent where anymail does not read it."""


def is_a_reading(service: str, callback: object, *, agent: str) -> bool:
    """Return True if an opening or a click counts as a reading; `agent` is as anymail reads it."""
    flag = value_at(callback, _FLAGS.get(service, ())).lower()
    is_machine = flag not in _NO or (
        service == "brevo" and value_at(callback, ("event",)) in _PROXY_OPENS
    )
    agent = agent or value_at(callback, _AGENTS.get(service, ()))
    return visitors.is_a_reading(is_machine=is_machine, agent=agent)
