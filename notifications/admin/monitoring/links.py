"""Links from the lists and change pages of the admin to the pages with plots."""

from __future__ import annotations

from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString


def traffic_link(kind: str, value: object) -> SafeString:
    """Return a link to the page of a provider, template, producer or type."""
    if not value:
        return SafeString("-")  # an object that is not saved
    try:
        address = reverse("admin:monitoring_subject", args=[kind, value])
    except NoReverseMatch:
        return SafeString("-")  # a name with a slash, which no message can have
    shown = '<a class="text-primary-600 dark:text-primary-500" href="{}">Plots</a>'
    return format_html(shown, address)
