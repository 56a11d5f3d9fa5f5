"""Requests of a list that share a shape are validated as each request alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import pytest

from notifications.core.intake import validation
from notifications.core.intake.validation import Caller, IntakeRequest, Lookups
from notifications.core.rules import request
from notifications.core.rules.channels import RecipientContacts
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.language.variables import Type, Variable
from notifications.core.rules.problems import Problem
from notifications.core.store.cached.notification_types import TypeRule
from notifications.core.store.postgres.idempotency import IdempotencyKey
from notifications.core.store.postgres.ordering_queues import OrderingKeyRow
from notifications.core.store.templates.template_cache import TemplateVersion
from providers.contract import Channel

_MAIL: Final = TemplateVersion(
    id=1,
    template_id="mail",
    sensitive=frozenset(),
    default_locale="en",
    fallback_on="",
    confirm_within=None,
    declared=(),
    needed={Channel.EMAIL: frozenset({"name"}), Channel.PUSH: frozenset({"order"})},
    texts={Channel.EMAIL: {}, Channel.PUSH: {}},
    mentioned=frozenset({"name", "order"}),
)
_DECLARED: Final = replace(
    _MAIL, id=2, template_id="declared", declared=(Variable(name="name", type=Type.STRING),)
)
_ALL: Final = Caller(
    producer_id=1,
    mode=Mode.LIVE,
    priorities=frozenset(Priority),
    may_send_content=True,
    may_register=True,
)
_KEYS: Final = {
    IdempotencyKey(1, Mode.LIVE, "q"): OrderingKeyRow(5, Priority.P2),
    IdempotencyKey(1, Mode.TEST, "q"): OrderingKeyRow(6, Priority.P2),
    IdempotencyKey(2, Mode.LIVE, "q"): OrderingKeyRow(7, Priority.P2),
}
_USUAL: Final = {"user_id": "ada", "type": "READY", "template_id": "mail", "channels": ["email"]}
_NAMED: Final = {"name": "Ada"}
_CONTENT: Final = {"user_id": "ada", "type": "READY", "content": {"body": "Hello"}}
_PHONE: Final = {
    "to": {"phone": "+15552000042"},
    "type": "READY",
    "template_id": "mail",
    "variables": _NAMED,
}
_ORDERED: Final = {**_USUAL, "variables": _NAMED, "ordering_key": "q"}
_ASKS: Final[Sequence[tuple[Caller, Mapping[str, object]]]] = [
    (_ALL, {**_USUAL, "variables": _NAMED}),
    (_ALL, _USUAL),
    (_ALL, {**_USUAL, "variables": _NAMED, "type": "NEWS"}),
    (_ALL, {**_USUAL, "variables": _NAMED, "type": "UNKNOWN"}),
    (_ALL, {**_USUAL, "variables": _NAMED, "priority": "P3"}),
    (_ALL, {**_USUAL, "variables": _NAMED, "template_id": "declared"}),
    (_ALL, {**_USUAL, "variables": _NAMED, "template_id": "none"}),
    (_ALL, {**_USUAL, "variables": _NAMED, "channels": ["push"]}),
    (_ALL, {**_USUAL, "variables": _NAMED, "channels": ["push", "email"]}),
    (_ALL, {**_USUAL, "variables": _NAMED, "ttl_seconds": 60}),
    (_ALL, {**_USUAL, "variables": _NAMED, "user_id": "nobody"}),
    (_ALL, _ORDERED),
    (replace(_ALL, producer_id=2), _ORDERED),
    (replace(_ALL, mode=Mode.TEST), _ORDERED),
    (_ALL, _CONTENT),
    (replace(_ALL, priorities=frozenset({Priority.P0})), _CONTENT),
    (replace(_ALL, may_send_content=False), _CONTENT),
    (_ALL, _PHONE),
    (_ALL, {**_PHONE, "channels": ["sms"]}),
]
"""Requests, of which neighbours differ in one field or one permission."""


def _ask(caller: Caller, body: Mapping[str, object]) -> IntakeRequest:
    parsed = request.parse(body)
    assert not isinstance(parsed, Problem)
    return IntakeRequest(caller, parsed)


def _lookups() -> Lookups:
    ada = RecipientContacts(1, "ada", "", {Channel.EMAIL: [7]}, channel_order=[Channel.EMAIL])
    return Lookups(
        now=dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC),
        types={
            "READY": TypeRule(priority=Priority.P2, category="orders", retry_preset=""),
            "NEWS": TypeRule(
                priority=Priority.P3, category="news", retry_preset="", is_mandatory=True
            ),
        },
        reaches={(mode, user_id): ada for mode in Mode for user_id in ("ada", "")},
        templates={"mail": _MAIL, "declared": _DECLARED},
        ordering_keys=_KEYS,
        answered={},
        files={},
    )


@pytest.mark.django_db
def test_requests_of_a_list_share_no_more_than_their_shape() -> None:
    asks = [_ask(*each) for each in _ASKS]
    alone = [validation.validate(ask, _lookups()) for ask in asks]
    for first in asks:
        shared = _lookups()
        validation.validate(first, shared)
        for second, result in zip(asks, alone, strict=True):
            assert validation.validate(second, shared) == result
