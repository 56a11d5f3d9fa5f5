"""What a result keeps of an answer, and what is said of a request that never began."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from providers import configuration, http_outcomes
from providers.conformance import Act
from providers.contract import Channel, NotStarted, Result, Unavailable
from providers.transport import Failure, FailureKind, Transport
from providers.webhook.standard import Config, Webhook
from tests.providers.fakes import HttpFake, free_port
from tests.providers.messages import SECRET, message, noon


@pytest.fixture
def endpoint() -> Iterator[HttpFake]:
    with closing(HttpFake(key_header="webhook-id")) as it:
        yield it


def result(address: str) -> Result:
    config = Config(secrets=configuration.secrets(SECRET), allow_private=True)
    with closing(Transport()) as transport:
        webhook = Webhook(config, transport=transport, now=noon)
        batch = [message(address, Channel.WEBHOOK)]
        (found,) = webhook.send(batch, deadline=timedelta(seconds=30))
    return found


def test_a_result_keeps_the_status_and_the_wait_that_the_answer_asked_for(
    endpoint: HttpFake,
) -> None:
    endpoint.act(Act.THROTTLE)
    found = result(endpoint.url)
    assert (found.http_status, found.retry_after) == (429, endpoint.retry_after)


def test_a_result_without_an_answer_has_neither(endpoint: HttpFake) -> None:
    endpoint.stop()
    found = result(endpoint.url)
    assert isinstance(found.outcome, Unavailable)
    assert (found.http_status, found.retry_after) == (None, None)


def test_a_call_begins_once_and_only_if_its_bytes_leave(endpoint: HttpFake) -> None:
    begun: list[str] = []
    config = Config(secrets=configuration.secrets(SECRET), allow_private=True)
    with closing(Transport()) as transport:
        webhook = Webhook(config, transport=transport, now=noon)
        nobody = f"http://127.0.0.1:{free_port()}/"
        batch = [
            replace(message(address, Channel.WEBHOOK), on_begin=partial(begun.append, address))
            for address in (endpoint.url, nobody, "http://no such address/")
        ]
        results = list(webhook.send(batch, deadline=timedelta(seconds=3)))
    assert len(results) == 3
    assert begun == [endpoint.url]


def test_a_request_that_waited_in_our_own_queue_until_its_deadline_has_not_started() -> None:
    late = Failure(kind=FailureKind.NEVER_SENT, code="not_started", elapsed=timedelta(seconds=3))
    assert http_outcomes.of_failure(late) == NotStarted(code="not_started")
