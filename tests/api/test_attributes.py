"""Attributes of recipients over HTTP."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

import orjson
import psycopg
import pytest
from django.db import connection

from notifications.core.models import AuditEntry, Recipient
from tests.api.conftest import Caller


@pytest.fixture(autouse=True)
def _person(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    Recipient.objects.create(user_id="u_1")


def define(caller: Caller, **kinds: str) -> None:
    for name, kind in kinds.items():
        assert caller.send("PUT", f"/v1/attributes/{name}", {"kind": kind}).status_code == 201


def test_attributes_are_defined_and_set(caller: Caller) -> None:
    define(caller, plan="text", age="number", vip="boolean", seen_on="date", tags="list")
    values = {"plan": "pro", "age": 41, "vip": True, "seen_on": "20261101", "tags": ["a"]}
    told = caller.send("PUT", "/v1/recipients/u_1", {"attributes": values}).json()
    assert told["attributes"] == {**values, "seen_on": "2026-11-01"}
    told = caller.send("PATCH", "/v1/recipients/u_1", {"attributes": {"age": None}}).json()
    assert told["attributes"].keys() == values.keys() - {"age"}
    caller.send("PUT", "/v1/recipients/u_1", {"locale": "de"})
    assert caller.get("/v1/recipients/u_1").json()["attributes"]["plan"] == "pro"


def test_unknown_attributes_and_other_kinds_are_refused_with_a_pointer(caller: Caller) -> None:
    define(caller, plan="text", age="number")
    given = {"plan": 7, "age": "x", "nothing": 1}
    told = caller.send("PUT", "/v1/recipients/u_1", {"attributes": given})
    assert told.status_code == 422
    assert {each["pointer"] for each in told.json()["errors"]} == {
        f"/attributes/{name}" for name in given
    }
    assert caller.send("PUT", "/v1/attributes/plan", {"kind": "number"}).status_code == 409
    assert caller.send("PUT", "/v1/attributes/locale", {"kind": "text"}).status_code == 422
    assert caller.send("PUT", "/v1/attributes/a%00b", {"kind": "text"}).status_code == 404


def test_the_log_hides_the_values_of_attributes(caller: Caller) -> None:
    define(caller, plan="text")
    caller.send("PUT", "/v1/recipients/u_1", {"attributes": {"plan": "a-secret-plan"}})
    rows = [[each.before, each.after] for each in AuditEntry.objects.all()]
    assert "a-secret-plan" not in orjson.dumps(rows).decode()


_DEFINE = """INSERT INTO attribute (name, kind, description, created_at, created_by)
VALUES ('size', 'text', '', now(), 'other')"""
_WAITING = "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"


@pytest.mark.django_db(transaction=True)
def test_of_two_calls_that_define_an_attribute_the_second_keeps_its_kind(caller: Caller) -> None:
    def define() -> int:
        try:
            return caller.send("PUT", "/v1/attributes/size", {"kind": "number"}).status_code
        finally:
            connection.close()

    with (
        psycopg.connect(**connection.get_connection_params()) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        other.execute(_DEFINE)
        answer = pool.submit(define)
        while not answer.done() and not other.execute(_WAITING).fetchall():
            wait([answer], timeout=0.01)
        other.commit()
        assert answer.result(timeout=20) == 409
    assert caller.get("/v1/attributes/size").json()["kind"] == "text"
