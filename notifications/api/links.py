"""`GET /l/<token>`: redirect of a short link in an SMS.

The target comes from the database, never from the request, so only links of sent texts redirect.
The path needs no key and is not part of the producers' API.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.encoding import iri_to_uri
from django.views.decorators.http import require_safe

from notifications.rules.texts import short_links
from notifications.store.postgres.short_links import count_click, find_target


@require_safe
def follow(request: HttpRequest, token: str) -> HttpResponse:
    """Redirect to the target, and count the click unless the client looks like a bot."""
    purpose = request.headers.get("Sec-Purpose", request.headers.get("Purpose", ""))
    agent = request.headers.get("User-Agent", "")
    counts = short_links.is_a_person(method=request.method or "", agent=agent, purpose=purpose)
    target = count_click(token) if counts else find_target(token)
    answer = HttpResponse(status=302) if target else HttpResponse(_GONE, status=404)
    if target:
        answer["Location"] = iri_to_uri(target)  # a header takes ASCII
    answer["Cache-Control"] = "no-store"  # each click comes here
    answer["Referrer-Policy"] = "no-referrer"
    answer["X-Robots-Tag"] = "noindex"
    return answer


_GONE = b"<!doctype html><title>Link ended</title><p>This link has ended, or there never was one."
