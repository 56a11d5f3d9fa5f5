"""A peer: a Celery task for each message, with Django's ORM and `requests`, as teams write it.

    python -m tests.benchmarks.naive COUNT    creates COUNT messages with their tasks, waits until
                                              all are sent, and prints the seconds
    celery -A tests.benchmarks.naive worker   sends them

A message is a row and a task, committed one by one. The task reads the row, renders the text, posts
it to the provider, and stores the result; it is retried after an error, and acknowledged late. It
has no idempotency keys, preferences, quiet hours, caps or fallbacks, and a killed worker's messages
are sent twice.
BENCH_DATABASE, BENCH_BROKER and BENCH_SINK have the addresses.
"""

from __future__ import annotations

import os
import sys
import time
from threading import Event
from typing import Any, ClassVar, Final

import django
import requests
from celery import Celery
from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.template import Context, Engine

from tests.benchmarks.peer_database import databases

_TEXT: Final = "Hello {{ name }}, your order {{ order_id }} is on its way."
_POLL_SECONDS: Final = 0.02
_ENGINE: Final = Engine()

settings.configure(
    DATABASES=databases(CONN_MAX_AGE=60),
    USE_TZ=True,
)
django.setup()

app = Celery("naive", broker=os.environ["BENCH_BROKER"])
app.conf.task_default_queue = "naive"


class QueuedMail(models.Model):
    """A message, in the table that `peers` makes."""

    address = models.TextField()
    variables = models.JSONField()
    status = models.CharField(max_length=10, default="queued", db_index=True)
    created_at = models.DateTimeField(default=Now())
    sent_at = models.DateTimeField(null=True)
    objects: ClassVar[models.Manager[QueuedMail]] = models.Manager()

    class Meta:
        app_label = "naive"
        db_table = "bench_naive"

    def __str__(self) -> str:
        return f"{self.pk} {self.status}"


@app.task(  # type: ignore[untyped-decorator] # Celery has no types
    name="naive.send",
    bind=True,
    acks_late=True,
    autoretry_for=(requests.RequestException,),
    retry_backoff=True,
)
def send(_task: Any, message_id: int) -> None:  # noqa: ANN401 - Celery has no types
    """Send a message."""
    message = QueuedMail.objects.get(pk=message_id)
    text = _ENGINE.from_string(_TEXT).render(Context(message.variables))
    body = {"to": message.address, "subject": "Your order", "text": text}
    reply = requests.post(os.environ["BENCH_SINK"], json=body, timeout=10)
    reply.raise_for_status()
    message.status, message.sent_at = "sent", Now()
    message.save(update_fields=["status", "sent_at"])


def main(count: int) -> float:
    """Create and send so many messages; returns the seconds."""
    pause = Event()
    began = time.perf_counter()
    for number in range(count):
        variables = {"name": f"Ada {number}", "order_id": f"ORD-{number}"}
        message = QueuedMail.objects.create(
            address=f"person-{number}@mailbox.example", variables=variables
        )
        send.delay(message.pk)
    while QueuedMail.objects.filter(status="queued").exists():
        pause.wait(_POLL_SECONDS)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.stdout.write(f"{main(int(sys.argv[1]))}\n")
