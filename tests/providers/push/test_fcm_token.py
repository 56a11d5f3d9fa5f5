"""The access token: one renewal at a time, ahead of its end, and never for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from time import monotonic

import pytest

from providers import clock
from providers.contract import Misconfigured, Throttled, Unavailable
from providers.push.fcm_token import LAST_USE, PAUSE, RENEW_AHEAD, SOONEST, AccessTokens
from providers.push.renewal import NoToken
from providers.sandbox_server.wire import ServerAnswer
from providers.transport import Transport
from tests.providers.fakes import never
from tests.providers.push.credentials import account
from tests.providers.push.vendors import FcmFake

PATIENCE = timedelta(seconds=30)
SECOND = timedelta(seconds=1)


class MovedClock:
    """The real time, moved: google-auth computes a token's end with the machine's own."""

    def __init__(self) -> None:
        self.moved = timedelta(0)

    def __call__(self) -> datetime:
        return clock.now().astimezone(UTC) + self.moved


@pytest.fixture
def server(certificate: Path) -> Iterator[FcmFake]:
    with closing(FcmFake(certificate=certificate)) as it:
        yield it


@pytest.fixture
def now() -> MovedClock:
    return MovedClock()


@pytest.fixture
def tokens(server: FcmFake, transport: Transport, now: MovedClock) -> AccessTokens:
    return AccessTokens(account(server.url + "/token"), transport=transport, now=now)


def test_many_threads_make_one_call(server: FcmFake, tokens: AccessTokens) -> None:
    with ThreadPoolExecutor(max_workers=20) as threads:
        found = set(threads.map(lambda _: tokens.current(deadline=PATIENCE), range(200)))
    assert found == {"ya29.token-1"}
    assert len(server.token_calls) == 1
    assert server.token_calls[0].headers["content-type"] == "application/x-www-form-urlencoded"
    assert b"grant_type=urn%3Aietf" in server.token_calls[0].body


def test_it_is_renewed_ahead_of_its_end_while_callers_go_on_with_the_old_one(
    server: FcmFake, tokens: AccessTokens, now: MovedClock
) -> None:
    assert tokens.current(deadline=PATIENCE) == "ya29.token-1"
    release = asyncio.Event()
    asked = Event()

    async def later() -> ServerAnswer:
        asked.set()
        await release.wait()
        return ServerAnswer(status=200, body=b'{"access_token": "ya29.new", "expires_in": 7200}')

    server.token_script = [later()]
    now.moved = timedelta(hours=1) - RENEW_AHEAD + SECOND
    for _ in range(20):
        assert tokens.current(deadline=PATIENCE) == "ya29.token-1"
    assert asked.wait(30)
    server._server._listener._loop.call_soon_threadsafe(release.set)
    assert tokens.renew("ya29.token-1", deadline=PATIENCE) == "ya29.new"
    assert len(server.token_calls) == 2


def test_a_renewal_that_fails_behind_the_callers_is_tried_again_after_a_pause(
    server: FcmFake, tokens: AccessTokens, now: MovedClock
) -> None:
    tokens.current(deadline=PATIENCE)
    asked = [Event(), Event()]

    async def refuse(number: int) -> ServerAnswer:
        asked[number].set()
        return ServerAnswer(status=503)

    server.token_script = [refuse(0), refuse(1)]
    now.moved = timedelta(hours=1) - RENEW_AHEAD + SECOND
    tokens.current(deadline=PATIENCE)
    assert asked[0].wait(30)
    tokens.current(deadline=PATIENCE)
    assert len(server.token_calls) == 2
    now.moved += PAUSE
    tokens.current(deadline=PATIENCE)
    assert asked[1].wait(30)


def test_an_ended_one_is_waited_for(server: FcmFake, tokens: AccessTokens, now: MovedClock) -> None:
    tokens.current(deadline=PATIENCE)
    now.moved = timedelta(hours=1) - LAST_USE + SECOND
    server.lifetime = timedelta(hours=3)
    assert tokens.current(deadline=PATIENCE) == "ya29.token-2"
    assert tokens.current(deadline=PATIENCE) == "ya29.token-2"


def test_one_that_is_refused_when_young_is_not_renewed(
    tokens: AccessTokens, now: MovedClock
) -> None:
    first = tokens.current(deadline=PATIENCE)
    assert tokens.renew(first, deadline=PATIENCE) == first
    now.moved = SOONEST
    second = tokens.renew(first, deadline=PATIENCE)
    assert second != first
    assert tokens.renew(first, deadline=PATIENCE) == second


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ServerAnswer(status=400, body=b'{"error":"invalid_grant"}'), Misconfigured),
        (ServerAnswer(status=401), Misconfigured),
        (ServerAnswer(status=404), Misconfigured),
        (ServerAnswer(status=429, headers=(("Retry-After", "9"),)), Throttled),
        (ServerAnswer(status=503), Unavailable),
        (ServerAnswer(status=500, body=b'{"error":"internal_failure"}'), Unavailable),
        (ServerAnswer(status=200, body=b"<html>"), Unavailable),
        (ServerAnswer(status=200, body=b'{"no_token": 1}'), Unavailable),
    ],
)
def test_a_refusal_is_told_once_and_never_repeated_in_secret(
    server: FcmFake, tokens: AccessTokens, answer: ServerAnswer, expected: type
) -> None:
    server.token_script = [answer]
    with pytest.raises(NoToken) as caught:
        tokens.current(deadline=PATIENCE)
    assert isinstance(caught.value.outcome, expected)
    assert len(server.token_calls) == 1
    assert tokens.current(deadline=PATIENCE) == "ya29.token-2"


def test_an_endpoint_that_hangs_costs_each_caller_its_deadline_and_no_more(
    server: FcmFake, tokens: AccessTokens
) -> None:
    async def hang() -> None:
        await never()

    hanging = [hang() for _ in range(8)]
    server.token_script = [*hanging]
    began = monotonic()
    with ThreadPoolExecutor(max_workers=8) as threads:
        waiting = [threads.submit(tokens.current, deadline=2 * SECOND) for _ in range(8)]
        for each in waiting:
            error = each.exception(timeout=30)
            assert isinstance(error, NoToken)
            assert isinstance(error.outcome, Unavailable)
    assert monotonic() - began < 15  # one after the other, the callers need 16 seconds
    for unused in hanging:
        if unused in server.token_script:
            unused.close()


def test_an_endpoint_that_is_down_sends_nothing(server: FcmFake, tokens: AccessTokens) -> None:
    server.stop()
    with pytest.raises(NoToken) as caught:
        tokens.current(deadline=PATIENCE)
    assert caught.value.outcome == Unavailable(code="token_connect")
