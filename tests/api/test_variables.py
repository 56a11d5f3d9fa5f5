"""What a producer sends in `variables` is right, or refused at the door with its place."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.core import clock
from notifications.core.models import Notification, Template, TemplateText
from notifications.core.rules.request import MAX_VARIABLES_BYTES
from notifications.core.store.templates import template_cache
from providers.contract import Channel
from tests.api.conftest import Caller

DECLARED = [
    {"name": "order", "type": "string", "example": "ORD-1"},
    {"name": "count", "type": "integer", "example": 2},
]


@pytest.fixture(autouse=True)
def _template(maria: object) -> None:
    del maria
    made = Template.objects.create(template_id="shop", variables=DECLARED)
    TemplateText.objects.create(
        template=made, channel=Channel.EMAIL, body="{{ order }} {{ count }}"
    )
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())
    template_cache.forget()


def _body(variables: object) -> dict[str, Any]:
    return {
        "user_id": "maria",
        "type": "ORDER_SHIPPED",
        "priority": "P2",
        "template_id": "shop",
        "channels": ["email"],
        "variables": variables,
    }


@pytest.mark.parametrize(
    ("variables", "pointers"),
    [
        ({}, ["/variables/order", "/variables/count"]),
        ({"order": 5, "count": 2}, ["/variables/order"]),
        ({"order": "x", "count": "2"}, ["/variables/count"]),
        ({"order": "x", "count": True}, ["/variables/count"]),
        ({"order": "x", "count": None}, ["/variables/count"]),
        ({"order": ["x"] * 9, "count": {}}, ["/variables/order", "/variables/count"]),
        ([], ["/variables"]),
        ({"order": "x" * MAX_VARIABLES_BYTES, "count": 2}, ["/variables"]),
    ],
)
def test_each_wrong_variable_is_pointed_at(
    caller: Caller, variables: object, pointers: list[str]
) -> None:
    answer = caller.post("/v1/notifications", _body(variables))
    assert answer.status_code == 422
    assert answer.headers["Content-Type"].startswith("application/problem+json")
    assert [error["pointer"] for error in answer.json()["errors"]] == pointers
    assert not Notification.objects.exists()


def test_a_variable_of_five_megabytes_is_not_even_read(caller: Caller) -> None:
    answer = caller.post("/v1/notifications", _body({"order": "x" * 5_000_000, "count": 2}))
    assert answer.status_code == 413


def test_one_item_with_a_wrong_variable_harms_no_neighbour(caller: Caller) -> None:
    items = [_body({"order": "x", "count": 2}), _body({"order": "x"})]
    answer = caller.post("/v1/notifications/batch", {"notifications": items}).json()
    good, bad = answer["results"]
    assert (good["result"], bad["result"]) == ("accepted", "rejected")
    assert [error["pointer"] for error in bad["problem"]["errors"]] == [
        "/notifications/1/variables/count"
    ]
