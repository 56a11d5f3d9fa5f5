"""Finding a message by what an operator has in hand."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.core.models import Delivery, Recipient
from notifications.core.rules.lane import Mode
from tests.api.conftest import Caller, MakeCaller


@pytest.fixture
def said(caller: Caller, maria: Recipient) -> dict[str, Any]:
    """A message to both addresses of Maria; the provider knows the first address."""
    body = {
        "user_id": maria.user_id,
        "type": "ORDER_SHIPPED",
        "priority": "P2",
        "delivery": "all",
        "channels": ["email", "sms"],
        "content": {"body": "On its way"},
    }
    accepted: dict[str, Any] = caller.post("/v1/notifications", body).json()
    Delivery.objects.filter(pk=accepted["deliveries"][0]["delivery_id"]).update(
        provider_message_id="smtp-77"
    )
    return accepted


@pytest.mark.parametrize(
    ("query", "channels"),
    [
        ({"address": "maria@example.com"}, ["email"]),
        ({"address": "+5511912345678"}, ["sms"]),
        ({"user_id": "maria"}, ["email", "sms"]),
        ({"provider_message_id": "smtp-77"}, ["email"]),
        ({"address": "nobody@example.com"}, []),
        ({"user_id": "nobody"}, []),
        ({"provider_message_id": "smtp-78"}, []),
    ],
)
def test_each_question_finds_its_deliveries(
    caller: Caller, said: dict[str, Any], query: dict[str, str], channels: list[str]
) -> None:
    found = caller.get("/v1/search", **query).json()["results"]
    assert [hit["channel"] for hit in found] == channels
    assert {hit["notification_id"] for hit in found} <= {said["notification_id"]}


def test_an_id_finds_a_notification_or_one_delivery(caller: Caller, said: dict[str, Any]) -> None:
    whole = caller.get("/v1/search", id=said["notification_id"]).json()["results"]
    assert len(whole) == 2
    one = said["deliveries"][1]["delivery_id"]
    [hit] = caller.get("/v1/search", id=one).json()["results"]
    assert hit["delivery_id"] == one


def test_no_answer_repeats_an_address(caller: Caller, said: dict[str, Any]) -> None:
    answer = caller.get("/v1/search", id=said["notification_id"])
    assert b"maria@" not in answer.content
    assert b"+55119" not in answer.content


@pytest.mark.usefixtures("said")
def test_the_other_mode_is_not_searched(make_caller: MakeCaller) -> None:
    tester = make_caller(mode=Mode.TEST)
    assert tester.get("/v1/search", user_id="maria").json()["results"] == []


@pytest.mark.parametrize("query", [{}, {"user_id": "a", "address": "b"}, {"id": "x"}, {"q": "a"}])
def test_a_search_asks_exactly_one_question(caller: Caller, query: dict[str, str]) -> None:
    assert caller.get("/v1/search", **query).status_code == 422
