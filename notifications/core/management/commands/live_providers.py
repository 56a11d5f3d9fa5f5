"""List the providers for live messages, from routes in the database or NOTIFY_ROUTES."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from notifications.core.delivery import routing
from providers.contract import Channel


class Command(BaseCommand):
    """`manage.py live_providers`."""

    help = "Print the providers for live messages, with channels, a line per provider."

    def handle(self, **_: object) -> None:
        """Print `name channel channel ...` per provider, sorted by name."""
        channels: dict[str, list[str]] = {}
        for channel in Channel:
            for provider in routing.live_providers(channel):
                channels.setdefault(provider.name, []).append(channel.label)
        for name, labels in sorted(channels.items()):
            self.stdout.write(" ".join([name, *sorted(labels)]))
