"""The short path of `POST /v1/notifications` and Django's path give and leave the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import pytest
from django.conf import settings as django_settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import OperationalError, connection
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from notifications.core import clock
from notifications.core.api import correlation
from notifications.core.api.examples import TEMPLATE
from notifications.core.api.notifications import create_notification
from notifications.core.api.request_slots import Slots
from notifications.core.api.short_path import Django, ShortPath
from notifications.core.intake import new_rows
from notifications.core.management import demo_data
from notifications.core.models import Notification, NotificationType, Producer
from notifications.core.rules.lane import Mode
from notifications.core.rules.scopes import Scope
from notifications.core.rules.templates import contents
from notifications.core.store.postgres import api_keys, host_clock
from notifications.core.store.rate_limits import producer_limits
from notifications.core.store.rate_limits.producer_limits import Charge
from notifications.core.store.templates import versions
from notifications.core.telemetry import traces
from providers.contract import Channel
from tests.api.conftest import Caller, new_caller
from tests.api.two_paths import SECONDS, TwoPaths, request, send

pytestmark = pytest.mark.django_db(transaction=True)

_UNKNOWN: Final = f"nk_live_{'a' * 8}_{'b' * 52}"
_TRACE: Final = f"00-{'5' * 32}-{'6' * 16}-01"
_USUAL: Final = {"user_id": "u_789012", "type": "ORDER_READY", "content": {"body": "Ready"}}
# A copy of the setting on purpose: a change of the setting fails the test.
_MIDDLEWARE: Final = (
    "notifications.core.api.correlation.Correlation",
    "notifications.core.api.cors.CrossOrigin",
    "notifications.core.api.body_limits.BodyLimits",
    "notifications.core.api.address_limits.AddressLimits",
    "django.middleware.security.SecurityMiddleware",
    "notifyproj.csp.ContentSecurityPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "notifyproj.pages.Compression",
    "notifyproj.pages.Sessions",
    "notifyproj.pages.HostCheck",
    "notifyproj.pages.Csrf",
    "notifyproj.pages.SignIn",
    "django_otp.middleware.OTPMiddleware",
    "notifyproj.sign_in.SecondFactor",
    "notifyproj.pages.Messages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
)


@dataclass
class PathWorld:
    """The two paths, and keys by name."""

    paths: TwoPaths
    secrets: dict[str, str]

    def recognise(self) -> None:
        """Cache all keys, as earlier requests of the second would have done."""
        for secret in self.secrets.values():
            api_keys.recognise(secret)

    def compare(self, *requests: dict[str, Any]) -> list[int]:
        return self.paths.compare(requests, before=self.recognise)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[PathWorld]:
    caller = new_caller("slow", rate_per_second=1, rate_burst=5_000)
    test = new_caller("slow", mode=Mode.TEST, rate_per_second=1, rate_burst=5_000)
    _add_people_and_texts(caller, test)
    narrow = new_caller("narrow", scopes=[Scope.NOTIFICATIONS_WRITE], may_send_content=False)
    reader = new_caller("reader", scopes=[Scope.NOTIFICATIONS_READ])
    off = new_caller("off")
    Producer.objects.filter(name="off").update(is_active=False)
    secrets = {
        "live": caller.secret,
        "test": test.secret,
        "narrow": narrow.secret,
        "reader": reader.secret,
        "off": off.secret,
        "unknown": _UNKNOWN,
    }
    paths = TwoPaths(tmp_path)
    yield PathWorld(paths, secrets)
    paths.close()


def _add_people_and_texts(*callers: Caller) -> None:
    for name, (priority, category) in demo_data.TYPES.items():
        NotificationType.objects.create(name=name, priority=priority, category=category)
    words = [
        contents.words(channel, "en", title="Ready", body="{{ order_id }} at {{ restaurant }}")
        for channel in (Channel.PUSH, Channel.SMS, Channel.EMAIL)
    ]
    versions.publish(versions.draft(TEMPLATE, contents.content(words), by="test"), by="test")
    for caller in callers:
        for person in demo_data.PEOPLE:
            contacts = [
                {"channel": channel.label, "kind": kind, "address": address}
                for channel, kind, address in person.contacts
            ]
            body = {"locale": person.locale, "timezone": person.timezone, "contacts": contacts}
            answer = caller.send("PUT", f"/v1/recipients/{person.user_id}", body)
            assert answer.status_code == 201, answer.content


def test_each_example_of_the_document_is_answered_alike(world: PathWorld) -> None:
    usual = request(world.secrets["live"], _USUAL)
    for name, shown in create_notification.examples.items():
        headers = {
            f"HTTP_{header.upper().replace('-', '_')}": value
            for header, value in shown.headers.items()
        }
        asked = request(world.secrets["live"], shown.body, **headers)
        assert world.compare(usual, asked, asked) == [202] * 3, name
    assert world.paths.short_answers > 2 * len(create_notification.examples)


_FIELDS: Final[dict[str, st.SearchStrategy[Any]]] = {
    "user_id": st.sampled_from(["u_789012", "u_ana", "nobody", "", 5, None, "a\0"]),
    "to": st.sampled_from([None, {"email": "ada@sandbox.example"}, {"email": 3}, {}]),
    "type": st.sampled_from(["ORDER_READY", "NEW", "PROMO", "two words", None]),
    "priority": st.sampled_from(["P0", "P1", "P2", "P3", "P9", 1, None]),
    "template_id": st.sampled_from(["order_ready_v3", "unknown", None]),
    "variables": st.sampled_from([
        {"restaurant": "Burger Palace", "order_id": "ORD-1"},
        {"restaurant": "é" * 10, "order_id": 1e300, "more": [[[[1]]]]},
        {"order_id": {"a": "\0"}},
        "no",
    ]),
    "content": st.sampled_from([{"body": "Hi"}, {"title": "T", "body": ""}, {"html": "x"}]),
    "channels": st.lists(st.sampled_from(["push", "sms", "email", "in_app", "fax"]), max_size=3),
    "delivery": st.sampled_from(["first", "all", "some"]),
    "fallback_chain": st.booleans(),
    "scheduled_at": st.sampled_from(["2020-01-01T00:00:00Z", "2199-01-01T00:00:00Z", "soon"]),
    "send_at_local": st.sampled_from(["09:00", "25:00"]),
    "ttl_seconds": st.sampled_from([60, 0, True, 10**9]),
    "collapse_key": st.sampled_from(["order-1", "x" * 300]),
    "ordering_key": st.sampled_from(["order-1", ""]),
    "idempotency_key": st.sampled_from(["k1", "k3", "$x", ""]),
    "metadata": st.sampled_from([{"order_id": "ORD-1"}, {"a": 1}, {"m": "y" * 5000}]),
    "webhook_url": st.sampled_from(["https://hooks.example/1", "http://127.0.0.1/"]),
    "unknown": st.just(1),
}


def _bodies() -> st.SearchStrategy[object]:
    good = st.fixed_dictionaries(
        {},
        optional={
            "priority": st.sampled_from(["P0", "P1", "P2", "P3"]),
            "channels": st.sampled_from([["email"], ["push", "sms"], []]),
            "idempotency_key": st.sampled_from(["k1", "k2", "k3"]),
            "metadata": st.just({"order_id": "ORD-1"}),
            "collapse_key": st.just("order-1"),
            "ordering_key": st.just("order-1"),
        },
    ).map(lambda changes: {**_USUAL, **changes})
    changed = st.fixed_dictionaries({}, optional=_FIELDS).map(lambda drawn: {**_USUAL, **drawn})
    one_change = st.sampled_from(sorted(_FIELDS)).flatmap(
        lambda name: _FIELDS[name].map(lambda value: {**_USUAL, name: value})
    )
    deep = b'{"variables":{"a":' + b"[" * 990 + b"]" * 990 + b"}}"
    raw = st.sampled_from([b"", b"{", b"null", b"[]", b"NaN", b'"\xff"', b"1e999", deep])
    return st.one_of(good, good, one_change, changed, raw)


_HEADS: Final[st.SearchStrategy[dict[str, str | None]]] = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {},
        optional={
            "HTTP_IDEMPOTENCY_KEY": st.sampled_from(["k1", "k2", "k1", "", "$x", "é", "k" * 256]),
            "HTTP_TRACEPARENT": st.sampled_from([_TRACE, "00-1-2-01", ""]),
            "HTTP_USER_AGENT": st.sampled_from(["curl", "python"]),
            "HTTP_X_FORWARDED_FOR": st.sampled_from(["198.51.100.1", "bad"]),
        },
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "HTTP_ACCEPT": st.sampled_from(["*/*", "application/json", "text/html", "image/png"]),
            "CONTENT_TYPE": st.sampled_from([
                *("application/json; charset=utf-8", "application/json", "text/plain", ""),
                *("multipart/form-data; boundary=x", "application/x-www-form-urlencoded"),
            ]),
            "HTTP_HOST": st.sampled_from(["testserver", "localhost", "evil.example", "a b", None]),
            "HTTP_X_FORWARDED_PROTO": st.sampled_from(["https", "http", "ftp"]),
            "HTTP_ORIGIN": st.just("https://shop.example"),
            "HTTP_COOKIE": st.just("sessionid=x; csrftoken=y"),
            "HTTP_IF_NONE_MATCH": st.just("*"),
            "QUERY_STRING": st.sampled_from(["a=1", "format=api"]),
            "REQUEST_METHOD": st.sampled_from(["PUT", "OPTIONS", "PATCH", "DELETE"]),
            "PATH_INFO": st.sampled_from(["/v1/notifications/", "/v1/notifications/batch"]),
            "CONTENT_LENGTH": st.sampled_from([None, "", "0", "5", "100000", "2000000", "-1"]),
            "HTTP_TRANSFER_ENCODING": st.just("chunked"),
        },
    ),
)
_KEYS: Final = st.sampled_from(["live"] * 6 + ["test", "narrow", "reader", "off", "unknown"])
_SCHEMES: Final = st.sampled_from(["Bearer "] * 12 + ["bearer ", "Bearer  ", "Token ", ""])
_REQUESTS: Final = st.lists(st.tuples(_KEYS, _SCHEMES, _bodies(), _HEADS), min_size=1, max_size=6)

_RARE_HEADS: Final[list[dict[str, str | None]]] = [
    {"REQUEST_METHOD": "PUT"},
    {"HTTP_ACCEPT": "image/png"},
    {"CONTENT_LENGTH": "2000000"},
    {"CONTENT_TYPE": "text/plain"},
]
"""Heads whose answers, 405, 406, 413 and 415, may not be drawn."""


def test_any_requests_are_answered_alike_and_leave_the_same(world: PathWorld) -> None:
    statuses: set[int] = set()
    sent = 0

    @settings(max_examples=400, suppress_health_check=list(HealthCheck))
    @example(drawn=[("live", "Bearer ", _USUAL, head) for head in _RARE_HEADS])
    @given(drawn=_REQUESTS)
    def compare(drawn: list[tuple[str, str, object, dict[str, str | None]]]) -> None:
        nonlocal sent
        requests = []
        for key, scheme, body, head in drawn:
            secret = world.secrets[key]
            asked = request(secret, body, HTTP_AUTHORIZATION=f"{scheme}{secret}")
            requests.append({k: v for k, v in {**asked, **head}.items() if v is not None})
        # A repeat of each: the short path has learned the shape, and the idempotency key is used.
        found = world.compare(*requests, *requests)
        statuses.update(found)
        sent += len(found)

    compare()
    assert sent >= 2_000
    assert statuses >= {202, 400, 401, 403, 405, 406, 413, 415, 422}
    assert world.paths.short_answers > sent // 10


def test_a_request_over_the_rate_limit_is_charged_once_and_refused(world: PathWorld) -> None:
    limit = {"rate_per_second": 1, "burst": 5_000}
    producer = Producer.objects.get(name="slow")

    def drain() -> None:
        world.recognise()
        producer_limits.take([Charge(producer_id=producer.pk, mode=Mode.LIVE, cost=9_000, **limit)])

    asked = request(world.secrets["live"], _USUAL)
    assert world.compare(asked) == [202]
    assert world.paths.compare([asked, asked], before=drain) == [429, 429]


def test_a_key_that_is_being_stored_is_refused_alike(world: PathWorld) -> None:
    asked = request(world.secrets["live"], _USUAL, HTTP_IDEMPOTENCY_KEY="locked")
    usual = request(world.secrets["live"], _USUAL)
    producer = Producer.objects.get(name="slow")
    assert world.compare(usual) == [202]
    link = connection.copy()

    def store_elsewhere() -> None:
        world.recognise()
        with link.cursor() as running:
            running.execute("ROLLBACK")
            running.execute("BEGIN")
            running.execute(
                "INSERT INTO idempotency_key VALUES (%s, %s, 'locked', %s, '{}', now() + '1 day')",
                [producer.pk, Mode.LIVE, b"x" * 16],
            )

    try:
        found = world.paths.compare([asked, usual], before=store_elsewhere)
    finally:
        link.close()
    assert found == [409, 202]


@pytest.mark.parametrize("is_stored", [False, True])
def test_a_database_that_goes_away_is_told_alike_and_nothing_is_stored_twice(
    world: PathWorld, monkeypatch: pytest.MonkeyPatch, *, is_stored: bool
) -> None:
    asked = request(world.secrets["live"], _USUAL)
    assert world.compare(asked) == [202]
    usual = new_rows._insert

    def insert(*arguments: Any, **options: Any) -> None:  # noqa: ANN401 - the product's own
        if is_stored:
            usual(*arguments, **options)
        connection.close()
        raise OperationalError("the connection broke before the answer came")

    monkeypatch.setattr(new_rows, "_insert", insert)
    assert world.compare(asked) == [503]
    assert Notification.objects.count() == is_stored


def test_a_host_with_a_wrong_clock_and_exported_spans_leave_the_request_to_django(
    world: PathWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = request(world.secrets["live"], _USUAL)
    assert world.compare(asked, asked) == [202, 202]
    before = world.paths.short_answers
    with monkeypatch.context() as wrong:
        wrong.setattr(clock, "is_trusted", lambda: False)
        wrong.setattr(host_clock, "confirmed_fault", lambda: "the clock is wrong")
        assert world.compare(asked) == [503]
    monkeypatch.setattr(traces, "are_on", lambda: True)
    monkeypatch.setattr(correlation, "_begin_span", lambda _request: None)
    assert world.compare(asked) == [202]
    assert world.paths.short_answers == before


def test_repeats_of_a_key_on_both_paths_at_once_are_one_notification(world: PathWorld) -> None:
    django = cast("Django", WSGIHandler())
    application = Slots(django, slots=4, threads=64, short_path=ShortPath())
    secret = world.secrets["live"]
    # The header has another value each time, so half of the requests take Django's path.
    with ThreadPoolExecutor(24) as pool:
        pool.submit(send, application, request(secret, _USUAL)).result(SECONDS)
        for turn in range(20):
            asked = [
                request(secret, _USUAL, HTTP_IDEMPOTENCY_KEY=f"k{turn}", **changes)
                for number in range(12)
                for changes in ({}, {"HTTP_X_UNKNOWN": f"{turn} {number}"})
            ]
            answers = list(pool.map(lambda each: send(application, each), asked))
            assert {status for status, _, _ in answers} == {202}
            [first, *others] = [json.loads(body) for _, _, body in answers]
            assert all(each == first for each in others)
            again = [("Idempotent-Replayed", "true") in headers for _, headers, _ in answers]
            assert again.count(False) == 1
    application.close()
    assert Notification.objects.count() == 21


def test_each_middleware_and_signal_of_a_request_is_one_that_the_short_path_knows() -> None:
    """The short path runs no middleware and no receiver: an author of another one compares both."""
    assert tuple(django_settings.MIDDLEWARE) == _MIDDLEWARE
    assert django_settings.DISALLOWED_USER_AGENTS == []
    receivers = {
        receiver().__qualname__
        for signal in (request_started, request_finished)
        for _, receiver, *_ in signal.receivers
    }
    assert receivers == {
        "_drop_broken_connection",
        "close_caches",
        "close_old_connections",
        "reset_queries",
        "reset_urlconf",
    }
