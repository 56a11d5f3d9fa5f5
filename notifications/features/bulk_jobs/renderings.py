"""Renderings: the texts that a bulk job would send to recipients, for people.

Sensitive variables and addresses are masked, and links are examples. The text is rendered in the
locale and the timezone of the recipient, as the worker renders it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from notifications.core import conf
from notifications.core.delivery import preference_links
from notifications.core.models import Contact
from notifications.core.rules import masking
from notifications.core.rules.attachments import Attachment
from notifications.core.rules.language.templating import Reader, Rendered, RenderError
from notifications.core.rules.language.variables import NO_LINKS, MailLinks
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.texts import short_links, sms_segments
from notifications.core.store.cached import brands
from notifications.core.store.templates import template_cache
from notifications.features.bulk_jobs.page import Planned
from providers.contract import Channel
from providers.email import mime

_TOKEN: Final = "x" * short_links.TOKEN_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """The text of a message on a channel."""

    channel: Channel
    contact_id: int
    locale: str
    variant: str
    """Empty without variants."""
    rendered: Rendered | None
    """None: the text cannot be rendered, and `problem` has the cause."""
    problem: str = ""
    is_masked: bool = False
    """True if the template has a sensitive variable, whose value is masked."""
    files: Sequence[Attachment] = ()
    """Attachments of an e-mail."""

    @property
    def segments(self) -> int:
        """Return the SMS segments of the text; 1 on other channels."""
        if self.rendered is None or self.channel is not Channel.SMS:
            return 1
        return sms_segments.measure(self.rendered.body).segments

    @property
    def mail_bytes(self) -> int:
        """Return the bytes of the encoded texts and files of an e-mail; 0 on other channels."""
        text = self.rendered
        if text is None or self.channel is not Channel.EMAIL:
            return 0
        return mime.bytes_without_headers(text.body, text.html, [each.size for each in self.files])


def of_message(message: Planned) -> list[Rendering]:
    """Return the text of each delivery of a message."""
    return [
        of_delivery(message, Channel(channel), contact) for channel, contact in message.contacts
    ]


def of_delivery(message: Planned, channel: Channel, contact_id: int) -> Rendering:
    """Return the text of a delivery of a message."""
    reach = message.reach
    version = template_cache.by_id([message.shared.template]).get(message.shared.template)
    template = version and version.of_variant(message.shared.template_variant)
    text = None if template is None else template.text(channel, reach.locale)
    problem, rendered = "", None
    if template is None or text is None:
        problem = f"The template has no usable text for {channel.label}."
    else:
        masked = dict.fromkeys(template.sensitive, MASK)
        try:
            rendered = text.render(
                {**orjson.loads(message.variables), **masked},
                Reader(locale=reach.locale, timezone=reach.timezone),
                shorten=lambda _link: conf.current().public_url + short_links.PATH + _TOKEN,
                mail_links=_mail_links() if channel is Channel.EMAIL else NO_LINKS,
                brand=brands.of(message.shared.producer_id),
            )
        except RenderError as error:
            problem = f"The text cannot be rendered: {error}."
    return Rendering(
        channel=channel,
        contact_id=contact_id,
        locale=text.source.locale if text else reach.locale,
        variant=message.shared.variant,
        rendered=rendered,
        problem=problem,
        is_masked=bool(template and template.sensitive),
        files=template.attachments if template and channel is Channel.EMAIL else (),
    )


def addresses(contact_ids: Iterable[int]) -> dict[int, str]:
    """Return the addresses of contacts by id; an inbox has no address."""
    wanted = [each for each in contact_ids if each > 0]
    return dict(Contact.objects.filter(pk__in=wanted).values_list("pk", "address"))


def masked_addresses(renderings: Sequence[Rendering]) -> Mapping[int, str]:
    """Return the masked addresses of the contacts of renderings, by contact id."""
    channels = {each.contact_id: each.channel for each in renderings}
    found = addresses(channels)
    return {each: masking.mask(address, channels[each]) for each, address in found.items()}


def parts(rendering: Rendering) -> dict[str, Any]:
    """Return title, body and html of a rendering; None without a text."""
    text = rendering.rendered
    return {
        "title": text.title if text else None,
        "body": text.body if text else None,
        "html": text.html if text else None,
    }


def _mail_links() -> MailLinks:
    url = conf.current().public_url
    return MailLinks(f"{url}/unsubscribe/{MASK}", preference_links.url_with(MASK))
