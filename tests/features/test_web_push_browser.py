"""`notify-sw.js` and `notify-push.js` in a real browser, on a site of its own, with the API."""

from __future__ import annotations

import contextlib
import datetime as dt
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from pytest_django.live_server_helper import LiveServer
from selenium.common.exceptions import TimeoutException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.models import Contact, Delivery, Event, Producer, Recipient
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.states import Status
from notifications.core.store.postgres import api_keys
from notifications.core.store.recipient_tokens import cors, revocations
from notifications.core.store.redis import state
from notifications.features.recipient_tokens import minting
from providers.contract import Channel, Message
from providers.push import web_push
from tests.admin.chromium import FLAGS
from tests.browser_wait import wait_until
from tests.features import web_push_site
from tests.providers.push.browser import base64url
from tests.store.stored_rows import MakeDelivery

_CHROMIUM: Final = shutil.which("chromium")
_CHROMEDRIVER: Final = shutil.which("chromedriver")
_WAIT_SECONDS: Final = 60
_TRIES: Final = 3
_FIRST_REGISTRATION: Final = "0"
"""The id that Chromium gives to the first service worker of a profile."""

pytestmark = [
    pytest.mark.skipif(
        not (_CHROMIUM and _CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


class Visitor:
    """A browser on the site."""

    def __init__(self, chrome: Chrome, site: str) -> None:
        self._chrome = chrome
        self.site = site

    def visit(self) -> None:
        self._chrome.get(self.site)

    def permit(self) -> None:
        granted = {"origin": self.site, "permissions": ["notifications"]}
        self._chrome.execute_cdp_cmd("Browser.grantPermissions", granted)

    def click(self) -> None:
        self._chrome.find_element("tag name", "button").click()

    def text(self) -> str:
        return self._chrome.find_element("tag name", "p").text

    def wait(self, condition: Callable[[], object], *, seconds: float = _WAIT_SECONDS) -> None:
        wait_until(self._chrome, condition, seconds=seconds)

    def run(self, expression: str) -> Any:  # noqa: ANN401 - JSON
        """Evaluate an expression of the page, and wait for the promise."""
        done = "(a) => done(a), (e) => done({code: e.code ?? String(e)})"
        return self._chrome.execute_async_script(
            f"const done = arguments[0]; Promise.resolve({expression}).then({done})"
        )

    def ask(self, **message: object) -> dict[str, Any]:
        """Ask the worker for shown notifications and opened URLs."""
        told: dict[str, Any] = self.run(f"ask({orjson.dumps(message).decode()})")
        return told

    def shown(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask()["shown"]
        return found

    def push(self, **payload: object) -> None:
        """Deliver a push, as the push service of the vendor does; returns when it is handled.

        A busy Chromium loses a push of the protocol now and then, before the worker. A look at the
        shown notifications makes it forget one that is being shown.
        """
        self._chrome.execute_cdp_cmd("ServiceWorker.enable", {})
        delivered = {
            "origin": self.site,
            "registrationId": _FIRST_REGISTRATION,
            "data": orjson.dumps(payload).decode(),
        }
        before = self._handled()
        for _ in range(_TRIES):
            self._chrome.execute_cdp_cmd("ServiceWorker.deliverPushMessage", delivered)
            with contextlib.suppress(TimeoutException):
                self.wait(lambda: self._handled() > before, seconds=_WAIT_SECONDS / _TRIES)
                return
        raise AssertionError("The service worker got no push.")

    def _handled(self) -> int:
        pushes: int = self.ask(count=True)["pushes"]
        return pushes

    def errors(self) -> list[str]:
        lines = self._chrome.get_log("browser")  # type: ignore[no-untyped-call]  # selenium's own
        return [f"{line['level']} {line['message']}" for line in lines]


class SignedInUser:
    """The user who is signed in at the site of the producer."""

    def __init__(self) -> None:
        self.user_id = "maria"
        producer = Producer.objects.create(name="site", allowed_origins=["*"])
        key, _ = api_keys.issue(producer, mode=Mode.LIVE, scopes=["recipients:*", "contacts:*"])
        self._key = api_keys.of_prefix(key.prefix)

    def token(self) -> str:
        """Return a token; called by a thread of the site, which has no database connection."""
        assert self._key is not None
        return minting.mint(
            self.user_id,
            key=self._key,
            scopes=[TokenScope.CONTACTS_WRITE, TokenScope.RECEIPTS_WRITE],
            lifetime=dt.timedelta(hours=1),
            now=clock.now(),
        ).text


@pytest.fixture
def vapid(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Web push with a VAPID key; a call gives the service another key."""

    def rotate() -> None:
        number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
        monkeypatch.setenv("NOTIFY_WEB_PUSH_PRIVATE_KEY", base64url(number.to_bytes(32, "big")))
        routing.forget()

    monkeypatch.setenv("NOTIFY_WEB_PUSH_SUBJECT", "mailto:push@shop.example")
    rotate()
    yield rotate
    monkeypatch.undo()
    routing.forget()


@pytest.fixture
def site(make_delivery: MakeDelivery) -> SignedInUser:
    del make_delivery  # its recipient, maria, comes first
    state.client().flushdb()  # the rate limit of contact changes
    revocations.forget()
    for user_id in ("maria", "ana"):
        recipient, _ = Recipient.objects.get_or_create(mode=Mode.LIVE, user_id=user_id)
        hour_ago = clock.now() - dt.timedelta(hours=1)
        Recipient.objects.filter(pk=recipient.pk).update(created_at=hour_ago)
    signed_in = SignedInUser()
    cors.forget()
    return signed_in


@pytest.fixture
def visitor(live_server: LiveServer, site: SignedInUser, tmp_path: Path) -> Iterator[Visitor]:
    options = ChromeOptions()
    options.binary_location = str(_CHROMIUM)
    for flag in (*FLAGS, f"user-data-dir={tmp_path}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options=options, service=ChromeService(_CHROMEDRIVER))
    chrome.set_script_timeout(_WAIT_SECONDS)
    try:
        with web_push_site.serve(live_server.url, site.token) as origin:
            visitor = Visitor(chrome, origin)
            visitor.visit()
            yield visitor
    finally:
        chrome.quit()


def _payload(number: int = 1, **more: object) -> dict[str, object]:
    """Return the payload of `providers.push.web_push`."""
    return {
        "notification_id": f"n{number}",
        "delivery_id": f"d{number}",
        "title": f"Order {number}",
        "body": "is ready",
        "tag": f"order-{number}",
        "data": {"type": "ORDER_READY", **more},
    }


@pytest.fixture
def worker(visitor: Visitor) -> Visitor:
    """The browser with a started worker, without a subscription."""
    visitor.permit()
    assert visitor.run("navigator.serviceWorker.register('/notify-sw.js').then(() => 1)") == 1
    assert visitor.shown() == []
    return visitor


def _titles(visitor: Visitor) -> list[str]:
    return sorted(each["title"] for each in visitor.shown())


def test_a_push_is_shown_once_and_disappears_with_its_withdrawal(worker: Visitor) -> None:
    worker.push(**_payload(1))
    worker.wait(lambda: _titles(worker) == ["Order 1"])
    worker.push(**_payload(2))
    worker.wait(lambda: _titles(worker) == ["Order 1", "Order 2"])
    [first, _] = sorted(worker.shown(), key=lambda each: str(each["title"]))
    assert (first["body"], first["tag"], first["dir"]) == ("is ready", "order-1", "auto")
    ids = {"notification_id": "n1", "delivery_id": "d1"}
    worker.push(**ids, **{"notifications.withdraw": "order-1"})
    worker.wait(lambda: _titles(worker) == ["Order 2"])
    # A repeat of the withdrawn message, a push of somebody else, and then a third message.
    worker.push(**_payload(1))
    worker.push(hello="world")
    worker.push(**{**_payload(3), "tag": "order-2"})
    worker.wait(lambda: _titles(worker) == ["Order 3"])
    # The withdrawal of the second message leaves the third, which has the same tag.
    worker.push(notification_id="n2", delivery_id="d2", **{"notifications.withdraw": "order-2"})
    worker.push(**_payload(4))
    worker.wait(lambda: _titles(worker) == ["Order 3", "Order 4"])
    assert not worker.errors()


def test_the_worker_shows_no_message_again_among_the_last_200(worker: Visitor) -> None:
    for number in range(1, 202):
        worker.push(**{**_payload(number), "tag": "same"})
    worker.wait(lambda: _titles(worker) == ["Order 201"])
    worker.push(**_payload(2))
    worker.push(**_payload(1))  # the oldest, forgotten by now
    worker.wait(lambda: _titles(worker) == ["Order 1", "Order 201"])


def test_a_click_opens_the_url_of_the_message_or_of_the_button(worker: Visitor) -> None:
    button = '[{"id": "track", "label": "Track", "url": "/track"}]'
    clicks: list[tuple[dict[str, object], str, str]] = [
        ({"url": "/orders/1"}, "", f"{worker.site}/orders/1"),
        ({"url": "https://shop.example/x"}, "", "https://shop.example/x"),
        ({"url": "/orders/2", "actions": button}, "track", f"{worker.site}/track"),
        ({"url": "/orders/3", "actions": button}, "", f"{worker.site}/orders/3"),
        ({"url": "javascript:alert(1)"}, "", f"focus {worker.site}/"),  # the page is open
        ({}, "", f"focus {worker.site}/"),
    ]
    for number, (data, action, _) in enumerate(clicks):
        worker.push(**_payload(number, **data))
        worker.wait(worker.shown)
        assert worker.ask(happen=["notificationclick", action])["shown"] == []
    assert worker.ask()["opened"] == [opened for *_, opened in clicks]


def test_a_click_opens_the_url_of_a_message_in_the_form_of_the_adapter(worker: Visitor) -> None:
    message = Message(
        delivery_id=uuid4(),
        notification_id=uuid4(),
        idempotency_key="1",
        channel=Channel.PUSH,
        address="",
        title="Order 7",
        data={"type": "ORDER_READY", "url": "/orders/7"},
    )
    worker.push(**web_push.payload(message))
    worker.wait(worker.shown)
    worker.ask(happen=["notificationclick", ""])
    assert worker.ask()["opened"] == [f"{worker.site}/orders/7"]


def test_a_page_asks_for_the_permission_in_a_click_only(visitor: Visitor) -> None:
    assert visitor.run("push.state()") == "off"
    assert visitor.run("push.subscribe()") == {"code": "gesture"}


def _subscribe(visitor: Visitor) -> None:
    visitor.permit()
    visitor.click()
    visitor.wait(lambda: visitor.text() == "on")


def _addresses(user_id: str) -> list[str]:
    """The endpoints of a user's valid browsers."""
    valid = Contact.objects.filter(recipient__user_id=user_id, kind="web_push", invalidated_at=None)
    return [orjson.loads(each.address)["endpoint"] for each in valid.order_by("pk")]


@pytest.mark.usefixtures("vapid")
def test_a_click_registers_the_browser_whose_worker_sends_receipts(
    visitor: Visitor, make_delivery: MakeDelivery
) -> None:
    _subscribe(visitor)
    assert _addresses("maria") == [visitor.ask()["endpoint"]]
    delivery_id = make_delivery(Status.SENT, attempts=1, provider="web_push")
    Delivery.objects.filter(pk=delivery_id).update(contact_id=Contact.objects.latest("pk").pk)
    visitor.push(**{**_payload(), "delivery_id": str(delivery_id)})
    visitor.wait(visitor.shown)
    visitor.ask(happen=["notificationclick", ""])
    events = Event.objects.filter(notification_id=ids.notification_of(delivery_id))
    told = events.filter(reason__startswith="client_").order_by("seq")
    assert [each.reason for each in told] == ["client_received", "client_opened"]
    assert Delivery.objects.get(pk=delivery_id).status == Status.READ
    assert visitor.run("push.unsubscribe()") == "off"
    assert (_addresses("maria"), visitor.ask().get("endpoint")) == ([], None)


def test_the_subscription_follows_the_key_the_browser_and_the_user(
    visitor: Visitor, site: SignedInUser, vapid: Callable[[], None]
) -> None:
    _subscribe(visitor)
    [first] = _addresses("maria")
    assert visitor.run("push.refresh()") == "on"
    assert _addresses("maria") == [first]
    vapid()  # another key
    assert visitor.run("push.refresh()") == "on"
    [second] = _addresses("maria")
    visitor.ask(lose=True)  # the push service ended the subscription
    [third] = _addresses("maria")
    assert len({first, second, third}) == 3
    Contact.objects.filter(address__contains=third).update(
        invalidated_at=clock.now(), invalid_reason="gone"
    )
    assert visitor.run("push.refresh()") == "on"  # the push service gave the address up
    assert third not in _addresses("maria")
    visitor.push(**_payload())
    visitor.wait(visitor.shown)
    site.user_id = "ana"
    assert visitor.run("push.refresh()") == "off"
    assert (visitor.shown(), visitor.ask().get("endpoint")) == ([], None)
    assert visitor.run("push.subscribe()") == "on"
    assert len(_addresses("ana")) == 1


def test_without_a_vapid_key_the_page_learns_the_reason(visitor: Visitor) -> None:
    visitor.permit()
    visitor.click()
    visitor.wait(lambda: visitor.text() == "unconfigured")
