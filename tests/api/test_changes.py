"""A producer reads each change of its own notifications, page by page."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.core.rules.lane import Mode
from notifications.core.rules.scopes import Scope
from tests.api.conftest import Caller, MakeCaller

pytestmark = pytest.mark.django_db(transaction=True)
_CHANGES = "/v1/notifications/changes"


def _send(caller: Caller, **fields: object) -> str:
    caller.send("PUT", "/v1/recipients/maria", {})
    caller.post("/v1/recipients/maria/contacts", {"channel": "email", "address": "m@example.com"})
    body = {
        "user_id": "maria",
        "type": "X",
        "priority": "P2",
        "content": {"body": "Hello"},
        "channels": ["email"],
        **fields,
    }
    answer = caller.post("/v1/notifications", body)
    assert answer.status_code == 202, answer.content
    return str(answer.json()["notification_id"])


def _page(caller: Caller, **query: str | int) -> dict[str, Any]:
    answer = caller.get(_CHANGES, **query)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    assert answer.headers["Link"].endswith('>; rel="next"')
    return found


def test_each_change_is_read_once(caller: Caller) -> None:
    empty = _page(caller)
    assert empty["results"] == []
    notification_id = _send(caller, metadata={"order": "ORD-1"})
    first = _page(caller, cursor=empty["next"])
    [accepted] = first["results"]
    assert (accepted["notification_id"], accepted["user_id"]) == (notification_id, "maria")
    assert (accepted["channel"], accepted["status"], accepted["reason"]) == (
        "email",
        "queued",
        "accepted",
    )
    assert accepted["metadata"] == {"order": "ORD-1"}
    caller.post(f"/v1/notifications/{notification_id}/cancel")
    [cancelled] = (second := _page(caller, cursor=first["next"], limit=1))["results"]
    assert (cancelled["delivery_id"], cancelled["status"]) == (accepted["delivery_id"], "cancelled")
    assert _page(caller, cursor=second["next"]) == {"results": [], "next": second["next"]}


def test_a_producer_and_a_mode_see_their_own_changes(
    caller: Caller, make_caller: MakeCaller
) -> None:
    live = _send(caller)
    assert _page(make_caller("other"))["results"] == []
    tests = make_caller(mode=Mode.TEST)
    assert _page(tests)["results"] == []
    tested = _send(tests)
    assert {each["notification_id"] for each in _page(tests)["results"]} == {tested}
    assert {each["notification_id"] for each in _page(caller)["results"]} == {live}


def test_since_leaves_earlier_changes_out(caller: Caller) -> None:
    _send(caller)
    assert _page(caller, since="2099-01-01T00:00:00Z")["results"] == []
    assert len(_page(caller, since="2020-01-01T00:00:00Z")["results"]) == 1


def test_metadata_of_every_accepted_depth_can_be_read(caller: Caller) -> None:
    _send(caller, metadata=_nested(250))
    [told] = _page(caller)["results"]
    assert told["metadata"] == _nested(250)
    body = {"user_id": "maria", "type": "X", "priority": "P2", "content": {"body": "Hello"}}
    answer = caller.post("/v1/notifications", {**body, "metadata": _nested(251)})
    assert answer.status_code == 422
    assert "250 levels" in answer.json()["detail"]


def _nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels - 1):
        found = {"a": found}
    return found


@pytest.mark.parametrize("cursor", ["x", "A" * 43, "_" * 43])
def test_a_foreign_cursor_is_refused(caller: Caller, cursor: str) -> None:
    answer = caller.get(_CHANGES, cursor=cursor)
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert (error["pointer"], error["source"]) == ("/cursor", "query")
    assert "since" in error["detail"] or "without a change" in error["detail"]


def test_the_scope_is_needed(make_caller: MakeCaller) -> None:
    caller = make_caller(scopes={Scope.NOTIFICATIONS_WRITE.value})
    assert caller.get(_CHANGES).status_code == 403
