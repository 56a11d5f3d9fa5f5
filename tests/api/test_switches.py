"""An operator's key holds deliveries and lets them go; the audit log names the key."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from notifications.core import clock
from notifications.core.models import AuditEntry, Producer, Switch
from notifications.core.rules.lane import Mode
from notifications.core.store.cached import switches as cached
from tests.api.conftest import Caller, MakeCaller

BODY = {"kind": "type", "value": "ORDER_READY", "reason": "the text is wrong"}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    cached.forget()
    yield
    cached.forget()


def test_a_switch_is_set_listed_and_ended(caller: Caller) -> None:
    answer = caller.post("/v1/switches", BODY)
    assert answer.status_code == 201
    made = answer.json()
    assert {name: made[name] for name in BODY} == BODY
    assert (made["expires_at"], made["resumed_at"]) == (None, None)
    assert [one["id"] for one in caller.get("/v1/switches").json()["results"]] == [made["id"]]
    assert cached.current()
    ended, again = (caller.send("DELETE", f"/v1/switches/{made['id']}") for _ in range(2))
    assert ended.status_code == again.status_code == 200
    assert ended.json() == again.json()
    assert ended.json()["resumed_at"]
    assert caller.get("/v1/switches").json()["results"] == []
    assert caller.get("/v1/switches", ended="true").json()["results"] == [ended.json()]
    assert caller.get(f"/v1/switches/{made['id']}").json() == ended.json()
    assert not cached.current()
    entries = AuditEntry.objects.filter(object_type="switch").order_by("pk")
    assert [entry.operation for entry in entries] == ["set_switch", "resume_switch"]
    assert all(caller.key.prefix in entry.by for entry in entries)


def test_an_expired_switch_is_listed_as_ended(caller: Caller) -> None:
    soon = clock.now() + dt.timedelta(hours=1)
    made = caller.post("/v1/switches", {**BODY, "expires_at": soon.isoformat()}).json()
    assert dt.datetime.fromisoformat(made["expires_at"]) == soon
    Switch.objects.update(expires_at=clock.now())
    assert caller.get("/v1/switches").json()["results"] == []
    assert len(caller.get("/v1/switches", ended="true").json()["results"]) == 1


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"kind": "planet"}, "/kind"),
        ({"reason": ""}, "/reason"),
        ({"kind": "producer", "value": "nobody"}, "/value"),
        ({"kind": "template", "value": "nothing"}, "/value"),
        ({"kind": "channel", "value": "smoke"}, "/value"),
        ({"kind": "provider", "value": "nobody"}, "/value"),
        ({"kind": "lane", "value": "p9.email"}, "/value"),
        ({"channel": "sms"}, "/channel"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
    ],
    ids=str,
)
def test_a_wrong_switch_is_refused(caller: Caller, change: dict[str, object], pointer: str) -> None:
    answer = caller.post("/v1/switches", {**BODY, **change})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert not Switch.objects.exists()


def test_a_producer_is_held_by_its_name(caller: Caller) -> None:
    name = Producer.objects.values_list("name", flat=True)[0]
    made = caller.post("/v1/switches", {**BODY, "kind": "producer", "value": name})
    assert made.status_code == 201
    assert Switch.objects.get().producer == Producer.objects.get(name=name)


def test_a_test_key_sets_no_switch(make_caller: MakeCaller) -> None:
    answer = make_caller(mode=Mode.TEST).post("/v1/switches", BODY)
    assert answer.status_code == 403
    assert "live" in answer.json()["detail"]


def test_an_unknown_switch_is_not_found(caller: Caller) -> None:
    assert caller.get("/v1/switches/4711").status_code == 404
    assert caller.send("DELETE", "/v1/switches/4711").status_code == 404
