"""SMS limit: a text that takes too many segments is refused where it is accepted.

Each segment is paid for, and carriers cut long texts or drop them. The text is rendered with the
request's own variables in the recipient's language, so that a producer learns of it at once and not
from a dead letter. It is rendered only for a recipient with a number, for a message that may go by
SMS.
"""

from __future__ import annotations

from typing import Final

from notifications import conf
from notifications.rules.channels import DEFAULT_ORDER, Reach
from notifications.rules.language.templating import Reader, RenderError
from notifications.rules.problems import FieldError, Kind, Problem
from notifications.rules.request import NotificationRequest
from notifications.rules.texts import short_links, sms_segments
from notifications.store.templates.shelf import TemplateVersion
from providers.contract import Channel

_TOKEN: Final = "x" * short_links.TOKEN_LENGTH


def violation(
    request: NotificationRequest, template: TemplateVersion | None, reach: Reach
) -> Problem | None:
    """What is wrong with a request whose SMS is too long; None where nothing is.

    The limit is NOTIFY_SMS_MAX_SEGMENTS, or the template's own `max_segments` where that is lower.
    """
    order = request.channels or reach.channel_order or DEFAULT_ORDER
    if Channel.SMS not in order or not reach.contacts.get(Channel.SMS):
        return None
    limit = conf.current().sms_max_segments
    if template is None:
        text = request.content.body if request.content else ""
        return _too_long(text, limit=limit, pointer="/content/body")
    wording = template.text(Channel.SMS, reach.locale)
    if wording is None:
        return None
    try:
        text = wording.render(
            request.variables.reveal(),
            Reader(locale=reach.locale, timezone=reach.timezone),
            shorten=lambda _link: conf.current().public_url + short_links.PATH + _TOKEN,
        ).body
    except RenderError:
        return None  # its delivery tells which variable and which text, as on any other channel
    limit = min(wording.source.max_segments or limit, limit)
    return _too_long(text, limit=limit, pointer="/variables")


def _too_long(text: str, *, limit: int, pointer: str) -> Problem | None:
    size = sms_segments.measured(text)
    if size.segments <= limit:
        return None
    detail = (
        f"the SMS takes {size.segments} segments ({size.units} units of {size.encoding}), "
        f"at most {limit}"
    )
    return Problem(Kind.INVALID, f"{pointer}: {detail}", (FieldError(pointer, detail),))
