"""SMS: refuse too many segments, and countries that the producer may not send to."""

from __future__ import annotations

from typing import Final

from notifications.core import conf
from notifications.core.rules.brand import DEFAULT
from notifications.core.rules.channels import DEFAULT_ORDER, RecipientContacts
from notifications.core.rules.language.templating import Reader, RenderError
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import NotificationRequest
from notifications.core.rules.texts import short_links, sms_segments
from notifications.core.store.cached import brands, sms_countries
from notifications.core.store.templates.template_cache import TemplateVersion
from providers.contract import Channel

_TOKEN: Final = "x" * short_links.TOKEN_LENGTH


def size_problem(
    request: NotificationRequest,
    template: TemplateVersion | None,
    reach: RecipientContacts,
    *,
    producer_id: int,
) -> Problem | None:
    """Return the problem of an SMS with too many segments; None: the size is allowed.

    Each segment costs money, and carriers truncate.

    The check applies to recipients with a number, in their language and with the request's
    variables. The limit is NOTIFY_SMS_MAX_SEGMENTS, or the template's own `max_segments` if lower.
    """
    order = request.channels_in_order or reach.channel_order or DEFAULT_ORDER
    if Channel.SMS not in order or not reach.contacts.get(Channel.SMS):
        return None
    limit = conf.current().sms_max_segments
    if template is None:
        text, pointer = request.content.body if request.content else "", "/content/body"
    else:
        wording = template.text(Channel.SMS, reach.locale)
        if wording is None:
            return None
        try:
            text = wording.render(
                request.variables.reveal(),
                Reader(locale=reach.locale, timezone=reach.timezone),
                shorten=lambda _link: conf.current().public_url + short_links.PATH + _TOKEN,
                brand=brands.of(producer_id) if wording.has_brand else DEFAULT,
            ).body
        except RenderError:
            # the delivery's dead letter names the variable and text, as on other channels
            return None
        limit, pointer = min(wording.source.max_segments or limit, limit), "/variables"
    size = sms_segments.measure(text)
    if size.segments <= limit:
        return None
    taken = f"{size.segments} segments ({size.units} units of {size.encoding})"
    detail = f"the SMS takes {taken}, at most {limit}"
    return Problem(Kind.INVALID, detail, (FieldError(pointer, detail),))


def country_problem(producer_id: int, number: str, *, pointer: str) -> Problem | None:
    """Return the problem of a number in a country that the producer may not send to.

    The allow-list of a producer applies to live SMS of every priority.
    """
    country = sms_countries.wrong_country(producer_id, number) if number else ""
    if not country:
        return None
    detail = f"this producer may not send SMS to the country {country}"
    return Problem(Kind.COUNTRY_NOT_ALLOWED, detail, (FieldError(pointer, detail),))
