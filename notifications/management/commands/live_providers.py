"""Names the providers that live messages may go through: by rows of routes, or by NOTIFY_ROUTES."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from notifications.delivery import routing
from providers.contract import Channel


class Command(BaseCommand):
    """`manage.py live_providers`."""

    help = "Print a line for each provider that a live message may go through, with its channels."

    def handle(self, **_: object) -> None:
        """Print `name channel channel ...`, sorted by name."""
        channels: dict[str, list[str]] = {}
        for channel in Channel:
            for provider in routing.live_providers(channel):
                channels.setdefault(provider.name, []).append(channel.label)
        for name, labels in sorted(channels.items()):
            self.stdout.write(" ".join([name, *sorted(labels)]))
