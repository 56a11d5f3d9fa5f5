"""Links: the short ones of a wave, noted while it is rendered and stored before it is sent.

Nothing is stored, and no statement run, for a wave whose texts shorten no link. A worker killed
between storing and sending leaves links that nobody has; they end like all others.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications import conf
from notifications.pipeline.job import Job
from notifications.rules.texts import short_links
from notifications.rules.texts.wording import Shorten
from notifications.store import short_links as store
from notifications.store.short_links import NewLink

LIFE: Final = dt.timedelta(days=90)
"""After its notification's own end: as long as anything else of it is kept."""


class Book:
    """The short links of one wave."""

    def __init__(self) -> None:
        self._links: dict[str, NewLink] = {}

    def shortener(self, job: Job) -> Shorten:
        """What shortens the links of one delivery."""

        def shorten(link: str) -> str:
            settings = conf.current()
            token = short_links.token(job.delivery.id, link, key=settings.hash_key)
            self._links[token] = NewLink(
                token=token,
                delivery_id=job.delivery.id,
                target=link,
                expires_at=job.asked.expires_at + LIFE,
            )
            return settings.public_url + short_links.PATH + token

        return shorten

    def store(self) -> None:
        """Store what was noted.

        Raises:
            django.db.Error: it was not; nothing may be sent.
        """
        store.add(self._links.values())
