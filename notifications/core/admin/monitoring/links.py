"""Links from the pages of the admin to the pages with plots, which a feature shows."""

from __future__ import annotations

from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from providers.contract import Channel


def subject_page(kind: str, value: object, channel: Channel | None = None) -> str:
    """Return the address of the page of a provider, template, producer or type.

    Empty without the feature, and for a name with a slash, which no message can have.

    Args:
        kind: `provider`, `template`, `producer` or `type`.
        value: name, or the id of a producer.
        channel: of a provider: only this channel.
    """
    try:
        if channel is None:
            return reverse("admin:monitoring_subject", args=[kind, value])
        arguments = [kind, value, channel.label]
        return reverse("admin:monitoring_provider_channel", args=arguments)
    except NoReverseMatch:
        return ""


def traffic_link(kind: str, value: object) -> SafeString:
    """Return a link to the page; a hyphen without a page, and for an object that is not saved."""
    address = subject_page(kind, value) if value else ""
    if not address:
        return SafeString("-")
    shown = '<a class="text-primary-600 dark:text-primary-500" href="{}">Plots</a>'
    return format_html(shown, address)
