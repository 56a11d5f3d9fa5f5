"""A lost answer, a 503 behind an accepted request, a hang: one notification, and no call for ever.

The relay hands requests to the real service; the count is that of its database.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from notify_client import (
    ApiError,
    Client,
    NoAnswer,
    NotFound,
    RateLimited,
    ServiceError,
    UnexpectedAnswer,
    _timing,
)
from tests.certificate import make_certificate
from tests.clients.python import relay as acts
from tests.clients.python.blocking import blocking
from tests.clients.python.relay import Act, Relay
from tests.clients.python.test_operations import MAIL
from tests.clients.service import Service
from tests.providers.fakes import Listener, free_port

Make = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def make(request: pytest.FixtureRequest, relay: Relay, service: Service) -> Iterator[Make]:
    """Makes either client, in front of the relay."""
    if request.param == "sync":
        yield lambda **options: Client(relay.url, service.key, **options)
        return
    with asyncio.Runner() as runner:
        yield lambda **options: blocking(relay.url, service.key, runner, **options)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between attempts, which take no time."""
    found: list[float] = []

    async def noted(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(_timing, "sleep", found.append)
    monkeypatch.setattr(_timing, "async_sleep", noted)
    return found


def sent(client: Any, reference: str) -> Any:  # noqa: ANN401 - either client
    address = {"email": f"{reference}@example.com"}
    with closing(client):
        return client.send(to=address, metadata={"reference": reference}, **MAIL)


class _Silent(asyncio.Protocol):
    """A silent server: after the handshake it sends no byte."""


LOSSES: Final = {
    "the answer is lost": [acts.lose],
    "half of the answer arrives": [acts.halve],
    "the request is lost": [acts.refuse_connection],
    "a proxy answers 503 behind it": [acts.after(503)],
    "a proxy answers 502 and 504": [acts.after(502), acts.instead(504)],
    "it is lost again and again": [acts.lose, acts.refuse_connection, acts.halve, acts.after(503)],
}


@pytest.mark.parametrize("plan", LOSSES.values(), ids=LOSSES.keys())
def test_it_is_sent_once(
    make: Make, relay: Relay, service: Service, waits: list[float], plan: list[Act]
) -> None:
    reference = uuid4().hex
    relay.plan(*plan)
    accepted = sent(make(), reference)
    assert accepted["notification_id"]
    assert service.count(reference) == 1
    assert len(relay.seen) == len(plan) + 1
    assert len({each.key for each in relay.seen}) == 1
    assert len({each.body for each in relay.seen}) == 1
    assert len(waits) == len(plan)


def test_a_hang_ends_and_it_is_sent_once(make: Make, relay: Relay, service: Service) -> None:
    reference = uuid4().hex
    relay.plan(acts.hang)
    assert sent(make(timeout=2), reference)["notification_id"]
    assert service.count(reference) == 1


def test_a_key_in_the_body_is_the_only_key(
    make: Make, relay: Relay, service: Service, waits: list[float]
) -> None:
    reference = uuid4().hex
    relay.plan(acts.lose)
    key = f"bestellung-ü-{reference}"
    with closing(make()) as client:
        for _ in range(2):
            client.send(
                to={"email": f"{reference}@example.com"},
                metadata={"reference": reference},
                idempotency_key=key,
                **MAIL,
            )
    assert service.count(reference) == 1
    assert {each.key for each in relay.seen} == {""}
    assert len(waits) == 1


@pytest.mark.parametrize("loss", [acts.lose, acts.after(504)])
def test_an_upload_whose_answer_is_lost_is_not_stored_twice(
    make: Make, relay: Relay, waits: list[float], loss: Act
) -> None:
    name = uuid4().hex
    with closing(make()) as client:
        relay.plan(acts.instead(503), loss)
        with pytest.raises((NoAnswer, ServiceError)):
            client.audiences.upload(b"user_id\nmaria\n", name=name)
        assert len(relay.seen) == 2
        assert len(waits) == 1
        stored = [each["name"] for each in client.audiences.uploads(limit=10)]
    assert stored.count(name) == 1


@pytest.mark.usefixtures("waits")
def test_an_upload_is_repeated_while_nobody_listens(service: Service) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    client = Client(url, service.key, total_timeout=0.5)
    with closing(client), pytest.raises(NoAnswer) as lost:
        client.audiences.upload(b"user_id\nmaria\n", name="never")
    assert lost.value.attempts > 1


def test_the_error_has_the_key_with_which_a_repeat_sends_once(
    make: Make, relay: Relay, service: Service
) -> None:
    reference = uuid4().hex
    relay.plan(acts.lose)
    message = {**MAIL, "metadata": {"reference": reference}}
    with closing(make(total_timeout=0)) as client:
        with pytest.raises(NoAnswer) as lost:
            client.send(to={"email": f"{reference}@example.com"}, **message)
        assert (lost.value.attempts, len(relay.seen)) == (1, 1)
        client.send(
            to={"email": f"{reference}@example.com"},
            idempotency_key=lost.value.idempotency_key,
            **message,
        )
    assert service.count(reference) == 1


@pytest.mark.parametrize("act", [acts.hang_before, acts.drip], ids=["hangs", "drips"])
def test_a_call_ends_with_its_time(make: Make, relay: Relay, act: Act) -> None:
    relay.plan(*[act] * 50)
    with closing(make(timeout=0.5, total_timeout=4)) as client, pytest.raises(NoAnswer) as error:
        client.me()
    assert 1 < error.value.attempts < 20
    assert 1 <= len(relay.seen) <= error.value.attempts  # the last may end before the relay reads


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 500])
def test_other_refusals_are_final(
    make: Make, relay: Relay, waits: list[float], status: int
) -> None:
    relay.plan(acts.instead(status, b"<html>", Retry_After="1"))
    with closing(make()) as client, pytest.raises(ApiError) as error:
        client.send(user_id="maria", **MAIL)
    assert error.value.status == status
    assert (len(relay.seen), waits) == (1, [])


def test_retry_after_is_kept(make: Make, relay: Relay, waits: list[float]) -> None:
    relay.plan(acts.instead(429, Retry_After="7"), acts.instead(503, Retry_After="3"))
    with closing(make()) as client:
        client.me()
    assert 7 < waits[0] < 8
    assert 3 < waits[1] < 4


def test_a_longer_retry_after_than_the_call_has_is_left_to_the_caller(
    make: Make, relay: Relay, waits: list[float]
) -> None:
    relay.plan(acts.instead(429, Retry_After="86400"))
    with closing(make()) as client, pytest.raises(RateLimited) as error:
        client.me()
    assert error.value.retry_after == 86400
    assert waits == []


def test_a_call_whose_first_attempt_still_runs_is_asked_for_again(
    make: Make, relay: Relay, waits: list[float]
) -> None:
    running = b'{"code": "in-progress"}'
    relay.plan(acts.hang_before, acts.instead(409, running, Retry_After="1"))
    with closing(make(timeout=3)) as client:
        client.send(user_id="maria", **MAIL)
    assert len(waits) == 2


def test_the_services_own_rate_limit_is_waited_for(relay: Relay, service: Service) -> None:
    with Client(relay.url, service.slow_key) as client:
        told = [client.send(to={"email": "slow@example.com"}, **MAIL) for _ in range(4)]
    assert len({each["notification_id"] for each in told}) == 4
    assert len(relay.seen) > 4


def test_backoff_grows_and_differs(make: Make, relay: Relay, waits: list[float]) -> None:
    relay.plan(*[acts.instead(503)] * 6)
    with closing(make()) as client:
        client.me()
    for wait, most in zip(waits, [0.25, 0.5, 1, 2, 4, 8], strict=True):
        assert most / 2 <= wait <= most


def test_a_delete_tells_that_it_may_have_worked_before(
    make: Make, relay: Relay, waits: list[float]
) -> None:
    notification = {**MAIL, "user_id": "maria"}
    with closing(make()) as client:
        made = client.schedules.create(
            name=uuid4().hex, rrule="FREQ=DAILY", notification=notification
        )
        relay.plan(acts.lose)
        with pytest.raises(NotFound) as error:
            client.schedules.delete(made["id"])
    assert error.value.after_no_answer
    assert len(waits) == 1


@pytest.mark.parametrize("location", ["https://example.com/", "/v1/me"])
def test_no_redirect_is_followed(make: Make, relay: Relay, location: str) -> None:
    relay.plan(acts.instead(307, Location=location))
    with closing(make()) as client, pytest.raises(ApiError):
        client.me()
    assert len(relay.seen) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b""), (204, b""), (200, b"<html>"), (202, b"[" * 100_000), (200, b'{"status": "ok"}')],
    ids=["empty", "no content", "html", "deep", "json"],
)
def test_a_success_of_another_server_is_no_success(
    make: Make, relay: Relay, status: int, body: bytes
) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda client: client.send(user_id="maria", **MAIL),
        lambda client: client.notifications.send_batch([{"user_id": "maria", **MAIL}]),
        lambda client: list(client.notifications.list()),
        lambda client: client.suppressions.export_csv(),
        lambda client: client.search(user_id="maria"),
        lambda client: client.schedules.get(1),
        lambda client: client.templates.get_tagged("welcome"),
    ]
    if status != 204:
        calls.append(lambda client: client.schedules.delete(1))
    relay.plan(*[acts.instead(status, body)] * len(calls))
    with closing(make()) as client:
        for call in calls:
            with pytest.raises(UnexpectedAnswer):
                call(client)


def test_a_list_that_leads_to_itself_ends(make: Make, relay: Relay) -> None:
    relay.plan(*[acts.instead(200, b'{"results": [], "next": "5"}')] * 9)
    with closing(make()) as client, pytest.raises(UnexpectedAnswer):
        list(client.alerts.list())
    assert len(relay.seen) == 2


@pytest.mark.parametrize(
    "said", ["", "soon", "-1", "\u00b2", "9" * 5000, "Thu, 01 Jan 1970 00:00:00 +" + "9" * 40]
)
def test_an_odd_retry_after_breaks_nothing(make: Make, relay: Relay, said: str) -> None:
    relay.plan(acts.instead(500, Retry_After=said))
    with closing(make()) as client, pytest.raises(ServiceError):
        client.me()


def test_a_certificate_of_nobody_is_final(tmp_path: Path, service: Service) -> None:
    make_certificate(tmp_path / "both.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "both.pem")
    with closing(Listener(_Silent, tls=context)) as listener:
        url = f"https://localhost:{listener.port}"
        with Client(url, service.key) as client, pytest.raises(NoAnswer) as error:
            client.me()
    assert error.value.attempts == 1
    assert "certificate" in str(error.value)
