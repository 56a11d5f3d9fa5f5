"""Render: build the message of a delivery from the template version pinned at accept."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Final

from cryptography.fernet import InvalidToken

from notifications import conf
from notifications.delivery import unsubscribe_links, webhook_signing
from notifications.delivery.claimed import Job
from notifications.rules.language.templating import Reader, Rendered, RenderError
from notifications.rules.texts import short_links, wording
from notifications.rules.texts.wording import Shorten
from notifications.store.postgres import secret_variables
from notifications.store.postgres.reads import NotificationRow
from notifications.store.postgres.short_links import NewLink, insert_links
from notifications.store.templates import template_cache
from providers.contract import Channel, Message

Versions = Mapping[int, template_cache.TemplateVersion]
SHORT_LINK_LIFETIME: Final = dt.timedelta(days=90)
"""Lifetime of a short link after its notification expired."""


class ShortLinkBatch:
    """Short links of one wave: collected by rendering, stored before the send."""

    def __init__(self) -> None:
        self._links: dict[str, NewLink] = {}

    def shortener(self, job: Job) -> Shorten:
        """Return a function to shorten the links of a delivery."""

        def shorten(link: str) -> str:
            settings = conf.current()
            token = short_links.token(job.delivery.id, link, key=settings.hash_key)
            self._links[token] = NewLink(
                token=token,
                delivery_id=job.delivery.id,
                target=link,
                expires_at=job.asked.expires_at + SHORT_LINK_LIFETIME,
            )
            return settings.public_url + short_links.PATH + token

        return shorten

    def store(self) -> None:
        """Store the collected links, before the messages are sent."""
        insert_links(list(self._links.values()))


def versions_for(jobs: Iterable[Job]) -> Versions:
    """Return the pinned template versions of deliveries, from the process's cache."""
    return template_cache.by_id({job.asked.template for job in jobs if job.asked.template})


def message(job: Job, versions: Versions, *, now: dt.datetime, links: ShortLinkBatch) -> Message:
    """Build the message of a delivery, and collect the short links in `links`.

    Raises:
        RenderError: template and variables do not match; a retry would fail as well.
    """
    unsubscribe_url = unsubscribe_links.url_for(job)
    words = _text(job, versions, links, unsubscribe_url)
    delivery, asked, where = job.delivery, job.asked, job.destination
    is_webhook = delivery.channel is Channel.WEBHOOK
    return Message(
        delivery_id=delivery.id,
        notification_id=asked.id,
        idempotency_key=f"{delivery.id}-{delivery.generation}",
        channel=delivery.channel,
        address=where.address,
        address_kind=where.kind,
        title=words.title,
        body=words.body,
        html=words.html,
        collapse_key=_collapse_key(asked),
        urgent=delivery.priority.is_urgent,
        time_to_live=job.time_to_live(now),
        traceparent=asked.traceparent,
        data={"type": asked.type},
        unsubscribe_url=unsubscribe_url,
        signing_keys=webhook_signing.keys_of(where.contact_id, where, now=now)
        if is_webhook
        else (),
        is_signed_for_all=is_webhook and webhook_signing.is_shared(where, now=now),
    )


def _collapse_key(asked: NotificationRow) -> str:
    """Return the collapse key for devices, made unique by producer."""
    return f"{asked.producer_id}-{asked.collapse_key}" if asked.collapse_key else ""


def _text(job: Job, versions: Versions, links: ShortLinkBatch, unsubscribe_url: str) -> Rendered:
    if job.asked.content is not None:
        return wording.fit(job.delivery.channel, _raw(job.asked.content))
    version = versions.get(job.asked.template or 0)
    text = version and version.text(job.delivery.channel, job.destination.locale)
    if not text:
        raise RenderError(f"the template has no text for {job.delivery.channel.label}")
    reader = Reader(locale=job.destination.locale, timezone=job.destination.timezone)
    return text.render(
        _variables(job), reader, shorten=links.shortener(job), unsubscribe_url=unsubscribe_url
    )


def _raw(content: Mapping[str, object]) -> Rendered:
    """Read stored raw content; unknown fields of another release are ignored."""
    texts = [content.get(name) for name in Rendered._fields]
    return Rendered(*(text if isinstance(text, str) else "" for text in texts))


def _variables(job: Job) -> Mapping[str, object]:
    if job.asked.sealed is None:
        return job.asked.variables
    try:
        return {**job.asked.variables, **secret_variables.decrypt(job.asked.sealed).reveal()}
    except InvalidToken as error:
        detail = "the key of the sensitive variables is missing in NOTIFY_ENCRYPTION_KEYS"
        raise RenderError(detail) from error
