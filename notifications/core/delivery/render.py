"""Render: build the messages of a wave from the template versions pinned at accept.

    messages(deliveries) ── Lookups ──> message(delivery, lookups) ──> Message

`Lookups` has the data that many messages share: texts, brands, notification types, keys of links.
"""

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
    webhook_signing,
    withholding,
)
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.delivery.unsubscribe_links import UnsubscribeLinks
from notifications.core.rules.brand import DEFAULT, Brand
from notifications.core.rules.language import link_targets
from notifications.core.rules.language.templating import Reader, Rendered, RenderError
from notifications.core.rules.language.variables import NO_LINKS, MailLinks
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.texts import in_app_text, short_links, sms_segments, wording
from notifications.core.rules.texts.wording import Shorten, Wording
from notifications.core.store.cached import brands, notification_types
from notifications.core.store.postgres import secret_variables
from notifications.core.store.postgres.short_links import NewLink, insert_links
from notifications.core.store.templates import template_cache
from notifications.core.store.templates.template_cache import TemplateVersion
from providers.contract import Channel, Message
from providers.message_parts import InApp, InAppAction

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


class Lookups:
    """Texts, brands and types of the messages of a wave, each looked up once; their short links."""

    def __init__(self, deliveries: Iterable[ClaimedDelivery], *, now: dt.datetime) -> None:
        """Read template versions and notification types, from the caches of the process."""
        named = {each.notification.template for each in deliveries if each.notification.template}
        self.now = now
        self.types = notification_types.every()
        self.links = ShortLinkBatch()
        self.unsubscribe_links = UnsubscribeLinks(self.types, now=now)
        self.brand_of = functools.cache(brands.of)
        self.text_of = functools.cache(functools.partial(_text, template_cache.by_id(named)))
        """The text of a template, a variant, a channel and a locale, as `_text`."""


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
    lookups, files = Lookups(deliveries, now=now), attached.contents(deliveries)
    built: list[tuple[ClaimedDelivery, Message]] = []
    broken: list[tuple[ClaimedDelivery, str]] = []
    for claimed in deliveries:
        try:
            message_ = message(claimed, lookups)
            if claimed.notification.attachments:
                message_ = attached.attach(claimed, message_, files)
        except RenderError as error:
            broken.append((claimed, str(error)))
            continue
        except DatabaseError:
            raise
        except Exception as error:  # noqa: BLE001 - any exception of a render can quote a value
            withheld = withholding.loggable_error(error)
            raise withheld from None
        built.append((claimed, message_))
        if claimed.delivery.channel is Channel.SMS:
            claimed.segments = sms_segments.measure(message_.body).segments
    lookups.links.store()
    return built, broken


def message(claimed: ClaimedDelivery, lookups: Lookups) -> Message:
    """Build the message of a delivery, and collect the short links in the lookups.

    Raises:
        RenderError: template and variables do not match; a retry would fail as well.
    """
    delivery, notification, where = claimed.delivery, claimed.notification, claimed.destination
    channel, variant, now = delivery.channel, notification.template_variant, lookups.now
    text: Wording | None = None
    if notification.content is None:
        text = lookups.text_of(notification.template, variant, channel, where.locale)
    is_mail, is_webhook = channel is Channel.EMAIL, channel is Channel.WEBHOOK
    shows_brand = is_mail or (text is not None and text.has_brand)
    brand = lookups.brand_of(notification.producer_id) if shows_brand else DEFAULT
    mail_links = _mail_links(claimed, text, lookups, brand) if is_mail else NO_LINKS
    words = _words(claimed, text, lookups, mail_links, brand)
    key = notification.collapse_key
    signing_keys = webhook_signing.keys_of(where.contact_id, where, now=now) if is_webhook else ()
    return Message(
        delivery_id=delivery.id,
        notification_id=notification.id,
        idempotency_key=f"{delivery.id}-{delivery.generation}",
        channel=channel,
        address=where.address,
        address_kind=where.kind,
        title=words.title,
        body=words.body,
        html=words.html,
        collapse_key=f"{notification.producer_id}-{key}" if key else "",
        urgent=delivery.priority.is_urgent,
        time_to_live=notification.expires_at - now,
        traceparent=notification.traceparent,
        data={"type": notification.type} | (_links(words) if channel is Channel.PUSH else {}),
        on_begin=claimed.note_begin,
        in_app=_in_app_parts(claimed, words) if channel is Channel.IN_APP else None,
        unsubscribe_url=mail_links.unsubscribe_url,
        mail=mail_headers.of(claimed, brand=brand),
        signing_keys=signing_keys,
        template_ids=dict(text.source.vendor_template.ids) if text is not None else {},
        template_parameters=words.parameters,
        is_signed_for_all=is_webhook and webhook_signing.is_shared(where, now=now),
    )


def _mail_links(
    claimed: ClaimedDelivery, text: Wording | None, lookups: Lookups, brand: Brand
) -> MailLinks:
    """Return the links of an e-mail; each mail has the unsubscribe URL in a header."""
    unsubscribe_url = lookups.unsubscribe_links.url_for(claimed, brand=brand)
    if text is None or not text.has_link:
        return MailLinks(unsubscribe_url)
    recipient_id = claimed.delivery.recipient_id
    return MailLinks(
        unsubscribe_url, preference_links.url_of(recipient_id, now=lookups.now, brand=brand)
    )


def _links(words: Rendered) -> dict[str, str]:
    """Return link and image of a push, which the app and the service worker open and show.

    Raises:
        RenderError: a URL is not one that an inbox opens.
    """
    in_app_text.check_urls(words.in_app, conf.current().inbox_url_schemes)
    links = {"url": words.in_app.url, "image_url": words.in_app.image_url}
    return {name: url for name, url in links.items() if url}


def _text(
    versions: Mapping[int, TemplateVersion],
    template: int | None,
    variant: str,
    channel: Channel,
    locale: str,
) -> Wording:
    """Return the text of a template.

    Raises:
        RenderError: the template has no text for the channel, or no such variant.
    """
    version = versions.get(template or 0)
    if version and variant:
        version = version.of_variant(variant)
        if version is None:
            raise RenderError(f"the template has no variant {variant}")
    text = version and version.text(channel, locale)
    if not text:
        raise RenderError(f"the template has no text for {channel.label}")
    return text


def _words(
    claimed: ClaimedDelivery,
    text: Wording | None,
    lookups: Lookups,
    mail_links: MailLinks,
    brand: Brand,
) -> Rendered:
    notification, channel = claimed.notification, claimed.delivery.channel
    if text is None:
        content = wording.raw(notification.content or {})
        link_targets.check(content.html)
        words = wording.fit(channel, content)
    else:
        words = text.render(
            notification.variables if notification.sealed is None else _with_secrets(claimed),
            _reader(claimed.destination.locale, claimed.destination.timezone),
            shorten=lookups.links.shortener(claimed) if text.source.shorten_links else None,
            mail_links=mail_links,
            brand=brand,
        )
    rule = lookups.types.get(notification.type)
    if rule is None or channel is not Channel.EMAIL or not words.html:
        return words
    return mail_tracking.apply(claimed, words, rule, keep=mail_links)


@functools.lru_cache(maxsize=4096)
def _reader(locale: str, timezone: str) -> Reader:
    return Reader(locale=locale, timezone=timezone)


def _with_secrets(claimed: ClaimedDelivery) -> Mapping[str, object]:
    """Return the variables with the sensitive variables, which an inbox gets as a mask.

    Raises:
        RenderError: the key of the sensitive variables is missing.
    """
    try:
        secrets = secret_variables.decrypt(claimed.notification.sealed or b"").reveal()
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
