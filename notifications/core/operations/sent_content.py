"""The text of a message as a provider got it, rendered again for an operator.

The service stores no rendered text. The pinned template version and the stored variables give the
same text again, with these differences: a sensitive variable is masked, the unsubscribe link has no
token, tracking links are left out, and brand, locale and timezone are the current ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from notifications.core import conf
from notifications.core.delivery import preference_links
from notifications.core.models import Recipient
from notifications.core.rules.language.templating import Reader, Rendered, RenderError
from notifications.core.rules.language.variables import NO_LINKS, MailLinks
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.texts import short_links, sms_segments, wording
from notifications.core.store.cached import brands
from notifications.core.store.postgres.timelines import DeliveryView, Timeline
from notifications.core.store.templates import template_cache
from providers.contract import Channel

_NO_LOCALE: Final = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentContent:
    """The text for a channel."""

    channel: Channel
    locale: str
    """Empty for a text that the producer sent."""
    rendered: Rendered | None
    """None: the text cannot be rendered again, and `problem` has the cause."""
    problem: str = ""
    masked: tuple[str, ...] = ()
    """Names of the sensitive variables of the template."""

    @property
    def segments(self) -> int:
        """Return the number of SMS segments of the text; 0 on other channels."""
        if self.rendered is None or self.channel is not Channel.SMS:
            return 0
        return sms_segments.measure(self.rendered.body).segments


def contents(timeline: Timeline, recipient: Recipient | None) -> list[SentContent]:
    """Return the text for each channel of a notification, in the order of the deliveries."""
    first_by_channel: dict[Channel, DeliveryView] = {}
    for delivery in timeline.deliveries:
        first_by_channel.setdefault(delivery.channel, delivery)
    return [content_for(timeline, delivery, recipient) for delivery in first_by_channel.values()]


def content_for(
    timeline: Timeline, delivery: DeliveryView, recipient: Recipient | None
) -> SentContent:
    """Return the text of a delivery."""
    notification = timeline.notification
    if notification.content is not None:
        return SentContent(
            channel=delivery.channel,
            locale="",
            rendered=wording.fit(delivery.channel, wording.raw(notification.content)),
        )
    return _from_template(timeline, delivery, recipient)


def _from_template(
    timeline: Timeline, delivery: DeliveryView, recipient: Recipient | None
) -> SentContent:
    version = template_cache.by_id([timeline.notification.template or 0]).get(
        timeline.notification.template or 0
    )
    locale = recipient.locale if recipient else _NO_LOCALE
    if version is None:
        problem = "The template version was deleted, so the text cannot be rendered again."
        return _without_text(delivery.channel, locale, problem, masked=())
    masked = tuple(sorted(version.sensitive))
    variant = timeline.notification.template_variant
    shown = version.of_variant(variant)
    if shown is None:
        problem = f"The template has no variant {variant}."
        return _without_text(delivery.channel, locale, problem, masked=masked)
    text = shown.text(delivery.channel, locale)
    if text is None:
        problem = f"The template has no text for {delivery.channel.label}."
        return _without_text(delivery.channel, locale, problem, masked=masked)
    zone = (recipient.timezone or recipient.phone_timezone) if recipient else ""
    url = conf.current().public_url
    links = MailLinks(f"{url}/unsubscribe/{MASK}", preference_links.url_with(MASK))
    try:
        rendered = text.render(
            timeline.variables,
            Reader(locale=locale, timezone=zone),
            shorten=lambda link: _short_link(delivery, link),
            mail_links=links if delivery.channel is Channel.EMAIL else NO_LINKS,
            brand=brands.of(timeline.notification.producer_id),
        )
    except RenderError as error:
        problem = f"The text cannot be rendered again with masked variables: {error}."
        return _without_text(delivery.channel, text.source.locale, problem, masked=masked)
    return SentContent(
        channel=delivery.channel, locale=text.source.locale, rendered=rendered, masked=masked
    )


def _without_text(
    channel: Channel, locale: str, problem: str, *, masked: Sequence[str]
) -> SentContent:
    return SentContent(
        channel=channel, locale=locale, rendered=None, problem=problem, masked=tuple(masked)
    )


def _short_link(delivery: DeliveryView, link: str) -> str:
    settings = conf.current()
    return (
        settings.public_url
        + short_links.PATH
        + short_links.token(delivery.id, link, key=settings.hash_key)
    )
