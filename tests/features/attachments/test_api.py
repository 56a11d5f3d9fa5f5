"""Producers upload files and name them in notifications; a wrong file is refused at its place."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import replace
from typing import Any
from uuid import uuid4

import orjson
import pytest

from notifications.core import clock, conf
from notifications.core.models import Notification, Template
from notifications.core.rules.lane import Mode
from notifications.features.attachments.models import Attachment
from tests.api.conftest import Caller, MakeCaller, _fresh_state, caller, make_caller
from tests.api.operations import SENT
from tests.journey import outbox

__all__ = ["_fresh_state", "caller", "make_caller", "outbox"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("outbox")]
MAIL = {"channel": "email", "title": "Order", "body": "See the terms."}
PDF = b"%PDF-1.7\n" + bytes(range(256))


@pytest.fixture(autouse=True)
def people(caller: Caller) -> None:
    for name in ("maria", "omar"):
        address = {"channel": "email", "address": f"{name}@sandbox.example"}
        phone = {"channel": "sms", "address": "+15552000042"}
        contacts = [address, phone] if name == "maria" else [address]
        caller.send("PUT", f"/v1/recipients/{name}", {"contacts": contacts})


def _upload(caller: Caller, content: bytes = PDF, type_: str = "application/pdf") -> str:
    answer = caller.send("POST", "/v1/attachments", content, media_type=type_)
    assert answer.status_code in {200, 201}, answer.content
    return str(answer.json()["id"])


def _post(caller: Caller, *attachments: object, **fields: object) -> tuple[int, dict[str, object]]:
    answer = caller.post("/v1/notifications", {**SENT, "attachments": attachments, **fields})
    return answer.status_code, answer.json()


def test_a_content_is_stored_once_and_answered_with_its_digest(caller: Caller) -> None:
    first = caller.send("POST", "/v1/attachments", PDF, media_type="application/pdf")
    again = caller.send("POST", "/v1/attachments", PDF, media_type="application/pdf; x=1")
    assert (first.status_code, again.status_code) == (201, 200)
    told = first.json()
    assert {**again.json(), "kept_until": told["kept_until"]} == told
    assert told["sha256"] == hashlib.sha256(PDF).hexdigest()
    assert (told["type"], told["size"]) == ("application/pdf", len(PDF))
    [row] = Attachment.objects.all()
    assert bytes(row.content) == PDF


def test_producers_and_modes_do_not_see_the_files_of_others(
    caller: Caller, make_caller: MakeCaller
) -> None:
    file = _upload(caller)
    for other in (make_caller("another"), make_caller(mode=Mode.TEST)):
        other.send(
            "PUT",
            "/v1/recipients/maria",
            {"contacts": [{"channel": "email", "address": "maria@sandbox.example"}]},
        )
        status, told = _post(other, {"id": file, "name": "invoice.pdf"})
        assert (status, told["errors"][0]["pointer"]) == (422, "/attachments/0/id")  # type: ignore[index] # JSON
    assert _post(caller, {"id": file, "name": "invoice.pdf"})[0] == 202


def test_a_template_gets_no_file_of_another_producer(
    caller: Caller, make_caller: MakeCaller
) -> None:
    file, other = _upload(caller), make_caller("another")
    named = [{"id": file, "name": "a.pdf"}]
    body = {"template_id": "order", "texts": [MAIL], "attachments": named}
    [error] = other.post("/v1/templates", body).json()["errors"]
    assert error["pointer"] == "/attachments/0/id"
    digest = hashlib.sha256(PDF).hexdigest()
    facts = {"name": "a.pdf", "type": "application/pdf", "size": len(PDF), "digest": digest}
    settings = orjson.dumps({"attachments": [facts]}).decode()
    files = {"template.json": settings, "email.en.txt": "Order\n\nSee the terms.\n"}
    for each in (other, caller):  # the digest finds files of templates alone
        told = each.send("PUT", "/v1/templates/order/files", {"files": files}).json()
        assert "is not stored here" in told["detail"]
    assert not Template.objects.filter(template_id="order").exists()
    assert caller.post("/v1/templates", body).status_code == 201
    told = other.send("PUT", "/v1/templates/order/files", {"files": files}).json()
    assert (told["version"], told["effect"]) == (1, "unchanged")


@pytest.mark.parametrize(
    ("content", "type_", "status", "said"),
    [
        (b"MZ\x90", "application/x-msdownload", 415, "Content-Type must be one of"),
        (b"<html>", "text/html", 415, "Content-Type must be one of"),
        (b"MZ\x90\0", "application/pdf", 422, "begins with other bytes"),
        (b"RIFF\0\0\0\0WAVE", "image/webp", 422, "begins with other bytes"),
        (b"\xff\xfe", "text/plain", 422, "no text in UTF-8"),
        (b"", "application/pdf", 422, "empty"),
        (b"PK\x05\x06", "application/vnd.apple.pkpass", 422, "begins with other bytes"),
    ],
)
def test_a_wrong_file_is_refused(
    caller: Caller, content: bytes, type_: str, status: int, said: str
) -> None:
    answer = caller.send("POST", "/v1/attachments", content, media_type=type_)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert said in answer.json()["detail"]
    assert not Attachment.objects.exists()


def test_a_file_above_the_limit_is_refused_and_so_are_several_together(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = replace(conf.current(), attachments_max_bytes=2 * len(PDF))
    monkeypatch.setattr(conf, "current", lambda: changed)
    large = caller.send("POST", "/v1/attachments", PDF * 3, media_type="application/pdf")
    assert large.status_code == 413
    assert f"at most {2 * len(PDF)}" in large.json()["detail"]
    files = [
        {"id": _upload(caller, PDF + end), "name": f"{end.decode()}.pdf"} for end in (b"a", b"b")
    ]
    status, told = _post(caller, *files)
    assert (status, told["errors"][0]["pointer"]) == (422, "/attachments")  # type: ignore[index] # JSON
    assert not Notification.objects.exists()


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"id": str(uuid4())}, "/attachments/0/id"),
        ({"id": "x"}, "/attachments/0/id"),
        ({"name": "invoice.exe"}, "/attachments/0/name"),
        ({"name": "pdf"}, "/attachments/0/name"),
        ({"name": "../invoice.pdf"}, "/attachments/0/name"),
        ({"name": "a\r\nBcc: eve.pdf"}, "/attachments/0/name"),
        ({"name": "fdp.\u202efdp.exe.pdf"}, "/attachments/0/name"),
        ({"name": " .pdf"}, "/attachments/0/name"),
        ({"name": "a" * 117 + ".pdf"}, "/attachments/0/name"),
        ({"inline_id": "logo"}, "/attachments/0/inline_id"),
        ({"inline_id": "a>b"}, "/attachments/0/inline_id"),
        ({"size": 1}, "/attachments/0/size"),
    ],
)
def test_a_wrong_attachment_is_refused_at_its_place(
    caller: Caller, changed: dict[str, object], pointer: str
) -> None:
    file = {"id": _upload(caller), "name": "invoice.pdf", **changed}
    status, told = _post(caller, file)
    assert (status, told["errors"][0]["pointer"]) == (422, pointer)  # type: ignore[index] # JSON
    assert not Notification.objects.exists()


def test_two_attachments_of_a_notification_have_two_names(caller: Caller) -> None:
    file = {"id": _upload(caller), "name": "invoice.pdf"}
    status, told = _post(caller, file, file)
    assert (status, told["errors"][0]["pointer"]) == (422, "/attachments/1/name")  # type: ignore[index] # JSON
    status, told = _post(caller, *[{**file, "name": f"{n}.pdf"} for n in range(11)])
    assert (status, told["errors"][0]["pointer"]) == (422, "/attachments")  # type: ignore[index] # JSON


def test_channels_without_email_are_refused_and_others_are_warned_about(caller: Caller) -> None:
    file = {"id": _upload(caller), "name": "invoice.pdf"}
    status, told = _post(caller, file, channels=["sms"])
    assert (status, told["errors"][0]["pointer"]) == (422, "/attachments")  # type: ignore[index] # JSON
    status, told = _post(caller, file, channels=["email", "sms"], delivery="all")
    assert status == 202
    assert told["warnings"] == [
        {
            "pointer": "/attachments",
            "detail": "the message leaves without the attachments by sms",
        }
    ]


def test_a_notification_shows_its_files_and_a_repeat_with_others_is_refused(caller: Caller) -> None:
    file = {"id": _upload(caller), "name": "invoice.pdf"}
    status, told = _post(caller, file, idempotency_key="one")
    assert status == 202
    read = caller.get(f"/v1/notifications/{told['notification_id']}").json()
    assert read["attachments"] == [
        {
            "id": file["id"],
            "name": "invoice.pdf",
            "type": "application/pdf",
            "size": len(PDF),
            "sha256": hashlib.sha256(PDF).hexdigest(),
            "inline_id": None,
        }
    ]
    assert _post(caller, file, idempotency_key="one")[0] == 202
    other = {**file, "name": "other.pdf"}
    assert _post(caller, other, idempotency_key="one")[0] == 422
    assert Notification.objects.count() == 1


def test_a_use_keeps_the_file_as_long_as_the_notification(caller: Caller) -> None:
    file = {"id": _upload(caller), "name": "invoice.pdf"}
    now = clock.now()
    [row] = Attachment.objects.all()
    assert now < row.kept_until <= now + dt.timedelta(days=1, minutes=1)
    assert _post(caller, file)[0] == 202
    row.refresh_from_db()
    assert row.kept_until >= now + conf.current().retention + dt.timedelta(days=1)


def test_a_schedule_takes_no_attachments(caller: Caller) -> None:
    file = {"id": _upload(caller), "name": "invoice.pdf"}
    body = {"name": "n", "rrule": "FREQ=DAILY", "notification": {**SENT, "attachments": [file]}}
    answer = caller.post("/v1/schedules", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/notification/attachments"


def test_a_template_names_uploaded_files_and_those_of_another_version(caller: Caller) -> None:
    file = _upload(caller)
    body = {"template_id": "order", "texts": [MAIL, {"channel": "sms", "body": "Sent."}]}

    def draft(id_: str, name: str = "terms.pdf") -> dict[str, Any]:
        told = caller.post("/v1/templates", {**body, "attachments": [{"id": id_, "name": name}]})
        return dict(told.json())

    first = draft(file)
    [told] = first["attachments"]
    assert (told["name"], told["size"]) == ("terms.pdf", len(PDF))
    assert told["sha256"] == hashlib.sha256(PDF).hexdigest()
    second = draft(told["id"], "terms-2.pdf")
    assert (second["version"], second["attachments"][0]["id"]) == (2, told["id"])
    assert caller.get("/v1/templates/order/versions/1").json() == first
    for id_, name, place in ((str(uuid4()), "terms.pdf", "id"), (file, "terms.txt", "name")):
        [error] = draft(id_, name)["errors"]
        assert error["pointer"] == f"/attachments/0/{place}"
    preview = "/v1/templates/order/preview"
    assert (
        caller.post(preview, {"channel": "email"}).json()["attachments"][0]["name"] == "terms-2.pdf"
    )
    assert caller.post(preview, {"channel": "sms"}).json()["attachments"] == []
    assert caller.post("/v1/templates/order/publish", {"version": 1}).status_code == 200
    diff = caller.get("/v1/templates/order/diff?from=1&to=2").json()["diff"]
    assert '+      "name": "terms-2.pdf"' in diff
    status, answer = _post(
        caller, {"id": file, "name": "terms.pdf"}, template_id="order", content=None
    )
    assert (status, answer["errors"][0]["pointer"]) == (422, "/attachments/0/name")  # type: ignore[index] # JSON
    status, answer = _post(caller, template_id="order", content=None)
    assert status == 202
    one = caller.get(f"/v1/notifications/{answer['notification_id']}").json()
    assert one["attachments"] == [told]
    status, answer = _post(caller, {"id": told["id"], "name": "a.pdf"})
    assert (status, answer["errors"][0]["pointer"]) == (422, "/attachments/0/id")  # type: ignore[index] # JSON
