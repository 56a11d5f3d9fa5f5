"""In-app messages: the parts besides title and body, from the notification and its rendered text.

An inbox keeps its messages for weeks, so a sensitive variable never gets into an inbox: publishing
refuses an in-app text with a sensitive variable, and a text that was published before gets a mask
in the place of the value.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import orjson

from notifications.core import conf
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.language.templating import Rendered
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.texts import in_app_text
from providers.contract import InApp, InAppAction


def parts(claimed: ClaimedDelivery, words: Rendered) -> InApp:
    """Return the in-app parts of a delivery.

    Raises:
        RenderError: a URL is not one that an inbox opens.
    """
    in_app_text.check_urls(words.in_app, conf.current().inbox_url_schemes)
    options: dict[str, Any] = orjson.loads(claimed.notification.inbox or "{}")
    seconds = options.get("expires_in")
    return InApp(
        recipient_id=claimed.delivery.recipient_id,
        category=claimed.notification.category,
        url=words.in_app.url,
        image_url=words.in_app.image_url,
        actions=tuple(InAppAction(**each._asdict()) for each in words.in_app.actions),
        data=options.get("data", {}),
        lifetime=dt.timedelta(seconds=seconds) if seconds else None,
    )


def masked(secrets: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mask for each sensitive variable."""
    return dict.fromkeys(secrets, MASK)
