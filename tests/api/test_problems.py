"""Every refusal is a problem document, and nothing that anybody sends makes a 5xx."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.db import OperationalError, transaction
from django.test import Client

from notifications.core.api import body_limits, problems
from notifications.core.rules import access
from notifications.core.rules.problems import Kind
from notifications.core.store.postgres import api_keys
from tests.api.conftest import Caller

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply


def _check(answer: Reply, kind: Kind) -> None:
    assert answer.status_code == kind.status, answer.content
    assert answer.headers["Content-Type"] == "application/problem+json"
    said = answer.json()
    assert (said["type"], said["code"]) == (f"urn:notify:problem:{kind}", kind)
    assert said["help"] == f"http://testserver/problems/{kind}"
    assert said["instance"] == answer.headers["X-Request-Id"]


def _with(fields: str) -> bytes:
    """A good notification with some fields replaced: the last of two with one name counts."""
    good = '"user_id": "maria", "type": "T", "priority": "P2", "content": {"body": "b"}'
    return f"{{{good}, {fields}}}".encode()


def test_a_path_that_does_not_exist_is_a_problem() -> None:
    _check(Client().get("/v1/nothing"), Kind.NOT_FOUND)


def test_a_browser_gets_a_page_instead() -> None:
    answer = Client().get("/nothing", headers={"Accept": "text/html"})
    assert answer.headers["Content-Type"].startswith("text/html")


def test_a_method_that_does_not_exist_is_a_problem(caller: Caller) -> None:
    answer = caller.send("DELETE", "/v1/notifications")
    _check(answer, Kind.METHOD_NOT_ALLOWED)
    assert answer.headers["Allow"] == "GET, POST, HEAD"


def test_no_key_is_a_problem_that_says_how_to_present_one() -> None:
    answer = Client().get("/v1/notifications")
    _check(answer, Kind.UNAUTHENTICATED)
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    wrong = Client().get("/v1/notifications", headers={"Authorization": "Bearer nk_live_x"})
    assert wrong.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


def test_a_body_that_is_not_json_by_its_type_is_a_problem(caller: Caller) -> None:
    answer = caller._client.post("/v1/notifications", b"a=b", content_type="text/plain")
    _check(answer, Kind.UNSUPPORTED_MEDIA_TYPE)


def test_accepting_nothing_that_we_have_is_a_problem(caller: Caller) -> None:
    _check(caller.post("/v1/notifications", {}, Accept="application/xml"), Kind.NOT_ACCEPTABLE)


def test_a_body_over_the_limit_is_a_problem(caller: Caller) -> None:
    _check(caller.post("/v1/notifications", b" " * (body_limits.BODY_LIMIT + 1)), Kind.TOO_LARGE)


def test_a_chunked_body_is_refused_and_not_taken_for_an_empty_one(caller: Caller) -> None:
    _check(caller.post("/v1/notifications", {}, Transfer_Encoding="chunked"), Kind.MALFORMED)


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"\xff\xfe",
        b'"\xed\xa0\x80"',
        b'{"user_id": "\\ud800"}',
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"9" * 400,
        b"[" * 100_000,
        b'{"a":' * 2_000 + b"1" + b"}" * 2_000,
        b"\xef\xbb\xbf{}",
        b"{} {}",
        b"\x00",
    ],
)
@pytest.mark.parametrize("path", ["/v1/notifications", "/v1/notifications/batch"])
def test_what_is_no_json_is_malformed(caller: Caller, path: str, raw: bytes) -> None:
    _check(caller.post(path, raw), Kind.MALFORMED)


@pytest.mark.parametrize(
    "raw",
    [
        b"null",
        b"[]",
        b"1",
        b'"text"',
        b"{}",
        _with('"user_id": "\\u0000"'),
        _with('"user_id": 1e308, "type": []'),
        _with('"ttl_seconds": 1e99'),
        _with('"scheduled_at": "9999-12-31T23:59:59-14:00"'),
        _with('"scheduled_at": "0001-01-01T00:00:00+14:00"'),
        _with('"scheduled_at": 1e300'),
        _with('"scheduled_at": "0159-02-25T20:48:59-22:42"'),
        _with('"metadata": {"a": ' + "[" * 500 + "]" * 500 + "}"),
        _with('"surprise": 1'),
        b'{"notifications": []}',
        b'{"notifications": {}}',
        b'{"notifications": [' + b"1," * 1000 + b"1]}",
    ],
)
@pytest.mark.parametrize("path", ["/v1/notifications", "/v1/notifications/batch"])
@pytest.mark.usefixtures("maria")
def test_json_of_the_wrong_shape_is_invalid(caller: Caller, path: str, raw: bytes) -> None:
    answer = caller.post(path, raw)
    _check(answer, Kind.INVALID)
    assert all(
        error["pointer"] == "" or error["pointer"][0] == "/" for error in answer.json()["errors"]
    )


@pytest.mark.parametrize("item", ["null", "1", "[]", '"\\u0000"', '{"user_id": [[[]]]}', "{}"])
def test_a_bad_item_is_rejected_alone_and_its_place_is_named(caller: Caller, item: str) -> None:
    answer = caller.post(
        "/v1/notifications/batch", f'{{"notifications": [{item}, {item}]}}'.encode()
    )
    assert answer.status_code == 202
    second = answer.json()["results"][1]
    assert second["result"] == "rejected"
    assert all(
        error["pointer"].startswith("/notifications/1") for error in second["problem"]["errors"]
    )


@pytest.mark.parametrize("headers", [{}, {"Idempotency_Key": "k"}])
@pytest.mark.parametrize("name", ["\\u0000", "a\\u0000b", "\\ud83d\\ude00", "~/", "a" * 5_000])
def test_a_name_that_no_field_has_is_refused_whatever_it_is(
    caller: Caller, name: str, headers: dict[str, str]
) -> None:
    item = f'{{"user_id": "u", "{name}": 1, "variables": {{"{name}": 1}}}}'
    _check(caller.post("/v1/notifications", item.encode(), **headers), Kind.INVALID)
    batch = caller.post(
        "/v1/notifications/batch", f'{{"notifications": [{item}]}}'.encode(), **headers
    )
    assert batch.json()["results"][0]["result"] == "rejected"


def test_an_answer_lists_a_hundred_faults_and_counts_the_others(caller: Caller) -> None:
    unknown = {f"field_{number}": 1 for number in range(5_000)}
    answer = caller.post("/v1/notifications", unknown)
    _check(answer, Kind.INVALID)
    said = answer.json()
    assert len(said["errors"]) == 100
    assert "5003 errors" in said["detail"]
    assert len(answer.content) < 20_000


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=9999999999999999999999999",
        "cursor=%00",
        "since=yesterday",
        "since=0001-01-01T00:00:00%2B14:00",
        "since=9999-12-31T23:59:59-14:00",
        "status=gone",
        "user_id=%00",
        "user=maria",
        "type=%FF",
    ],
)
def test_a_query_that_makes_no_sense_is_invalid(caller: Caller, query: str) -> None:
    _check(caller._client.get(f"/v1/notifications?{query}"), Kind.INVALID)


def test_a_thousand_query_parameters_too_many_are_malformed(caller: Caller) -> None:
    query = "&".join(f"a{number}=1" for number in range(2_000))
    _check(caller._client.get(f"/v1/notifications?{query}"), Kind.MALFORMED)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/recipients/%00",
        "/v1/recipients/" + "u" * 129,
        "/v1/recipients/%FF%FE",
        "/v1/recipients/maria/contacts/99999999999999999999999999",
        "/v1/replay-jobs/99999999999999999999999999",
        "/v1/notifications/not-an-id",
        "/v1/notifications/ffffffff-ffff-ffff-ffff-ffffffffffff",
        "/v1/notifications/00000000-0000-0000-0000-000000000000",
    ],
)
def test_an_id_that_cannot_exist_is_not_found(caller: Caller, path: str) -> None:
    method = "DELETE" if "contacts" in path else "GET"
    _check(caller.send(method, path), Kind.NOT_FOUND)


def test_a_forbidden_host_is_a_problem() -> None:
    answer = Client().get("/v1/notifications", headers={"Host": "evil.example"})
    _check(answer, Kind.MALFORMED)


def test_while_the_database_is_away_the_answer_says_when_to_come_back(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(prefix: str) -> None:
        raise OperationalError(prefix)

    monkeypatch.setattr(api_keys, "_load", away)
    answer = caller.get("/v1/notifications")
    _check(answer, Kind.UNAVAILABLE)
    assert answer.headers["Retry-After"] == "2"


def test_a_bug_of_ours_is_a_problem_without_a_trace(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(secret: str) -> None:
        raise ZeroDivisionError(secret)

    monkeypatch.setattr(api_keys, "recognise", broken)
    caller._client.raise_request_exception = False
    answer = caller.get("/v1/notifications")
    assert answer.status_code == 500
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert b"ZeroDivision" not in answer.content
    assert caller.secret.encode() not in answer.content


@pytest.mark.parametrize("kind", Kind)
def test_the_help_of_every_problem_leads_to_a_page(kind: Kind) -> None:
    page = Client().get(f"/problems/{kind}")
    assert page.status_code == 200
    assert problems.CURES[kind][0] in page.content.decode()


def test_a_callers_trace_is_continued() -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    answer = Client().get("/v1/nothing", headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
    assert answer.headers["X-Request-Id"] == trace


@pytest.mark.parametrize(
    "header", ["", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", "junk", "ff" * 40]
)
def test_a_trace_that_makes_no_sense_is_replaced(header: str) -> None:
    answer = Client().get("/v1/nothing", headers={"traceparent": header})
    assert len(answer.headers["X-Request-Id"]) == 32
    assert answer.headers["X-Request-Id"] not in header or not header


def test_a_path_with_nul_names_nothing(caller: Caller) -> None:
    """PostgreSQL refuses a query for a text with NUL, so no path may lead to such a query."""
    caller._client.raise_request_exception = False
    rules = [rule for rule in access.complete() if " /v1/" in rule.operation]
    operations = {tuple(rule.operation.split()[:2]) for rule in rules}
    failed = []
    for method, path in sorted(operations):
        for part in re.findall(r"\{\w+\}", path):
            hostile = path.replace(part, "a%00b")
            with transaction.atomic():
                status = caller.send(method, re.sub(r"\{\w+\}", "1", hostile), {}).status_code
                transaction.set_rollback(True)
            failed += [(method, hostile, status)] if status >= 500 else []
    assert failed == []
