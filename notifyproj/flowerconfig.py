"""Flower's settings, read by `flower --conf`. Names in lower case are Flower's own options.

Flower can shut workers down and revoke tasks, so Flower does not start without a password, because
every visitor could then control the workers. Tasks carry ids only, so Flower shows no message.
Flower reads the broker's URL, Flower's user and Flower's password, and no other setting of the
service.

The lengths of RabbitMQ's queues come from the API of the plugin `rabbitmq_management`, with the
user of the broker's URL. Without the plugin the page "Broker" is empty, and the log gets a line for
each look at the page.

Every page except `/healthcheck` requires the password. `/metrics` does too; Flower by itself leaves
`/metrics` open.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sys
from http import HTTPStatus
from urllib.parse import quote

from celery.utils.imports import cwd_in_path
from flower.utils.broker import RabbitMQ
from flower.views import BaseHandler
from flower.views.monitor import Metrics
from kombu.utils.url import parse_url
from tornado.web import HTTPError, authenticated

with cwd_in_path():  # where Celery reads celeryconfig; the program `celery` does not look there
    from celeryconfig import broker_url
    from notifications.core import server_tls

_user = os.environ.get("NOTIFY_FLOWER_USER", "").strip() or "operator"
_password = os.environ.get("NOTIFY_FLOWER_PASSWORD", "").strip()
if not _password:
    sys.exit("NOTIFY_FLOWER_PASSWORD is missing: Flower does not start without a password.")

if not f"{_user}{_password}".isascii():
    sys.exit("NOTIFY_FLOWER_USER and NOTIFY_FLOWER_PASSWORD must be ASCII, which Flower compares.")


if _weakness := server_tls.weakness(broker_url):
    print(f"The server of CELERY_BROKER_URL {_weakness}.", file=sys.stderr)  # noqa: T201 - no logs yet


def _management_api(url: str) -> str:
    """Return the address of the API where the plugin has it by default: on the broker's host."""
    host = parse_url(url)["hostname"] or "localhost"
    host = f"[{host}]" if ":" in host else host
    return f"https://{host}:15671/api/" if url.startswith("amqps") else f"http://{host}:15672/api/"


def _quote_virtual_host(broker: RabbitMQ, *arguments: object, **options: object) -> None:
    """Connect as Flower does, which asks for the virtual host `/` by a path that does not exist."""
    _connect(broker, *arguments, **options)
    broker.vhost = quote(parse_url(broker_url)["virtual_host"] or "/", safe="")


if broker_url.startswith("amqp"):
    _connect = RabbitMQ.__init__
    RabbitMQ.__init__ = _quote_virtual_host
    _given = os.environ.get("FLOWER_BROKER_API", "").strip()
    # Flower replaces what follows the last slash.
    broker_api = f"{_given.rstrip('/')}/" if _given else _management_api(broker_url)
    # The variable may have a password.
    _source = "FLOWER_BROKER_API" if _given else f"{broker_api} (FLOWER_BROKER_API names another)"
    print(f"The lengths of queues come from {_source}.", file=sys.stderr)  # noqa: T201 - no logs yet

_password_given = BaseHandler.get_current_user


def _who(handler: BaseHandler) -> object:
    """Return Flower's user of the request.

    Raises:
        HTTPError: 401 for a password beyond ASCII, which Flower cannot compare.
    """
    try:
        return _password_given(handler)
    except TypeError:
        raise HTTPError(HTTPStatus.UNAUTHORIZED) from None


BaseHandler.get_current_user = _who
Metrics.get = authenticated(Metrics.get)
basic_auth = [f"{_user}:{_password}"]
# The secret depends on the password alone: sign-ins survive a restart, but no change of password.
cookie_secret = hmac.digest(_password.encode(), b"flower cookie", hashlib.sha256).hex()
# Each worker sends events from its start (`celeryconfig.worker_send_task_events`); Flower would ask
# all workers for events each five seconds.
enable_events = False
# Flower keeps the newest tasks in memory: 2,000 take 28 MiB, 10,000 take 60 MiB.
max_tasks = 2_000
