"""A sensitive value goes through every part of the product and is found at the provider alone.

The value is sent in every kind of request, with templates for every channel, to providers that take
it, refuse it, repeat it in their answers and do not answer. Then every place is searched: tables,
a dump, both Valkeys and all that was said to them, logs at DEBUG, pages, answers, processes.
"""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK
from notifyproj.devstack.servers.postgres import Postgres
from tests.brokers import valkey_only
from tests.scenarios import places
from tests.scenarios.world import WORKERS, World

pytestmark = valkey_only

MARK: Final = "Kanarienvogel7913"
_FLOWER_PASSWORD: Final = "opens-only-this-flower"
_CHANNELS: Final = ("push", "sms", "email", "in_app", "webhook", "chat")
_LOUD: Final = {"NOTIFY_LOG_LEVEL": "debug", "NOTIFY_WEBHOOK_ALLOW_PRIVATE": "yes"} | {
    "NOTIFY_ROUTES": "push=sandbox,sms=sandbox,email=sandbox,webhook=webhook,chat=sandbox",
    "NOTIFY_WEBHOOK_SECRETS": "whsec_dGVzdHMtc2lnbi10aGVpci1yZWNlaXB0cy13aXRoLXRoaXM=",
}


class _Echo(http.server.BaseHTTPRequestHandler):
    """Refuse each request with an answer that repeats the body."""

    got: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append(body)
        body = json.loads(body)["data"]["body"].encode()
        self.send_response(410 if "gone" in self.path else 500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Say nothing."""


@pytest.fixture
def echo() -> Iterator[tuple[str, list[bytes]]]:
    """The server's URL, and the bodies of the requests."""
    _Echo.got.clear()
    with http.server.ThreadingHTTPServer((LOOPBACK, 0), _Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{LOOPBACK}:{server.server_port}", _Echo.got
        server.shutdown()


def _tell_all(server: Postgres, *, on: bool) -> None:
    """Log each statement of Postgres with its parameters, or stop logging."""
    with psycopg.connect(server.url, autocommit=True) as link:
        for name, value in (("log_statement", "all"), ("log_min_duration_statement", "0")):
            change = f"SET {name} = '{value}'" if on else f"RESET {name}"
            link.execute(f"ALTER SYSTEM {change}".encode())
        link.execute("SELECT pg_reload_conf()")


@pytest.fixture
def listeners(loud: World) -> Iterator[dict[str, places.Listener]]:
    """The commands to both Valkeys."""
    servers = {"state": loud.stack.state, "broker": loud.stack.valkey_broker}
    made = {name: places.Listener(server) for name, server in servers.items()}
    yield made
    for each in made.values():
        each.said()


@pytest.fixture
def loud(_world: World) -> Iterator[World]:
    """The product with the most verbose logs, and Flower."""
    flower = _world.process("flower", NOTIFY_FLOWER_PASSWORD=_FLOWER_PASSWORD)
    _tell_all(_world.stack.postgres, on=True)
    flower.start()
    _world.repair("web", *WORKERS, "beat", **_LOUD)
    flower.wait_ready()
    yield _world
    flower.kill()
    _tell_all(_world.stack.postgres, on=False)


class _Asking:
    """Sends requests as one producer and keeps every answer, refused ones included."""

    def __init__(self, world: World) -> None:
        self.answers: dict[str, bytes] = {}
        self._client = httpx.Client(base_url=world.url, timeout=30)
        self._world = world

    def close(self) -> None:
        self._client.close()

    def ask(self, who: str, method: str, path: str, body: object = None, **headers: str) -> Any:  # noqa: ANN401 - JSON
        sent = {**self._world.service(who).headers, **headers, "Content-Type": "application/json"}
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self._client.request(method, path, content=raw, headers=sent)
        said = f"{answer.status_code} {answer.headers} ".encode() + answer.content
        self.answers[f"answer {len(self.answers)} to {method} {path}"] = said
        return answer.json() if answer.content else None

    def preview(self, template: str) -> str:
        """Return the text of a preview; the answer repeats its value and is not kept."""
        sent = self._world.service("operator").headers
        asked = {"channel": "email", "variables": {"code": MARK}}
        answer = self._client.post(f"/v1/templates/{template}/preview", json=asked, headers=sent)
        return answer.text

    def notify(self, body: Mapping[str, object], **headers: str) -> Any:  # noqa: ANN401 - JSON
        return self.ask("auth-service", "POST", "/v1/notifications", body, **headers)


@pytest.fixture
def asking(loud: World) -> Iterator[_Asking]:
    with closing(_Asking(loud)) as it:
        yield it


def _template(asking: _Asking) -> str:
    """Publish a template with a secret for every channel; returns its name."""
    name = f"canary_{uuid4().hex[:8]}"
    body = "{{ code }}{% if labels is defined %}{{ labels[code] }}{% endif %}"
    secret = {"title": "{{ code }}", "body": body}
    texts = [{"channel": channel, **secret} for channel in _CHANNELS]
    texts[_CHANNELS.index("sms")].pop("title")
    texts[_CHANNELS.index("email")]["html"] = "<p>{{ code }}</p>"
    # An inbox keeps its messages, so no secret may be in their text.
    texts[_CHANNELS.index("in_app")] |= {"title": "A code", "body": "A code is on its way."}
    declared = [
        {"name": "code", "type": "string", "example": "482913"},
        {"name": "labels", "type": "object", "required": False},
    ]
    asked = {"template_id": name, "texts": texts, "variables": declared}
    asking.ask("operator", "POST", "/v1/templates", asked | {"sensitive_variables": ["code"]})
    made = asking.ask("operator", "POST", f"/v1/templates/{name}/publish", {"version": 1})
    assert made.get("state") == "published", made
    return name


def _refused(asking: _Asking, body: dict[str, Any]) -> None:
    """Requests that are no notifications, for every reason; the answers are searched later."""
    code = {"code": MARK}
    for wrong in (
        {"template_id": "nowhere"},
        {"user_id": "nobody"},
        {"variables": MARK},
        {"variables": {"code": [MARK]}},
        {"variables": {**code, "no name": MARK, "labels": MARK}},
        {"variables": {"code": MARK + "\0"}},
        {"variables": {"code": MARK * 5000}},
        {"variables": {"code": MARK * 50}, "channels": ["sms"]},
        {"content": {"body": MARK}},
        {"priority": "P9"},
        {"channels": ["pigeon"]},
        {"idempotency_key": 5},
        {"variabels": code},
        {"scheduled_at": "2300-01-01T00:00:00Z"},
        {"ttl_seconds": MARK},
    ):
        asking.notify(body | wrong)
    asking.ask("auth-service", "POST", "/v1/notifications", json.dumps(body).encode()[:-1])
    asking.ask(
        "auth-service", "POST", "/v1/notifications", b'{"a": NaN, "b": "%b"}' % MARK.encode()
    )
    recurring = {"name": uuid4().hex, "rrule": "FREQ=DAILY", "notification": body}
    asking.ask("auth-service", "POST", "/v1/schedules", recurring)


def _failed(world: World, asking: _Asking, body: Mapping[str, object]) -> None:
    """Make the web process fail with the value in its hands: a table has gone."""
    world.rows("ALTER TABLE notifications_recipient RENAME TO recipients_away")
    try:
        asking.notify(body)
    finally:
        world.rows("ALTER TABLE recipients_away RENAME TO notifications_recipient")
    *_, last = asking.answers.values()
    assert last.startswith(b"500 "), last


def _repeated(asking: _Asking, body: dict[str, Any]) -> list[UUID]:
    """Repeat a key with the same and with another body; post a batch with keys."""
    once = {"Idempotency-Key": uuid4().hex}
    first, again = asking.notify(body, **once), asking.notify(body, **once)
    assert first == again
    asking.notify(body | {"variables": {"code": f"{MARK}2"}}, **once)
    items = [body | {"idempotency_key": uuid4().hex}, body | {"user_id": "nobody"}, {}, body]
    batch = {"notifications": [*items, body | {"variables": {"code": 5}}]}
    whole = {"Idempotency-Key": uuid4().hex}
    told, repeated = (
        asking.ask("auth-service", "POST", "/v1/notifications/batch", batch, **whole)
        for _ in range(2)
    )
    assert repeated == told or repeated["results"][0]["result"] == "duplicate"
    taken = [each["notification"] for each in told["results"] if "notification" in each]
    assert len(taken) == 2
    return [UUID(each["notification_id"]) for each in (first, *taken)]


@dataclass(frozen=True)
class _Sent:
    """The notifications of the marked value, by what becomes of them."""

    arriving: list[UUID]
    failing: list[UUID]
    waiting: list[UUID]
    in_app: UUID

    @property
    def all(self) -> list[UUID]:
        return [*self.arriving, *self.failing, *self.waiting, self.in_app]


def _sent(world: World, asking: _Asking, echo_url: str, template: str) -> _Sent:
    """Send the value to providers that accept, refuse, repeat and hang."""
    body = {"type": "OTP", "template_id": template, "variables": {"code": MARK}}

    def to(channel: str, address: str, **fields: object) -> dict[str, Any]:
        is_local = address.startswith("http:")
        user_id = world.person(**{channel: "https://hooks.example/" if is_local else address})
        if is_local:  # the API takes no address of this machine
            world.rows(
                "UPDATE notifications_contact SET address = %s WHERE recipient_id ="
                " (SELECT id FROM notifications_recipient WHERE user_id = %s)",
                *(address, user_id),
            )
        return body | {"user_id": user_id, "channels": [channel], **fields}

    def accepted(channel: str, address: str, **fields: object) -> UUID:
        return UUID(asking.notify(to(channel, address, **fields))["notification_id"])

    good = to("email", "x@sandbox.example")
    sent = _Sent(
        arriving=[
            *_repeated(asking, good),
            *(accepted("push", "token"), accepted("sms", "+15552000031"), accepted("chat", "x")),
            *(accepted("email", f"x+{word}@sandbox.example") for word in ("503x1", "crashx1")),
        ],
        failing=[
            accepted("webhook", f"{echo_url}/gone", ttl_seconds=600),
            accepted("email", "x+400@sandbox.example"),
            accepted("email", "y@sandbox.example", variables={"code": MARK, "labels": {"a": "b"}}),
        ],
        waiting=[
            accepted("webhook", f"{echo_url}/broken", ttl_seconds=600),
            accepted("email", "x+receipt-never@sandbox.example"),
            accepted("email", "x@sandbox.example", send_at_local="23:59", ttl_seconds=60),
        ],
        in_app=accepted("in_app", "x"),
    )
    asking.ask("auth-service", "POST", f"/v1/notifications/{sent.waiting[2]}/cancel")
    _refused(asking, good)
    _failed(world, asking, good)
    return sent


def test_a_sensitive_value_is_found_at_the_provider_alone(
    loud: World,
    asking: _Asking,
    echo: tuple[str, list[bytes]],
    listeners: dict[str, places.Listener],
    record_testsuite_property: Callable[..., None],
) -> None:
    world, (echo_url, echoed) = loud, echo
    template = _template(asking)
    assert MARK in asking.preview(template)
    sent = _sent(world, asking, echo_url, template)
    world.in_status(Status.FAILED, sent.failing)
    world.in_status(Status.SENT, [sent.in_app])
    until(lambda: len(echoed) >= 2, what="the endpoint got both webhooks")
    until(lambda: len(world.got(sent.arriving)) == len(sent.arriving), what="the provider has them")
    _operate(asking, sent.failing)

    found = _everything(world, asking, sent.all)
    found |= {f"said to {name}": each.said() for name, each in listeners.items()}
    # The search finds what is there: the value at the provider, another text where texts are kept.
    assert places.holding(MARK, {"echo": b" ".join(echoed)})
    assert places.holding(MARK, {"sandbox": json.dumps(world.sandbox.messages()).encode()})
    assert places.holding(template, found)
    held = places.holding(MARK, found)
    record_testsuite_property("canary", f"{len(found)} places looked at, found {len(held)}")
    assert len(found) > 300
    assert held == []


def _operate(asking: _Asking, failing: list[UUID]) -> None:
    """What an operator does with what failed."""
    letters = asking.ask("operator", "GET", "/v1/dead-letters?limit=100")["results"]
    ids = [each["id"] for each in letters][:20]
    assert ids
    asking.ask("operator", "POST", "/v1/dead-letters/replay", {"ids": ids, "force": True})
    for each in failing:
        asking.ask("auth-service", "GET", f"/v1/notifications/{each}")


def _everything(world: World, asking: _Asking, sent: list[UUID]) -> dict[str, bytes]:
    for each in sent:
        asking.ask("auth-service", "GET", f"/v1/notifications/{each}")
    for path in ("/v1/notifications?limit=100", "/v1/schedules"):
        asking.ask("auth-service", "GET", path)
    with httpx.Client(timeout=30) as client:
        read = [f"{world.url}/metrics", f"{world.url}/readyz"]
        flower = f"http://{LOOPBACK}:{world.ports.flower}"
        read += [f"{flower}{path}" for path in ("/api/tasks?limit=10000", "/tasks", "/metrics")]
        client.auth = httpx.BasicAuth("operator", _FLOWER_PASSWORD)
        pages = {f"page {url}": client.get(url).content for url in read}
        tasks = json.loads(pages[f"page {flower}/api/tasks?limit=10000"])
        for task in list(tasks)[-20:]:
            pages[f"Flower {task}"] = client.get(f"{flower}/task/{task}").content
    postgres = world.stack.postgres
    return {
        **asking.answers,
        **pages,
        **dict(places.in_admin(world, password=world.environ["DEMO_ADMIN_PASSWORD"])),
        **dict(places.in_database(postgres)),
        **dict(places.in_valkey(world.stack.state, name="state")),
        **dict(places.in_valkey(world.stack.valkey_broker, name="broker")),
        **dict(places.in_files(world.var)),
        f"log {postgres.log}": postgres.log.read_bytes(),
        **dict(places.in_processes(world)),
    }
