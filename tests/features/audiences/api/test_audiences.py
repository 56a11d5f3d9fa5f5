"""Conditions on attributes, saved audiences, snapshots, uploads and estimates over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from notifications.core import clock
from notifications.core.models import Audience, Recipient, RecipientList, RecipientListMember
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListState
from notifications.core.store.postgres import erasure
from notifications.features.audiences import sweep
from notifications.features.audiences.rows import members
from notifications.features.audiences.rules.parse import parse
from tests.api.conftest import Caller, MakeCaller
from tests.interleaving import before

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

UPLOADS = "/v1/audience-uploads"


@pytest.fixture(autouse=True)
def _people(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    Recipient.objects.bulk_create(Recipient(user_id=f"u_{n}") for n in range(5))


def define(caller: Caller, **kinds: str) -> None:
    for name, kind in kinds.items():
        assert caller.send("PUT", f"/v1/attributes/{name}", {"kind": kind}).status_code == 201


def size(caller: Caller, audience: Any) -> int:  # noqa: ANN401 - JSON
    told = caller.post("/v1/audiences/estimate", {"audience": audience})
    assert told.status_code == 200, told.content
    assert told.json()["is_exact"]
    return int(told.json()["count"])


def upload(caller: Caller, text: str | bytes, media_type: str = "text/csv") -> Reply:
    raw = text.encode() if isinstance(text, str) else text
    return caller.send("POST", UPLOADS, raw, media_type=media_type)


def ids_of(audience: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    found = members.page(parse(audience), mode=Mode.LIVE, after=0, until=2**62, limit=1_000)
    names = dict(Recipient.objects.values_list("pk", "user_id"))
    return {names[each.recipient_id]: each.variables for each in found}


def test_attributes_are_compared(caller: Caller) -> None:
    define(caller, plan="text", tags="list")
    values = {"plan": "pro", "tags": ["a"]}
    assert caller.send("PUT", "/v1/recipients/u_1", {"attributes": values}).status_code == 200
    assert size(caller, {"attribute": "plan", "is": "pro"}) == 1
    assert size(caller, {"not": {"attribute": "tags", "contains": "a"}}) == 4


def test_a_second_upload_of_a_producer_is_refused_while_the_first_loads(
    caller: Caller, make_caller: MakeCaller
) -> None:
    assert upload(caller, "user_id\nu_1\n").status_code == 201
    RecipientList.objects.update(state=ListState.LOADING)  # as before its last chunk
    told = upload(make_caller(), "user_id\nu_1\n")  # another key of the producer
    assert (told.status_code, "Retry-After" in told) == (503, True)
    assert upload(make_caller("billing"), "user_id\nu_1\n").status_code == 201


def test_an_unknown_attribute_of_an_audience_is_refused_with_a_pointer(caller: Caller) -> None:
    define(caller, plan="text")
    told = caller.post(
        "/v1/audiences/estimate", {"audience": {"and": [{"attribute": "plam", "is": "a"}]}}
    )
    assert told.status_code == 422
    assert told.json()["errors"][0]["pointer"] == "/audience/and/0/attribute"


def test_a_csv_file_becomes_an_audience_with_variables(caller: Caller) -> None:
    text = (
        "\ufeffuser_id,code\r\n"
        'u_1,"A, ""B""\nC"\r\n'
        "\r\n"
        "u_2,X\r\n"
        "u_1,twice\r\n"
        "gone,Y\r\n"
        ",Z\r\n"
        "u_3,1,2\r\n"
    )
    told = upload(caller, text)
    assert told.status_code == 201, told.content
    found = told.json()
    counts = {name: found[name] for name in ("lines", "members", "duplicates", "unknown", "state")}
    assert counts == {"lines": 6, "members": 2, "duplicates": 1, "unknown": 1, "state": "ready"}
    assert found["fault_counts"] == {"unknown": 1, "user_id": 1, "variables": 1}
    assert [(each["line"], each["kind"]) for each in found["faults"]] == [
        (7, "unknown"),
        (8, "user_id"),
        (9, "variables"),
    ]
    assert ids_of({"upload": found["id"]}) == {
        "u_1": {"code": 'A, "B"\nC'},
        "u_2": {"code": "X"},
    }
    assert size(caller, {"and": [{"upload": found["id"]}, {"not": {"user_ids": ["u_2"]}}]}) == 1


def test_an_ndjson_file_becomes_an_audience_with_variables(caller: Caller) -> None:
    text = (
        b'{"user_id": "u_1", "n": 3}\n[1]\n{"user_id": "u_2"}\n{"user_id"\n'
        b'{"user_id": "u_3", "a b": 1}\n{"user_id": "\xff"}\n{"user_id": "u_4", "x": "\\u0000"}'
    )
    found = upload(caller, text, "application/x-ndjson").json()
    assert ids_of({"upload": found["id"]}) == {"u_1": {"n": 3}, "u_2": None}
    assert [each["line"] for each in found["faults"]] == [2, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name\nu_1\n",
        "user_id,user_id\nu_1,u_1\n",
        "user_id,a b\nu_1,x\n",
        "user_id\n" + "u_1" * 100_000,
        'user_id,a\nu_1,"' + "x\n" * 200_000,
        "user_id," + ",".join(f"c{n}" for n in range(64)) + "\n",
    ],
)
def test_a_file_that_cannot_be_used_leaves_no_audience(caller: Caller, text: str) -> None:
    told = upload(caller, text)
    assert told.status_code == 422, told.content
    rows = RecipientList.objects.filter(state="ready")
    assert not rows.exists()
    for row in RecipientList.objects.all():
        refused = caller.post("/v1/audiences/estimate", {"audience": {"upload": row.pk}})
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == "/audience/upload"


def test_a_deleted_upload_is_an_error_in_an_audience(
    caller: Caller, make_caller: MakeCaller
) -> None:
    upload_id = upload(caller, "user_id\nu_1\nu_2\n").json()["id"]
    other = make_caller(mode=Mode.TEST)
    assert other.get(f"{UPLOADS}/{upload_id}").status_code == 404
    assert caller.get(UPLOADS).json()["results"][0]["id"] == upload_id
    assert caller.send("DELETE", f"{UPLOADS}/{upload_id}").status_code == 204
    told = caller.post("/v1/audiences/estimate", {"audience": {"not": {"upload": upload_id}}})
    assert told.status_code == 422
    sweep.run_once(now=clock.now(), limit=10)
    assert RecipientListMember.objects.count() == 0


def test_an_erased_recipient_leaves_the_uploads(caller: Caller) -> None:
    upload(caller, "user_id,code\nu_1,x\nu_2,y\n")
    erasure.begin(mode=Mode.LIVE, user_id="u_1", requested_by="test", by="test")
    assert RecipientListMember.objects.count() == 1


def test_audiences_are_saved_combined_and_protected(caller: Caller) -> None:
    low = {"name": "low", "audience": {"user_ids": ["u_0", "u_1"]}}
    first = caller.post("/v1/audiences", low).json()
    assert first["words"] == "2 named recipients"
    assert caller.post("/v1/audiences", low).status_code == 422
    rest = {"name": "rest", "audience": {"not": {"audience": "low"}}}
    second = caller.post("/v1/audiences", rest).json()
    assert size(caller, {"audience": "rest"}) == 3
    path = f"/v1/audiences/{first['id']}"
    circle = {"name": "low", "audience": {"audience": "rest"}}
    assert caller.send("PUT", path, circle).status_code == 422
    assert size(caller, {"audience": "rest"}) == 3
    assert caller.send("PUT", path, {**low, "name": "other"}).status_code == 409
    assert caller.send("DELETE", path).status_code == 409
    changed = {"name": "low", "audience": {"user_ids": ["u_0"]}}
    assert caller.send("PUT", path, changed).status_code == 200
    assert size(caller, {"audience": "rest"}) == 4
    assert caller.send("DELETE", f"/v1/audiences/{second['id']}").status_code == 204
    assert caller.send("DELETE", path).status_code == 204
    assert caller.get("/v1/audiences").json()["results"] == []


def test_a_snapshot_keeps_its_recipients(caller: Caller) -> None:
    caller.send("PUT", "/v1/topics/news/subscribers", {"user_ids": ["u_0", "u_1"]})
    told = caller.post("/v1/audience-snapshots", {"audience": {"topic": "news"}})
    assert told.status_code == 202
    path = f"/v1/audience-snapshots/{told.json()['id']}"
    snapshot = {"snapshot": told.json()["id"]}
    assert caller.post("/v1/audiences/estimate", {"audience": snapshot}).status_code == 422
    sweep.run_once(now=clock.now(), limit=10)
    assert caller.get(path).json()["state"] == "ready"
    caller.send("PUT", "/v1/topics/news/subscribers", {"user_ids": ["u_4"]})
    assert ids_of(snapshot).keys() == {"u_0", "u_1"}
    assert size(caller, {"and": [{"topic": "news"}, {"not": snapshot}]}) == 1
    assert caller.send("DELETE", path).status_code == 204


def test_an_audience_may_not_be_read_without_the_scope(make_caller: MakeCaller) -> None:
    reader = make_caller(scopes={"campaigns:read"})
    assert size(reader, {"everyone": True}) == 5
    body = {"name": "all", "audience": {"everyone": True}}
    assert reader.post("/v1/audiences", body).status_code == 403
    assert upload(reader, "user_id\nu_1\n").status_code == 403


@pytest.mark.django_db(transaction=True)
def test_a_replacement_beside_a_deletion_creates_no_audience_again(caller: Caller) -> None:
    wanted = {"name": "All", "audience": {"everyone": True}}
    made = caller.post("/v1/audiences", wanted).json()
    with before(('UPDATE "audience"', Audience.objects.filter(pk=made["id"]).delete)):
        status = caller.send("PUT", f"/v1/audiences/{made['id']}", wanted).status_code
    assert status == 200  # before the deletion
    assert not Audience.objects.exists()
