"""The service worker of `docs/client-receipts.md` reports to the service, over real HTTP."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

import orjson
import pytest
from pytest_django.live_server_helper import LiveServer

from notifications.core.models import Contact, Delivery, Event, Producer, Recipient
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.scopes import Scope
from notifications.core.rules.states import Status
from notifications.core.store.postgres import api_keys
from tests.store.stored_rows import MakeDelivery

_ROOT: Final = Path(__file__).resolve().parents[2]
_PAGE: Final = _ROOT / "docs" / "client-receipts.md"
_SCOPE: Final = Path(__file__).with_name("service_worker.mjs")
_NODE: Final = shutil.which("node")

NOTIFICATION: Final = "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1000"

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(_NODE is None, reason="node is missing: apt-get install nodejs"),
]
Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def backend(live_server: LiveServer, make_delivery: MakeDelivery) -> Iterator[str]:
    """The site's backend: asks the service for a token of the person who is signed in."""
    del make_delivery  # its recipient, maria, comes first
    producer = Producer.objects.create(name="site")
    _, key = api_keys.issue(producer, mode=Mode.LIVE, scopes=[Scope.RECIPIENTS_WRITE])

    class Backend(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/notifications/client-token"
            asked = Request(  # noqa: S310 - loopback
                f"{live_server.url}/v1/recipients/maria/client-tokens",
                data=b"{}",
                headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            )
            with urlopen(asked) as answer:  # noqa: S310 - loopback
                body = answer.read()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Backend) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def run(live_server: LiveServer, backend: str, tmp_path: Path) -> Run:
    """Give events to the worker; returns the notifications that the worker showed."""
    [code] = re.findall(r"^```javascript\n(.*?)^```$", _PAGE.read_text(), re.DOTALL | re.MULTILINE)
    worker = tmp_path / "worker.js"
    worker.write_text(code)

    def events(delivery_id: object, *names: str) -> list[dict[str, Any]]:
        payload = {
            "notification_id": NOTIFICATION,
            "delivery_id": str(delivery_id),
            "title": "Hi",
            "body": "x",
            "tag": "t",
            "data": {},
        }
        command = [_NODE or "", str(_SCOPE), str(worker), live_server.url, backend]
        done = subprocess.run(
            [*command, orjson.dumps(payload).decode(), *names],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        shown: list[dict[str, Any]] = orjson.loads(done.stdout)
        return shown

    return events


@pytest.mark.parametrize(
    ("events", "reasons"),
    [
        (["push"], ["client_received"]),
        (["push", "notificationclose"], ["client_received"]),
        (["push", "notificationclick"], ["client_received", "client_opened"]),
        (["push", "notificationclick:track"], ["client_received", "client_clicked"]),
    ],
)
def test_the_service_worker_of_the_page_reports_what_happens(
    make_delivery: MakeDelivery, run: Run, events: list[str], reasons: list[str]
) -> None:
    delivery_id = make_delivery(Status.SENT, attempts=1, provider="web_push")
    [shown] = run(delivery_id, *events)
    carried = {"notification_id": NOTIFICATION, "delivery_id": str(delivery_id)}
    assert (shown["title"], shown["data"]) == ("Hi", carried)
    told = Event.objects.filter(notification_id=ids.notification_of(delivery_id))
    found = told.filter(reason__startswith="client_").order_by("seq")
    assert [each.reason for each in found] == reasons
    assert all(each.occurred_at is not None for each in found)
    row = Delivery.objects.get(pk=delivery_id)
    assert row.status == (Status.DELIVERED if len(reasons) == 1 else Status.READ)
    assert Contact.objects.get(pk=row.contact_id or 0).client_receipt_at is not None
    assert Recipient.objects.get().user_id == "maria"


def test_the_service_worker_removes_a_withdrawn_message_and_keeps_a_later_one(
    make_delivery: MakeDelivery, run: Run
) -> None:
    delivery_id = make_delivery(Status.SENT, attempts=1, provider="web_push")
    for repeats in (1, 2):
        [removed] = run(delivery_id, "push", *["withdraw"] * repeats)
        assert removed["closed"]
    [kept] = run(delivery_id, "push", "withdraw:0198f2a4-6b00-7c3e-9d21-5f0c8e7a9999")
    assert (kept["closed"], kept["data"]["notification_id"]) == (False, NOTIFICATION)
