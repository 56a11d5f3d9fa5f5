"""A URL table with a page of a producer that has `<notify-preferences>`."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.html import format_html

from notifyproj.urls import handler400, handler403, handler404, handler500
from notifyproj.urls import urlpatterns as own

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]


def page(request: HttpRequest) -> HttpResponse:
    """Return the page; the token and the locale are in the query."""
    return HttpResponse(
        format_html(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Settings</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            "<style>:root {{ color-scheme: light dark }} body {{ margin: 0 }}</style>"
            '<script type="module" src="/embed/latest/notify-preferences.js"></script>'
            '<main><h1>Account</h1><notify-preferences token="{}" locale="{}"></notify-preferences>'
            "</main></html>",
            request.GET["token"],
            request.GET["locale"],
        )
    )


urlpatterns = [path("settings-page", page), *own]
