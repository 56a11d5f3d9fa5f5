"""The web process's entry point."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")

application = get_wsgi_application()

from notifications.store import host_clock  # noqa: E402 - its models need Django set up

host_clock.Watch().start()
