"""Celery's configuration: plain data.

The broker carries delivery ids and nothing else; Postgres is the truth. So a message may be lost,
repeated or late, and nothing here tries to make the broker reliable: it is made quick to fail
(short socket timeouts) and bounded.

Times stand in one order, so that each limit is reached before the next one acts:
provider deadline (3 s, 10 s) < lease (6 s, 20 s, 60 s) < visibility timeout (600 s).
"""

import os

from kombu import Exchange, Queue
from kombu.transport import TRANSPORT_ALIASES
from kombu.utils.url import parse_url

from notifications.core import server_tls
from notifications.core.rules.lane import EXPAND, LANES, OPS, TELL, routing_key
from notifyproj.service_urls import foreign_variables, service_url

if _mistakes := foreign_variables(os.environ):
    raise SystemExit("\n".join(_mistakes))
try:
    broker_url = server_tls.verify(service_url(os.environ, "CELERY_BROKER_URL"))
except ValueError as mistake:
    raise SystemExit(f"CELERY_BROKER_URL {mistake}.") from None
if broker_url:
    # Celery prefers the variable to this setting (`celery.app.utils.Settings.broker_url`), and the
    # variable may have no password: CELERY_BROKER_PASSWORD would never be used. kombu verifies no
    # certificate unless the URL says so (`server_tls.verify`).
    os.environ["CELERY_BROKER_URL"] = broker_url
TRANSPORT_ALIASES["amqp"] = "notifications.core.rabbitmq:PlainTransport"
TRANSPORT_ALIASES["amqps"] = "notifications.core.amqps:Transport"
_on_redis = broker_url.startswith(("redis", "valkey"))
# Flower alone reads this setting, for lengths of queues. kombu and redis-py read the URL.
broker_use_ssl = parse_url(broker_url).get("ssl", False) if _on_redis else False

# --- Queues
KEY_PREFIX = "notify:"  # of every key in the broker, for a Redis that others use as well
_arguments = {} if _on_redis else {"x-queue-type": "quorum"}
# On Redis the nameless exchange is one LPUSH. On RabbitMQ a countdown needs a topic exchange.
_exchange = Exchange("") if _on_redis else Exchange("notify", type="topic")
# On Redis an acknowledged message costs eight of the ten commands of a message. A lost message of a
# sweep costs nothing: beat sends the next one, and the rows stay due.
task_queues = [
    Queue(
        name,
        _exchange,
        routing_key=name if _on_redis else routing_key(name),
        queue_arguments=_arguments,
        no_ack=_on_redis and name in {OPS, TELL, EXPAND},
    )
    for name in (OPS, TELL, EXPAND, *(lane.name for lane in LANES))
]
task_default_queue = OPS
task_create_missing_queues = False
# A worker takes P0 before P1 before the rest, and P2 four times as often as P3. RabbitMQ has no
# order between queues: there `lanes.prefetch` keeps the four to one, and P0 and P1 need workers of
# their own.
broker_transport_options = (
    {
        "queue_order_strategy": "notifications.core.lanes.WeightedOrder",
        "visibility_timeout": 600,
        # Longest blocking pop, seconds; shorter while a queue is paused (`lanes.pause_queue`).
        "polling_interval": 1.0,
        # Over the 1 s of a blocking pop; without one a silent broker hangs a publisher for ever.
        "socket_timeout": 2.0,
        "socket_connect_timeout": 2.0,
        "socket_keepalive": True,
        "max_retries": 0,  # whoever publishes learns at once that the broker is away
        "priority_steps": [0],  # lanes are our priorities; four steps would be four times the keys
        "global_keyprefix": KEY_PREFIX,
    }
    if _on_redis
    else {"confirm_publish": True, "max_retries": 0}
)
broker_connection_retry_on_startup = True
# RabbitMQ ends a channel, for example, because the worker's connection before still holds the
# exclusive queue of `inspect`, or because a queue has other arguments. By default the process ends.
broker_channel_error_retry = True
# Seconds, on RabbitMQ. A node that stands still, or whose host vanished, leaves its connections
# open. A worker ends a connection that is silent for twice the time; Celery's default is 120.
broker_heartbeat = 5
broker_pool_limit = 10

# --- Messages
task_serializer = "json"
accept_content = ["json"]
task_ignore_result = True
result_expires = None  # no results, so no clean-up task of theirs in beat
task_publish_retry = False  # what could not be published is still due in Postgres

# --- Tasks
task_acks_late = True
task_reject_on_worker_lost = True
worker_prefetch_multiplier = 1
worker_cancel_long_running_tasks_on_connection_loss = False  # a lease decides, not a connection
worker_pool = "threads"  # of a worker without --pool; notifyproj.celery refuses each other pool
worker_consumer = "notifications.core.tasks.consumer:Consumer"  # outlives a restart of its broker
worker_enable_prefetch_count_reduction = False  # after a lost connection: slots bound the work
# SIGTERM is Celery's warm shutdown: what is in flight is answered and settled, nothing new begins
# (`notifications.core.stopping`), and countdowns held in memory are rows with a due_at.
worker_soft_shutdown_timeout = 0.0
worker_send_task_events = True  # Flower
task_send_sent_event = False
# Tasks of the process until Celery closes the database connection of one thread; without a number,
# each task opens a connection. Celery reads this name alone in capitals (`celery.fixups.django`).
CELERY_DB_REUSE_MAX = 10_000
worker_hijack_root_logger = False
worker_redirect_stdouts = False

# --- Beat: the periodic tasks are rows, which `migrate` creates and operators change in the admin
beat_scheduler = "notifyproj.beat:Scheduler"  # the database's, safe from a clock put back
beat_max_loop_interval = 1
timezone = "UTC"
enable_utc = True
