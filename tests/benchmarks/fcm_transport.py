"""[fcm_transport] Handing pushes to FCM: our adapter against firebase-admin's `send_each`.

Both send the same messages to one nginx over TLS: ours on HTTP/2, firebase-admin as it comes
(HTTP/1.1, 500 threads, a pool of 100 connections). Messages are built beforehand on both sides;
only ours fetches an access token. A message's cost is the CPU time of this process, all threads
included.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Final
from uuid import UUID

import firebase_admin
import google.oauth2.credentials
import requests
from firebase_admin import messaging

from providers.contract import Accepted, Channel, Message
from providers.push.fcm import Config, Fcm
from providers.push.fcm_token import ServiceAccount
from providers.transport import Transport
from tests.benchmarks import costs
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.google import PROJECT
from tests.benchmarks.sink import Sink
from tests.benchmarks.stage import Stage

_BATCH: Final = 500
"""What `send_each` takes at most."""
_OURS: Final = 20
_THEIRS: Final = 2
"""Batches of a measurement: about a second each."""
_POOL: Final = 100
"""Connections that firebase-admin keeps to FCM's own host; to another it would keep ten."""
_PATIENCE: Final = timedelta(seconds=30)
_TARGET: Final = 10.0
"""Times the messages a second, and at most one part in so many of the CPU time."""


def measure(stage: Stage) -> Figure:
    """Measure it."""
    google = stage.google
    with (
        stage.standing_still(),
        _trusting(google.certificate),
        closing(Transport()) as transport,
        _firebase(google.sink.url) as send_each,
    ):
        sink, account = google.sink, ServiceAccount.parse(google.service_account())
        provider, batch = (
            Fcm(Config(credentials=account, url=sink.url), transport=transport),
            _messages(),
        )
        ours = _Side(lambda: _send(provider, batch), batches=_OURS, sink=sink)
        theirs = _Side(send_each, batches=_THEIRS, sink=sink)
        ours.rate()
        theirs.rate()
        for side in (ours, theirs):
            side.forget()
        found = paired(ours=ours.rate, theirs=theirs.rate)
    cheaper = median(
        their / our for our, their in zip(ours.cpu_seconds, theirs.cpu_seconds, strict=True)
    )
    return Figure(
        name="fcm_transport",
        value=found.ours,
        unit="pushes/s",
        baseline=f"pushes/s (firebase-admin {firebase_admin.__version__} send_each)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_TARGET:.0f}x, CPU <= 1/{_TARGET:.0f}",
        met=found.ratio >= _TARGET and cheaper >= _TARGET,
        notes=(
            f"CPU of firebase-admin / ours: {cheaper:.1f}",
            f"ours: {ours.told()}",
            f"firebase-admin: {theirs.told()}",
        ),
    )


class _Side:
    """One of the two that are compared: its rate, its CPU time and the sink's."""

    def __init__(self, send: Callable[[], None], *, batches: int, sink: Sink) -> None:
        self._send = send
        self._batches = batches
        self._sink = sink
        self.forget()

    def forget(self) -> None:
        """Drop what was measured: it was to warm up."""
        self.cpu_seconds: list[float] = []
        """Of one message, for each measurement."""
        self._sinks = costs.Meter()

    def rate(self) -> float:
        """Send all batches; gives messages a second."""
        count = self._batches * _BATCH
        sink = {"sink": self._sink.pid} if self._sink.pid else {}
        with costs.measured(sink, into=self._sinks):
            began, spent = time.perf_counter(), time.process_time()
            for _ in range(self._batches):
                self._send()
            took, spent = time.perf_counter() - began, time.process_time() - spent
        self.cpu_seconds.append(spent / count)
        return count / took

    def told(self) -> str:
        """As text: what a message costs."""
        count = len(self.cpu_seconds) * self._batches * _BATCH
        sink = sum(self._sinks.seconds.values()) / count
        return f"{median(self.cpu_seconds) * 1e6:.0f} us of CPU each; the sink {sink * 1e6:.0f} us"


def _send(provider: Fcm, batch: Sequence[Message]) -> None:
    for result in provider.send(batch, deadline=_PATIENCE):
        assert isinstance(result.outcome, Accepted), result.outcome


def _messages() -> list[Message]:
    return [
        Message(
            delivery_id=UUID(int=number),
            notification_id=UUID(int=number),
            idempotency_key=str(number),
            channel=Channel.PUSH,
            address=f"{number:0>22}",
            address_kind="fcm_fid",
            title="Order ready",
            body="Your order is ready to be picked up at the counter.",
            urgent=True,
            data={"type": "ORDER_READY"},
        )
        for number in range(_BATCH)
    ]


@contextmanager
def _firebase(url: str) -> Iterator[Callable[[], None]]:
    """Point firebase-admin at the sink; yields what sends one batch."""
    credential = google.oauth2.credentials.Credentials("bench")
    app = firebase_admin.initialize_app(credential, {"projectId": PROJECT}, "bench")
    try:
        service = messaging._get_messaging_service(app)
        service._fcm_url = service._fcm_url.replace("https://fcm.googleapis.com", url)
        session: requests.Session = service._client.session
        adapter = requests.adapters.HTTPAdapter(pool_connections=_POOL, pool_maxsize=_POOL)
        session.mount(url, adapter)
        batch = [_in_firebase_words(message) for message in _messages()]
        yield lambda: _send_each(batch, app)
    finally:
        firebase_admin.delete_app(app)


def _send_each(batch: Sequence[messaging.Message], app: firebase_admin.App) -> None:
    answer = messaging.send_each(list(batch), app=app)
    assert answer.failure_count == 0, answer.responses[0].exception


def _in_firebase_words(message: Message) -> messaging.Message:
    tag, seconds = str(message.notification_id), int(message.time_to_live.total_seconds())
    return messaging.Message(
        fid=message.address,
        data={**message.data, "notification_id": tag},
        notification=messaging.Notification(title=message.title, body=message.body),
        android=messaging.AndroidConfig(
            priority="high", ttl=seconds, notification=messaging.AndroidNotification(tag=tag)
        ),
        apns=messaging.APNSConfig(headers={"apns-collapse-id": tag, "apns-priority": "10"}),
        webpush=messaging.WebpushConfig(headers={"TTL": str(seconds), "Urgency": "high"}),
    )


@contextmanager
def _trusting(certificate: Path) -> Iterator[None]:
    """Have libcurl and `requests` trust it, and nobody else, in sessions that start now."""
    names = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
    before = {name: os.environ[name] for name in names if name in os.environ}
    os.environ.update(dict.fromkeys(names, str(certificate)))
    try:
        yield
    finally:
        for name in names:
            del os.environ[name]
        os.environ.update(before)
