"""Render: build the message of a delivery from the template version pinned at accept."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson
from cryptography.fernet import InvalidToken
from django.db import Error as DatabaseError

from notifications.core import conf
from notifications.core.delivery import (
    attached,
    mail_headers,
    mail_tracking,
    preference_links,
    unsubscribe_links,
    webhook_signing,
    withholding,
)
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.brand import DEFAULT, Brand
from notifications.core.rules.language import link_targets
from notifications.core.rules.language.templating import Reader, Rendered, RenderError
from notifications.core.rules.language.variables import NO_LINKS, MailLinks
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.texts import in_app_text, short_links, sms_segments, wording
from notifications.core.rules.texts.wording import Shorten, Wording
from notifications.core.store.cached import brands
from notifications.core.store.postgres import secret_variables
from notifications.core.store.postgres.reads import NotificationRow
from notifications.core.store.postgres.short_links import NewLink, insert_links
from notifications.core.store.templates import template_cache
from providers.contract import Channel, Message
from providers.message_parts import InApp, InAppAction

Versions = Mapping[int, template_cache.TemplateVersion]
SHORT_LINK_LIFETIME: Final = dt.timedelta(days=90)
"""Lifetime of a short link after its notification expired."""


class ShortLinkBatch:
    """Short links of one wave: collected by rendering, stored before the send."""

    def __init__(self) -> None:
        self._links: dict[str, NewLink] = {}

    def shortener(self, claimed: ClaimedDelivery) -> Shorten:
        """Return a function to shorten the links of a delivery."""

        def shorten(link: str) -> str:
            settings = conf.current()
            token = short_links.token(claimed.delivery.id, link, key=settings.hash_key)
            self._links[token] = NewLink(
                token=token,
                delivery_id=claimed.delivery.id,
                target=link,
                expires_at=claimed.notification.expires_at + SHORT_LINK_LIFETIME,
            )
            return settings.public_url + short_links.PATH + token

        return shorten

    def store(self) -> None:
        """Store the collected links, before the messages are sent."""
        insert_links(list(self._links.values()))


def versions_for(deliveries: Iterable[ClaimedDelivery]) -> Versions:
    """Return the pinned template versions of deliveries, from the process's cache."""
    return template_cache.by_id({
        claimed.notification.template for claimed in deliveries if claimed.notification.template
    })


def messages(
    deliveries: Sequence[ClaimedDelivery], *, now: dt.datetime
) -> tuple[list[tuple[ClaimedDelivery, Message]], list[tuple[ClaimedDelivery, str]]]:
    """Build the messages of a wave, and store the short links.

    Returns the deliveries with their messages, and the deliveries without a matching template and
    variables, with the errors.

    Raises:
        django.db.Error: as psycopg raised the error.
        CallFailed: another error of a render, without the values that the error may quote.
    """
    versions, files = versions_for(deliveries), attached.contents(deliveries)
    built: list[tuple[ClaimedDelivery, Message]] = []
    broken: list[tuple[ClaimedDelivery, str]] = []
    links = ShortLinkBatch()
    for claimed in deliveries:
        try:
            message_ = _built(claimed, versions, now=now, links=links)
            if claimed.notification.attachments:
                message_ = attached.attach(claimed, message_, files)
        except RenderError as error:
            broken.append((claimed, str(error)))
            continue
        built.append((claimed, message_))
        if claimed.delivery.channel is Channel.SMS:
            claimed.segments = sms_segments.measure(message_.body).segments
    links.store()
    return built, broken


def _built(
    claimed: ClaimedDelivery, versions: Versions, *, now: dt.datetime, links: ShortLinkBatch
) -> Message:
    try:
        return message(claimed, versions, now=now, links=links)
    except (RenderError, DatabaseError):
        raise
    except Exception as error:  # noqa: BLE001 - any exception of a render can quote a value
        raise withholding.loggable_error(error) from None


def message(
    claimed: ClaimedDelivery, versions: Versions, *, now: dt.datetime, links: ShortLinkBatch
) -> Message:
    """Build the message of a delivery, and collect the short links in `links`.

    Raises:
        RenderError: template and variables do not match; a retry would fail as well.
    """
    text = _template_text(claimed, versions)
    brand = _brand(claimed, text)
    mail_links = _mail_links(claimed, text, now, brand)
    rendered = _words(claimed, text, links, mail_links, brand)
    words = mail_tracking.apply(claimed, rendered, keep=mail_links)
    delivery, notification, where = claimed.delivery, claimed.notification, claimed.destination
    is_webhook = delivery.channel is Channel.WEBHOOK
    return Message(
        delivery_id=delivery.id,
        notification_id=notification.id,
        idempotency_key=f"{delivery.id}-{delivery.generation}",
        channel=delivery.channel,
        address=where.address,
        address_kind=where.kind,
        title=words.title,
        body=words.body,
        html=words.html,
        collapse_key=_collapse_key(notification),
        urgent=delivery.priority.is_urgent,
        time_to_live=claimed.time_to_live(now),
        traceparent=notification.traceparent,
        data={"type": notification.type, **_links(delivery.channel, words)},
        on_begin=claimed.note_begin,
        in_app=_in_app_parts(claimed, words) if delivery.channel is Channel.IN_APP else None,
        unsubscribe_url=mail_links.unsubscribe_url,
        mail=mail_headers.of(claimed, brand=brand),
        signing_keys=webhook_signing.keys_of(where.contact_id, where, now=now)
        if is_webhook
        else (),
        template_ids=dict(text.source.vendor_template.ids) if text is not None else {},
        template_parameters=words.parameters,
        is_signed_for_all=is_webhook and webhook_signing.is_shared(where, now=now),
    )


def _brand(claimed: ClaimedDelivery, text: Wording | None) -> Brand:
    """Return the brand of an e-mail or of a text that shows the brand; else the default."""
    is_mail = claimed.delivery.channel is Channel.EMAIL
    shows_brand = is_mail or (text is not None and text.has_brand)
    return brands.of(claimed.notification.producer_id) if shows_brand else DEFAULT


def _mail_links(
    claimed: ClaimedDelivery, text: Wording | None, now: dt.datetime, brand: Brand
) -> MailLinks:
    """Return the links of an e-mail; each mail has the unsubscribe URL in a header."""
    if claimed.delivery.channel is not Channel.EMAIL:
        return NO_LINKS
    recipient_id = claimed.delivery.recipient_id
    return MailLinks(
        unsubscribe_links.url_for(claimed, now=now, brand=brand),
        preference_links.url_of(recipient_id, now=now, brand=brand)
        if text is not None and text.has_link
        else "",
    )


def _links(channel: Channel, words: Rendered) -> dict[str, str]:
    """Return link and image of a push, which the app and the service worker open and show.

    Raises:
        RenderError: a URL is not one that an inbox opens.
    """
    if channel is not Channel.PUSH:
        return {}
    in_app_text.check_urls(words.in_app, conf.current().inbox_url_schemes)
    links = {"url": words.in_app.url, "image_url": words.in_app.image_url}
    return {name: url for name, url in links.items() if url}


def _collapse_key(notification: NotificationRow) -> str:
    """Return the collapse key for devices, made unique by producer."""
    key = notification.collapse_key
    return f"{notification.producer_id}-{key}" if key else ""


def _template_text(claimed: ClaimedDelivery, versions: Versions) -> Wording | None:
    """Return the text of the template; None for a notification with its own content.

    Raises:
        RenderError: the template has no text for the channel, or no such variant.
    """
    if claimed.notification.content is not None:
        return None
    version = versions.get(claimed.notification.template or 0)
    variant = claimed.notification.template_variant
    if version and variant:
        version = version.of_variant(variant)
        if version is None:
            raise RenderError(f"the template has no variant {variant}")
    text = version and version.text(claimed.delivery.channel, claimed.destination.locale)
    if not text:
        raise RenderError(f"the template has no text for {claimed.delivery.channel.label}")
    return text


def _words(
    claimed: ClaimedDelivery,
    text: Wording | None,
    links: ShortLinkBatch,
    mail_links: MailLinks,
    brand: Brand,
) -> Rendered:
    if text is None:
        content = wording.raw(claimed.notification.content or {})
        link_targets.check(content.html)
        return wording.fit(claimed.delivery.channel, content)
    return text.render(
        _variables(claimed),
        _reader(claimed.destination.locale, claimed.destination.timezone),
        shorten=links.shortener(claimed),
        mail_links=mail_links,
        brand=brand,
    )


@functools.lru_cache(maxsize=4096)
def _reader(locale: str, timezone: str) -> Reader:
    return Reader(locale=locale, timezone=timezone)


def _variables(claimed: ClaimedDelivery) -> Mapping[str, object]:
    if claimed.notification.sealed is None:
        return claimed.notification.variables
    try:
        secrets = secret_variables.decrypt(claimed.notification.sealed).reveal()
    except InvalidToken as error:
        detail = "the key of the sensitive variables is missing in NOTIFY_ENCRYPTION_KEYS"
        raise RenderError(detail) from error
    if claimed.delivery.channel is Channel.IN_APP:
        secrets = _mask_all(secrets)
    return {**claimed.notification.variables, **secrets}


def _in_app_parts(claimed: ClaimedDelivery, words: Rendered) -> InApp:
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


def _mask_all(secrets: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mask for each sensitive variable.

    An inbox keeps its messages for weeks, so a sensitive variable never gets into an inbox:
    publishing refuses an in-app text with a sensitive variable, and a text published
    before gets a mask in the place of the value.
    """
    return dict.fromkeys(secrets, MASK)
