"""`POST /v1/recipient-imports` and the page of the admin."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from notifications.core.models import AuditEntry, Preference, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.preferences import Cell, CellChange
from notifications.core.store.postgres import preferences
from notifications.features.moving import recipient_uploads
from providers.contract import Channel
from tests.admin.confirming import shown
from tests.api.conftest import Caller, MakeCaller, _fresh_state, caller, make_caller
from tests.features.moving import exports
from tests.features.operators import *  # noqa: F403 - fixtures

__all__ = ["_fresh_state", "caller", "make_caller"]

pytestmark = pytest.mark.django_db
PATH = "/v1/recipient-imports"
PAGE = reverse("admin:moving_recipients")


def post(caller: Caller, text: str, query: str = "") -> tuple[int, dict[str, object]]:
    answer = caller.send("POST", f"{PATH}{query}", text.encode(), media_type="text/csv")
    return answer.status_code, answer.json()


def test_a_file_is_checked_imported_and_unchanged(caller: Caller) -> None:
    told = {"imported": 2, "unchanged": 0, "left_out": 0, "not_understood": 0, "faults": []}
    assert post(caller, exports.RECIPIENTS_CSV, "?dry_run=true") == (200, told)
    assert not Recipient.objects.exists()
    assert post(caller, exports.RECIPIENTS_CSV) == (200, told)
    assert post(caller, exports.RECIPIENTS_CSV) == (200, {**told, "imported": 0, "unchanged": 2})
    assert AuditEntry.objects.filter(operation="import_recipients").exists()
    assert Preference.objects.get().categories_left == []


def test_a_fault_refuses_the_file_unless_partial(caller: Caller) -> None:
    lines = "user_id,email\nu_1,a@example.com\nu_2,broken\n"
    status, problem = post(caller, lines)
    assert status == 422
    assert "line 3: email: " in str(problem["errors"])
    assert not Recipient.objects.exists()
    status, told = post(caller, lines, "?partial=true")
    assert (status, told["imported"], told["not_understood"]) == (200, 2, 1)


def test_columns_need_the_scope_of_their_part(make_caller: MakeCaller) -> None:
    poor = make_caller(scopes={"recipients:write"})
    assert post(poor, "user_id,locale\nu_1,de\n")[0] == 200
    assert post(poor, "user_id,email\nu_1,a@example.com\n")[0] == 403
    assert post(poor, "user_id,channels_off\nu_1,sms\n")[0] == 403


def test_a_test_key_imports_into_test_mode(make_caller: MakeCaller) -> None:
    assert post(make_caller(mode=Mode.TEST), "user_id\nu_1\n")[0] == 200
    assert Recipient.objects.get().mode == Mode.TEST


@pytest.mark.parametrize("text", ["", "email\na\n", 'user_id\n"u_1', "user_id,x\nu,1\n"])
def test_an_unusable_file_is_a_422(caller: Caller, text: str) -> None:
    assert post(caller, text)[0] == 422


def test_a_long_file_is_refused(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipient_uploads, "MAX_LINES", 1)
    status, problem = post(caller, exports.RECIPIENTS_CSV)
    assert status == 422
    assert "split the file" in str(problem)


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_lines_count_whatever_ends_them(
    end: str, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipient_uploads, "MAX_LINES", 2)
    lines = ["user_id", "u_1", "", "u_2"]
    assert post(caller, end.join([*lines, "u_3"]))[0] == 422
    assert not Recipient.objects.exists()
    assert post(caller, end.join(lines))[0] == 200


def test_a_file_with_too_many_devices_is_refused(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipient_uploads, "MAX_TOKENS", 2)
    assert post(caller, "user_id,fcm_token,apns_token\nu_1,a b,c\n")[0] == 422
    assert post(caller, "user_id,fcm_token,apns_token\nu_1,a,c\n")[0] == 200


def test_a_refused_file_imports_nothing_although_the_write_found_the_fault(caller: Caller) -> None:
    assert post(caller, "user_id,fcm_token\nowner,held\n")[0] == 200
    status, problem = post(caller, "user_id,fcm_token\nu_1,free\nu_2,held\n")
    assert status == 422
    assert "nothing was imported" in str(problem["detail"])
    assert Recipient.objects.get().user_id == "owner"


def test_a_known_user_id_that_no_new_recipient_gets_is_imported(caller: Caller) -> None:
    lines = "user_id,channels_off\nmar\u200bia,sms\n"
    status, problem = post(caller, lines)
    assert status == 422
    assert "line 2" in str(problem["errors"])
    assert "U+200B" in str(problem["errors"])
    known = Recipient.objects.create(user_id="mar\u200bia")
    assert post(caller, lines)[1]["imported"] == 1
    assert Preference.objects.get().recipient_id == known.pk


def test_a_choice_that_was_changed_after_an_import_is_told(caller: Caller, door: Client) -> None:
    lines = "user_id,channels_off\nu_1,sms\n"
    assert post(caller, lines)[1]["left_out"] == 0
    on = [CellChange(Cell("", Channel.SMS), on=True)]
    preferences.change(Recipient.objects.get(), {}, choices=on)
    told = post(caller, lines)[1]
    assert (told["imported"], told["unchanged"], told["left_out"]) == (0, 1, 1)
    assert "Left out: opt-out of an earlier import" in page(door, lines, "check")


def test_a_busy_process_answers_503(caller: Caller) -> None:
    held = [recipient_uploads._room.acquire(blocking=False) for _ in range(2)]
    try:
        assert post(caller, "user_id\nu_1\n")[0] == 503
    finally:
        for each in filter(None, held):
            assert each
            recipient_uploads._room.release()


def page(client: Client, text: str, do: str, **more: str) -> str:
    file = SimpleUploadedFile("r.csv", text.encode())
    answer = client.post(PAGE, {"mode": "1", "file": file, "do": do, **more})
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_checks_and_imports(door: Client) -> None:
    assert "Import recipients" in door.get(PAGE).content.decode()
    assert "Check: 2 would be imported" in page(door, exports.RECIPIENTS_CSV, "check")
    assert not Recipient.objects.exists()
    wrong = f"{exports.RECIPIENTS_CSV}u_3,broken,,,,,,,,\n"
    told = page(door, wrong, "check")
    assert "line 4: email" in told
    assert "An import would be refused" in told
    assert "Nothing was imported: 1 faults" in page(door, wrong, "import")
    assert not Recipient.objects.exists()
    assert "3 imported, 0 unchanged, 1 faults" in page(door, wrong, "import", is_partial="on")
    assert "names the columns" in page(door, "email\na@example.com\n", "import")


def test_a_file_other_than_the_checked_one_is_not_imported(door: Client) -> None:
    few, many = "user_id\nu_1\n", "user_id\nu_1\nu_2\nu_3\n"
    seen = shown(page(door, few, "check").encode())
    said = "This is not the file, or not the mode, of the check: check it."
    assert said in page(door, many, "import", **seen)
    assert said in page(door, few, "import", **(seen | {"mode": "2"}))
    kept = shown(page(door, many, "import", **seen).encode())
    assert said in page(door, many, "import", **kept), "a second click imports no unchecked file"
    assert not Recipient.objects.exists()
    assert "1 imported" in page(door, few, "import", **seen)
    assert "2 imported" in page(door, many, "import"), "without a check there is no other file"


def test_the_page_needs_the_rights_of_the_columns(viewer: User, window: Client) -> None:
    assert window.get(PAGE).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="change_recipient"))
    assert window.get(PAGE).status_code == 200
    assert "1 imported" in page(window, "user_id,locale\nu_1,de\n", "import")
    file = SimpleUploadedFile("r.csv", b"user_id,email\nu_1,a@example.com\n")
    answer = window.post(PAGE, {"mode": "1", "file": file, "do": "import"})
    assert answer.status_code == 403
