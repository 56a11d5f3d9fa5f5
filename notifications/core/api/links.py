"""`/l/<token>`, `/c/<token>` and `/o/<token>`: links and pixels of sent messages.

    /l/   short link of an SMS: the target comes from the database
    /c/   tracked link of an e-mail: the target comes from the signed token
    /o/   pixel of an e-mail

The target never comes from the request alone, so only links of sent texts redirect. The paths need
no key and are not part of the producers' API. A picture is answered for every token, and a forged
token costs no query. Visits of bots are answered and not recorded.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.encoding import iri_to_uri
from django.views.decorators.http import require_safe

from notifications.core.api.address_limits import wait_of_recipient
from notifications.core.delivery import mail_tracking
from notifications.core.delivery.mail_tracking import TrackedDelivery
from notifications.core.feedback import client_receipts
from notifications.core.rules.client_receipts import ClientReceiptKind
from notifications.core.rules.texts import short_links
from notifications.core.rules.texts.mail_tracking import PIXEL
from notifications.core.store.postgres.short_links import count_click, find_target


@require_safe
def follow(request: HttpRequest, token: str) -> HttpResponse:
    """Redirect to the target, and count the click unless the client looks like a bot."""
    if not _is_a_person(request):
        return _redirect(find_target(token))
    link = count_click(token)
    if link is None:
        return _redirect(None)
    client_receipts.record_link_click(link)
    return _redirect(link.target)


@require_safe
def follow_tracked(request: HttpRequest, token: str) -> HttpResponse:
    """Redirect to the target, and record the click unless the client looks like a bot."""
    found = mail_tracking.read_click(token)
    if found is None:
        return _redirect(None)
    tracked, target = found
    _record(request, tracked, ClientReceiptKind.CLICKED)
    return _redirect(target)


@require_safe
def show_pixel(request: HttpRequest, token: str) -> HttpResponse:
    """Answer the picture, and record the opening unless the client looks like a bot."""
    tracked = mail_tracking.read_open(token)
    if tracked is not None:
        _record(request, tracked, ClientReceiptKind.OPENED)
    answer = HttpResponse(PIXEL, content_type="image/gif")
    answer["Cache-Control"] = "no-store"
    return answer


def _record(request: HttpRequest, tracked: TrackedDelivery, kind: ClientReceiptKind) -> None:
    """Record the visit of a person, unless the recipient's links are visited too often."""
    if _is_a_person(request) and not wait_of_recipient(tracked.holder.recipient_id):
        client_receipts.record_visit(tracked, kind)


def _is_a_person(request: HttpRequest) -> bool:
    purpose = request.headers.get("Sec-Purpose", request.headers.get("Purpose", ""))
    agent = request.headers.get("User-Agent", "")
    return short_links.is_a_person(method=request.method or "", agent=agent, purpose=purpose)


def _redirect(target: str | None) -> HttpResponse:
    answer = HttpResponse(status=302) if target else HttpResponse(_GONE, status=404)
    if target:
        answer["Location"] = iri_to_uri(target)  # a header takes ASCII
    answer["Cache-Control"] = "no-store"  # each click comes here
    answer["Referrer-Policy"] = "no-referrer"
    answer["X-Robots-Tag"] = "noindex"
    return answer


_GONE = b"<!doctype html><title>Link ended</title><p>This link has ended, or there never was one."
