"""What a refusal tells, and what no error, representation or log line shows."""

from __future__ import annotations

import logging
import pickle
import traceback
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import pytest

from notify_client import (
    ApiError,
    AsyncClient,
    Client,
    Conflict,
    Forbidden,
    IdempotencyKeyReused,
    Invalid,
    NoAnswer,
    NotFound,
    NotifyError,
    Unauthenticated,
    UnexpectedAnswer,
    UnknownRecipient,
)
from tests.clients.python import relay as acts
from tests.clients.python.relay import Relay
from tests.clients.python.test_operations import MAIL
from tests.clients.service import Service

_NAME: Final = "canary"
_NOBODY: Final = "http://127.0.0.1:9"
_KEY: Final = "nk_live_CANARYCANARYCANARY"


def test_an_invalid_field_is_pointed_at(service: Service) -> None:
    with Client(service.url, service.key) as client, pytest.raises(Invalid) as error:
        client.notifications.send(
            user_id="maria",
            type="HELLO",
            priority="P9",  # type: ignore[arg-type] # the mistake
        )
    refused = error.value
    assert (refused.status, refused.code, refused.type) == (
        422,
        "invalid",
        "urn:notify:problem:invalid",
    )
    assert refused.title
    assert refused.detail
    assert refused.request_id
    assert refused.help.startswith(service.url)
    assert refused.errors[0]["pointer"] == "/priority"
    assert "/priority" in str(refused)


def test_each_refusal_has_its_class(service: Service) -> None:
    with Client(service.url, service.key) as client:
        with pytest.raises(UnknownRecipient):
            client.send(user_id="nobody-has-it", **MAIL)
        with pytest.raises(NotFound):
            client.notifications.get(uuid4())
        key = uuid4().hex
        first = client.send(to={"email": "a@example.com"}, idempotency_key=key, **MAIL)
        with pytest.raises(IdempotencyKeyReused):
            client.send(to={"email": "b@example.com"}, idempotency_key=key, **MAIL)
        with pytest.raises(Conflict):
            client.notifications.reschedule(first["notification_id"], send_at_local="09:00")
    with Client(service.url, service.narrow_key) as client, pytest.raises(Forbidden):
        client.send(user_id="maria", **MAIL)
    with Client(service.url, _KEY) as client, pytest.raises(Unauthenticated):
        client.me()


def test_errors_survive_pickling(service: Service) -> None:
    with Client(service.url, service.key) as client, pytest.raises(NotFound) as found:
        client.notifications.get(uuid4())
    errors: list[NotifyError] = [
        found.value,
        NoAnswer("ConnectError", 3, "k"),
        UnexpectedAnswer(200, "odd", "k"),
        ApiError(503, {}, retry_after=3.0, attempts=2, after_no_answer=True, idempotency_key="k"),
    ]
    for error in errors:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


@pytest.mark.parametrize(
    "key", ["", "nk_live_CANARY\n", "nk live_CANARY", "nk_live_CANARYü", "nk\r\nX-CANARY: 1"]
)
def test_an_unusable_key_is_an_error_that_does_not_show_it(key: str) -> None:
    for kind in (Client, AsyncClient):
        with pytest.raises(ValueError, match="the key") as error:
            kind(_NOBODY, key)
        assert "CANARY" not in str(error.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://x",
        "http://",
        "http://u:CANARY@x",
        "http://x/?a=1",
        "http://x#a",
        "http://x?",
        "http://x#",
    ],
)
def test_an_unusable_url_is_an_error(url: str) -> None:
    with pytest.raises(ValueError, match="base URL") as error:
        Client(url, _KEY)
    assert "CANARY" not in str(error.value)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_an_unusable_time_is_an_error(seconds: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        Client(_NOBODY, _KEY, timeout=seconds)
    if seconds:
        with pytest.raises(ValueError, match="total_timeout"):
            Client(_NOBODY, _KEY, total_timeout=seconds)


@pytest.mark.parametrize("part", ["", ".", "..", "../suppressions/5", "a/b"])
def test_an_id_that_names_another_path_is_an_error(part: str) -> None:
    with Client(_NOBODY, _KEY) as client, pytest.raises(ValueError, match="path"):
        client.recipients.erase(part)


@pytest.mark.parametrize(
    "variables",
    [{"at": datetime(2026, 1, 1)}, {"n": float("nan")}, {"o": object()}, {"t": "\ud800"}],  # noqa: DTZ001 - the mistake
    ids=["no timezone", "nan", "object", "half a character"],
)
def test_what_is_no_json_is_an_error_before_anything_is_sent(
    relay: Relay, service: Service, variables: dict[str, Any]
) -> None:
    with Client(relay.url, service.key) as client, pytest.raises((ValueError, TypeError)):
        client.send(user_id="maria", type="HELLO", variables=variables)
    assert relay.seen == []


@pytest.mark.parametrize("key", ["", "x" * 256, "a\nb", "ü", "a ", " a"])
def test_an_unusable_idempotency_key_is_an_error_before_anything_is_sent(key: str) -> None:
    with Client(_NOBODY, _KEY) as client, pytest.raises(ValueError, match="idempotency"):
        client.rotate_key(idempotency_key=key)


def test_a_list_that_repeats_a_page_ends(relay: Relay, service: Service) -> None:
    page = b'{"results": [], "next": "%s"}'
    relay.plan(*(acts.instead(200, page % each) for each in (b"a", b"b", b"a")))
    with Client(relay.url, service.key) as client, pytest.raises(UnexpectedAnswer, match="repeats"):
        list(client.notifications.list())


def test_the_key_and_the_address_are_nowhere(
    relay: Relay, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    relay.plan(acts.instead(503), acts.pass_on, acts.lose)
    client = Client(relay.url, service.key, total_timeout=60)
    address = f"{_NAME}@example.com"  # a traceback quotes the lines of this file
    client.search(address=address)
    with pytest.raises(NotFound) as refused:
        client.notifications.get(uuid4())
    with Client(_NOBODY, service.key, total_timeout=0) as other, pytest.raises(NoAnswer) as lost:
        other.search(address=address)
    with Client(relay.url, service.key) as third, pytest.raises(ApiError) as unfit:
        third.recipients.get("x" * 200)
    shown = [
        caplog.text,
        *map(repr, [client, client._engine, client._engine.http, client.notifications]),
        *("".join(traceback.format_exception(each.value)) for each in (refused, lost, unfit)),
        *(repr(each.value) for each in (refused, lost, unfit)),
        repr(vars(client)),
        repr(client._engine.http._target),
    ]
    client.close()
    for text in shown:
        assert service.key not in text
        assert address not in text
        assert address.replace("@", "%40") not in text
