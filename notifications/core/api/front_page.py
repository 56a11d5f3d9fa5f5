"""The front page and the icon for browsers."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

_ICON = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#7c3aed" d="M12 22a2'
    b" 2 0 0 0 2-2h-4a2 2 0 0 0 2 2zm6-6v-5c0-3.1-1.6-5.6-4.5-6.3V4a1.5 1.5 0 0 0-3 0v.7C7.6 5.4 6"
    b' 7.9 6 11v5l-2 2v1h16v-1z"/></svg>'
)


@require_safe
def index(_request: HttpRequest) -> HttpResponse:
    """Redirect to the documentation of the API."""
    return HttpResponseRedirect(reverse("docs"))


@require_safe
@cache_control(public=True, max_age=86_400)
def icon(_request: HttpRequest) -> HttpResponse:
    """Return the service's icon, a bell."""
    return HttpResponse(_ICON, content_type="image/svg+xml")
