"""What an endpoint gets, and what it cannot make us do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import orjson
import pytest

from providers import configuration
from providers.contract import Channel, Outcome, Rejected, Unavailable
from providers.standard_webhooks import Secret, verify
from providers.transport import Transport
from providers.webhook.standard import Config, Webhook
from tests.providers.fakes import HttpFake
from tests.providers.messages import SECRET, message, noon

OLD = "whsec_b2xkLXNlY3JldC1vbGQtc2VjcmV0LW9sZA=="


@pytest.fixture
def endpoint() -> Iterator[HttpFake]:
    with closing(HttpFake(key_header="webhook-id")) as it:
        yield it


def send(address: str, *, allow_private: bool) -> Outcome:
    config = Config(secrets=configuration.secrets(f"{SECRET},{OLD}"), allow_private=allow_private)
    with closing(Transport()) as transport:
        webhook = Webhook(config, transport=transport, now=noon)
        batch = [message(address, Channel.WEBHOOK, traceparent="00-aa-bb-01")]
        (result,) = webhook.send(batch, deadline=timedelta(seconds=30))
    return result.outcome


@pytest.mark.parametrize("held", [SECRET, OLD])
def test_the_endpoint_can_verify_with_the_new_secret_and_the_old(
    endpoint: HttpFake, held: str
) -> None:
    send(endpoint.url, allow_private=True)
    (request,) = endpoint.requests
    verify(request.body, headers=request.headers, secrets=[Secret.parse(held)], now=noon())
    assert request.headers["traceparent"] == "00-aa-bb-01"
    assert request.headers["user-agent"] == "Notifications"
    body = orjson.loads(request.body)
    assert body["type"] == "notification"
    assert body["data"]["title"] == "Order ready"


@pytest.mark.parametrize("url", ["http://example.com/", "https://10.0.0.1/", "not a url"])
def test_a_forbidden_url_is_rejected_without_a_call(url: str) -> None:
    outcome = send(url, allow_private=False)
    assert isinstance(outcome, Rejected)
    assert outcome.code == "forbidden_address"
    assert not outcome.contact_is_dead


def test_a_name_that_leads_to_a_private_address_is_rejected() -> None:
    outcome = send("https://localhost/", allow_private=False)
    assert outcome == Rejected(code="forbidden_address")


def test_an_endpoint_that_is_gone_is_a_dead_contact(endpoint: HttpFake) -> None:
    endpoint.status = 410
    outcome = send(endpoint.url, allow_private=True)
    assert isinstance(outcome, Rejected)
    assert outcome.contact_is_dead


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 403, 404, 409, 413, 500, 504])
def test_any_other_failure_is_retried_and_never_blames_us(endpoint: HttpFake, status: int) -> None:
    endpoint.status = status
    assert send(endpoint.url, allow_private=True) == Unavailable(
        code=str(status), detail='{"message_id": "m-1"}'
    )
