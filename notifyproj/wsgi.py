"""The web process's entry point."""

import gc
import os
from typing import Final

import structlog
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")

_django = get_wsgi_application()

from django.urls import get_resolver  # noqa: E402 - it needs Django set up

from notifications.core import conf  # noqa: E402 - it needs Django set up
from notifications.core.api.request_slots import Slots  # noqa: E402 - it needs Django set up
from notifications.core.api.short_path import ShortPath  # noqa: E402 - it needs Django set up
from notifications.core.intake import accept_metrics  # noqa: E402 - it needs Django set up
from notifications.core.store.postgres import fallbacks, host_clock  # noqa: E402 - it needs Django set up
from notifications.core.telemetry import traces  # noqa: E402 - it needs Django set up
from notifyproj import web  # noqa: E402 - as above

_log: Final = structlog.get_logger(__name__)
_GARBAGE_AT: Final = 50_000
"""Threshold of Python's garbage collector, in new container objects. A batch of a thousand requests
creates more objects, and needs all of them until the response. With Python's default of 700,
garbage collection took a third of the time of an accept."""

gc.set_threshold(_GARBAGE_AT)
application = Slots(
    _django, slots=conf.current().web.slots, threads=web.THREADS, short_path=ShortPath()
)

_ = get_resolver().url_patterns  # the first request would load all views, for seconds
accept_metrics.start_at_zero()
host_clock.Watch().start()
if not web.gives_replies():
    _log.warning("short_path_off", cause="the process was not forked by notifyproj.web")
_servers = [fallbacks.BROKER, fallbacks.STATE, fallbacks.REPLICA]
fallbacks.FallbackWatch(fallbacks.name_of("web"), _servers).start()
traces.start()
