"""Structured logs of the product and of every library: JSON lines on standard error.

All lines go through the queue of `notifications.core.telemetry`, so no thread waits for a reader.
The API's middleware binds the request's id and trace to the lines of a request. The wide line of a
provider call has the trace stored at the acceptance of the notification.
"""

from __future__ import annotations

import logging.config
from collections.abc import Mapping
from typing import Final

import structlog
from structlog.processors import ExceptionRenderer
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import Processor

from notifications.core.api import correlation

_TRACEBACKS: Final = ExceptionRenderer(ExceptionDictTransformer(show_locals=False))
"""Tracebacks without the frames' variables, because variables hold addresses and bodies."""

_STDERR: Final = {
    "class": "logging.StreamHandler",
    "formatter": "json",
    "filters": ["route_for_path"],  # on the handler, so that no logger of Django's is left out
    "stream": "ext://notifications.core.telemetry.STDERR",
}


class RouteForPath(logging.Filter):
    """Replace the path of a request by its route, and add the trace id of the request.

    A path can contain the id of a recipient. Django logs a failed request after the end of the
    middleware, so the trace id must come from the request.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace the path by the route; return True for every line."""
        request = getattr(record, "request", None)
        if request is not None and isinstance(record.args, tuple):
            match = request.resolver_match
            route = match.route if match else "<no route>"
            record.args = tuple(route if each == request.path else each for each in record.args)
            record.trace_id = correlation.trace_id(request)
        return True


def configure(config: Mapping[str, object]) -> None:
    """Configure structlog for the product and every library; Django's LOGGING_CONFIG."""
    shared = _common_processors()
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig({
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": shared,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    _TRACEBACKS,
                    structlog.processors.JSONRenderer(sort_keys=True),
                ],
            }
        },
        "filters": {"route_for_path": {"()": RouteForPath}},
        "handlers": {"stderr": _STDERR},
        "root": {"handlers": ["stderr"], "level": config["level"]},
        # The loggers write a line per task or request with less than the product's wide line.
        "loggers": {
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            # The warnings repeat the product's line of a request; paths hold user ids and tokens.
            "django.request": {"level": "ERROR"},
            "django_celery_beat": {"level": "WARNING"},
        },
    })


def _common_processors() -> list[Processor]:
    """Return the processors for the lines of structlog and of the standard library."""
    return [
        structlog.stdlib.ExtraAdder(allow=["trace_id"]),
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
