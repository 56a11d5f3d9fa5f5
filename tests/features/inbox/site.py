"""A URL table with a site of a producer: a page with `<notify-inbox>` and a URL for tokens."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

from notifyproj.urls import handler400, handler403, handler404, handler500
from notifyproj.urls import urlpatterns as own

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>
<script type="module" src="/embed/latest/notify-inbox.js"></script>
<notify-inbox token-url="/token"></notify-inbox>
<script src="/before.js"></script></html>"""
_BEFORE = """document.querySelector("notify-inbox").open = location.hash === "#open";"""


def page(_request: HttpRequest) -> HttpResponse:
    """Return the page of the shop."""
    return HttpResponse(_PAGE)


def before(_request: HttpRequest) -> HttpResponse:
    """Return a script that runs before the script of the component."""
    return HttpResponse(_BEFORE, content_type="text/javascript")


def token(request: HttpRequest) -> HttpResponse:
    """Return the token in the cookie `token`; without one nobody is signed in."""
    text = request.COOKIES.get("token")
    if text == "html":
        return HttpResponse("<!doctype html>\n<title>Back in a minute</title>")
    return JsonResponse({"token": text}) if text else HttpResponse(status=401)


urlpatterns = [path("shop", page), path("before.js", before), path("token", token), *own]
