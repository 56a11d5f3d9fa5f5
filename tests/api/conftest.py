"""Callers with real keys, talking to the real URL table in this process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

import orjson
import pytest
import schemathesis
from django.test import Client

from notifications.core.models import Contact, Producer, Recipient
from notifications.core.rules import access
from notifications.core.rules.lane import Mode
from notifications.core.rules.scopes import Scope
from notifications.core.store.cached import attributes, notification_types, recipient_ids
from notifications.core.store.postgres import api_keys
from notifications.core.store.rate_limits import producer_limits
from notifications.core.store.recipient_tokens import cors, revocations, token_secrets
from notifications.core.store.redis import state
from notifications.core.store.templates import template_cache
from providers.contract import Channel

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

schemathesis.serializer.alias(
    ["application/x-ndjson", "application/pdf", "text/calendar"], "text/plain"
)

EVERYTHING = frozenset(scope.wildcard for scope in Scope)
"""Every scope; a test key gets those that open something to it."""


class Caller:
    """A producer's service: it has a key and speaks JSON."""

    def __init__(self, producer: Producer, *, mode: Mode, scopes: Collection[str]) -> None:
        self.producer = producer
        self.mode = mode
        self.key, self.secret = api_keys.issue(producer, mode=mode, scopes=scopes)
        self._client = Client(headers={"Authorization": f"Bearer {self.secret}"})

    def get(self, path: str, **query: str | int) -> Reply:
        return self._client.get(path, query)

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        media_type: str = "application/json",
        **headers: str,
    ) -> Reply:
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._client.generic(method, path, raw, content_type=media_type, headers=named)

    def post(self, path: str, body: object = None, **headers: str) -> Reply:
        return self.send("POST", path, {} if body is None else body, **headers)


MakeCaller = Callable[..., Caller]


def forget() -> None:
    """Forget each key, limit and Redis entry of another test."""
    api_keys.forget()
    template_cache.forget()
    notification_types.forget()
    recipient_ids.forget()
    attributes.kinds.forget()
    for each in (cors, revocations, token_secrets):
        each.forget()
    state.client().flushdb()
    producer_limits.forget()


def new_caller(
    name: str = "orders",
    *,
    mode: Mode = Mode.LIVE,
    scopes: Collection[str] = EVERYTHING,
    **fields: object,
) -> Caller:
    """Create a key of a producer; `fields` are those of the producer."""
    producer, _ = Producer.objects.update_or_create(
        name=name, defaults={"may_send_content": True, **fields}
    )
    if scopes is EVERYTHING:
        scopes = EVERYTHING - frozenset(access.useless(EVERYTHING, mode))
    return Caller(producer, mode=mode, scopes=scopes)


@pytest.fixture(autouse=True)
def _fresh_state(db: None) -> Iterator[None]:  # noqa: ARG001 - pytest-django asks for it by name
    """A database, and no key, limit or Redis entry of another test."""
    forget()
    yield
    api_keys.forget()


@pytest.fixture
def make_caller() -> MakeCaller:
    return new_caller


@pytest.fixture
def caller(make_caller: MakeCaller) -> Caller:
    return make_caller()


@pytest.fixture
def maria(caller: Caller) -> Recipient:
    """Somebody who can be reached by mail and SMS: the rows that a PUT request makes."""
    recipient = Recipient.objects.create(
        mode=caller.mode, user_id="maria", locale="pt-BR", timezone="America/Sao_Paulo"
    )
    addresses = {Channel.EMAIL: "maria@example.com", Channel.SMS: "+5511912345678"}
    Contact.objects.bulk_create(
        Contact(recipient=recipient, channel=channel, address=address, is_primary=True)
        for channel, address in addresses.items()
    )
    return recipient
