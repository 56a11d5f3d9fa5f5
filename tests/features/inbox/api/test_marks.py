"""Marks on messages of inboxes, over HTTP."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from notifications.core import clock
from notifications.core.models import Recipient
from notifications.core.rules.lane import Mode
from tests.api.conftest import Caller, MakeCaller
from tests.features.inbox.inboxes import add_message, add_messages

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

INBOX = "/v1/inbox/maria"
DAY = dt.timedelta(days=1)
MARKS = ("seen", "read", "unread", "archive", "unarchive", "unsnooze")


def _shown(caller: Caller, **query: str) -> dict[str, dict[str, Any]]:
    results = caller.get(INBOX, **query).json()["results"]
    return {each["message_id"]: each for each in results}


def _version(answer: Reply) -> int:
    assert answer.status_code == 200, answer.content
    version: int = answer.json()["version"]
    return version


def test_a_message_goes_through_its_marks(caller: Caller, maria: Recipient) -> None:
    message = str(add_message(maria.pk))
    path = f"{INBOX}/{message}"
    seen = caller.post(f"{path}/seen").json()
    assert seen["counts"] == caller.get(INBOX).json()["counts"]
    assert (seen["counts"]["unread"], seen["counts"]["unseen"]) == (1, 0)
    assert caller.post(f"{path}/read").json()["counts"]["unread"] == 0
    assert _shown(caller)[message]["read_at"] is not None
    assert caller.post(f"{path}/unread").json()["counts"]["unread"] == 1
    assert _shown(caller)[message]["seen_at"] is not None
    assert caller.post(f"{path}/archive").json()["counts"]["total"] == 0
    assert message in _shown(caller, tab="archived")
    assert caller.post(f"{path}/unarchive").json()["counts"]["total"] == 1
    until = (clock.now() + DAY).isoformat()
    assert caller.post(f"{path}/snooze", {"until": until}).json()["counts"]["total"] == 0
    assert message in _shown(caller, tab="snoozed")
    assert caller.post(f"{path}/unsnooze").json()["counts"]["total"] == 1
    deleted = caller.send("DELETE", path, b"")
    assert deleted.json()["counts"]["total"] == 0
    assert deleted.json()["version"] == caller.get(INBOX).json()["version"]
    assert _shown(caller) == _shown(caller, tab="archived") == {}


@pytest.mark.parametrize("mark", MARKS)
def test_a_repeated_mark_changes_nothing(caller: Caller, maria: Recipient, mark: str) -> None:
    path = f"{INBOX}/{add_message(maria.pk)}/{mark}"
    first = _version(caller.post(path))
    assert _version(caller.post(path)) == first


@pytest.mark.parametrize("mark", [*MARKS, "snooze", ""])
def test_a_message_of_another_inbox_is_not_found(
    caller: Caller, maria: Recipient, mark: str
) -> None:
    ana = Recipient.objects.create(mode=maria.mode, user_id="ana")
    body = {"until": (clock.now() + DAY).isoformat()} if mark == "snooze" else {}
    for message in (add_message(ana.pk), uuid4(), "no-id"):
        path = f"{INBOX}/{message}/{mark}".rstrip("/")
        answer = caller.send("POST" if mark else "DELETE", path, body)
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert caller.get("/v1/inbox/ana").json()["version"] == 1, "nothing has changed"


def test_a_repeated_delete_has_the_answer_of_the_first(caller: Caller, maria: Recipient) -> None:
    path = f"{INBOX}/{add_message(maria.pk)}"
    first = caller.send("DELETE", path, b"")
    assert first.status_code == 200
    second = caller.send("DELETE", path, b"")
    assert (second.status_code, second.json()) == (200, first.json())
    Recipient.objects.create(mode=maria.mode, user_id="ana")
    elsewhere = path.replace(INBOX, "/v1/inbox/ana")
    assert caller.send("DELETE", elsewhere, b"").status_code == 404
    assert caller.post(f"{path}/read").status_code == 404


@pytest.mark.parametrize("ahead", [-DAY, dt.timedelta(0), 31 * DAY])
def test_a_snooze_ends_within_30_days(
    caller: Caller, maria: Recipient, ahead: dt.timedelta
) -> None:
    path = f"{INBOX}/{add_message(maria.pk)}/snooze"
    answer = caller.post(path, {"until": (clock.now() + ahead).isoformat()})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/until"
    assert caller.post(path, {}).status_code == 422
    assert caller.post(path, {"until": (clock.now() + 29 * DAY).isoformat()}).status_code == 200


def test_a_second_snooze_has_another_end(caller: Caller, maria: Recipient) -> None:
    message = add_message(maria.pk)
    for days in (2, 1):
        until = (clock.now() + days * DAY).replace(microsecond=0)
        told = caller.post(f"{INBOX}/{message}/snooze", {"until": until.isoformat()})
        assert told.status_code == 200
        shown = _shown(caller, tab="snoozed")[str(message)]["snoozed_until"]
        assert dt.datetime.fromisoformat(shown) == until


@pytest.mark.parametrize("mark", ["seen", "read", "archive"])
def test_several_messages_are_marked_and_unknown_ids_are_named(
    caller: Caller, maria: Recipient, mark: str
) -> None:
    ana = Recipient.objects.create(mode=maria.mode, user_id="ana")
    mine, others = add_messages(maria.pk, 2), [add_message(ana.pk), uuid4()]
    given = [*others, *mine, *others]
    answer = caller.post(f"{INBOX}/{mark}", {"message_ids": [str(each) for each in given]})
    assert answer.status_code == 200
    told = answer.json()
    assert told["unknown"] == [str(each) for each in others]
    assert told["counts"]["unseen"] == 0
    assert caller.get("/v1/inbox/ana").json()["counts"]["unseen"] == 1
    again = caller.post(f"{INBOX}/{mark}", {"message_ids": [str(each) for each in mine]})
    assert _version(again) == told["version"]


@pytest.mark.parametrize(
    "ids", [[], ["x"], [str(UUID(int=each)) for each in range(201)], None, "x", [1]]
)
def test_a_list_has_1_to_200_ids(caller: Caller, maria: Recipient, ids: Any) -> None:  # noqa: ANN401 - any JSON value
    del maria
    assert caller.post(f"{INBOX}/read", {"message_ids": ids}).status_code == 422


def test_a_message_that_arrived_after_the_page_stays_unread(
    caller: Caller, maria: Recipient
) -> None:
    message, _ = add_messages(maria.pk, 2)
    page = caller.get(INBOX).json()
    caller.post(f"{INBOX}/{message}/seen")  # gives the message a newer version
    late = add_message(maria.pk)
    told = caller.post(f"{INBOX}/read-all", {"version": page["version"]}).json()
    assert told["counts"]["unread"] == 1
    assert list(_shown(caller, unread="true")) == [str(late)]
    assert caller.post(f"{INBOX}/read-all").json()["counts"]["unread"] == 0


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("seen-all", {"unread": 2, "unseen": 0, "total": 2}),
        ("read-all", {"unread": 0, "unseen": 0, "total": 2}),
        ("archive-all", {"unread": 0, "unseen": 0, "total": 0}),
    ],
)
def test_all_messages_of_a_category_or_of_the_inbox_are_marked(
    caller: Caller, maria: Recipient, path: str, left: dict[str, int]
) -> None:
    for category in ("orders", "offers"):
        add_message(maria.pk, category=category)
    one = caller.post(f"{INBOX}/{path}", {"category": "offers"}).json()["counts"]
    assert one["categories"]["orders"] == {"unread": 1, "unseen": 1}
    told = caller.post(f"{INBOX}/{path}").json()["counts"]
    assert {name: told[name] for name in left} == left


def test_a_pressed_button_reads_the_message(caller: Caller, maria: Recipient) -> None:
    message = add_message(maria.pk, actions=[{"id": "accept", "label": "Accept"}])
    first = caller.post(f"{INBOX}/{message}/actions/accept")
    assert first.json()["counts"]["unread"] == 0
    assert _version(caller.post(f"{INBOX}/{message}/actions/accept")) == _version(first)
    for path in (f"{message}/actions/decline", f"{uuid4()}/actions/accept"):
        answer = caller.post(f"{INBOX}/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_a_mark_in_an_empty_inbox_changes_nothing(caller: Caller, maria: Recipient) -> None:
    del maria
    for path in ("seen-all", "read-all", "archive-all"):
        assert _version(caller.post(f"{INBOX}/{path}")) == 0
    unknown = str(uuid4())
    told = caller.post(f"{INBOX}/read", {"message_ids": [unknown]}).json()
    assert (told["unknown"], told["version"]) == ([unknown], 0)


def test_a_mark_needs_the_scope_and_the_recipient(
    make_caller: MakeCaller, maria: Recipient
) -> None:
    message = add_message(maria.pk)
    reader, writer = make_caller(scopes=["inbox:read"]), make_caller(scopes=["inbox:write"])
    for path in (f"{INBOX}/{message}/read", f"{INBOX}/read-all"):
        assert reader.post(path).status_code == 403
        assert writer.post(path.replace("maria", "nobody")).status_code == 404
        assert writer.post(path).status_code == 200
    tester = make_caller(mode=Mode.TEST)
    assert tester.post(f"{INBOX}/read-all").status_code == 404


def test_marks_cost_the_producer(make_caller: MakeCaller, maria: Recipient) -> None:
    caller = make_caller("slow", rate_per_second=1, rate_burst=2)
    message = add_message(maria.pk)
    statuses = [caller.post(f"{INBOX}/{message}/read").status_code for _ in range(4)]
    assert statuses[:2] == [200, 200]
    assert 429 in statuses[2:]
    assert caller.get(INBOX).status_code == 200


def test_a_body_above_the_limit_is_refused(caller: Caller, maria: Recipient) -> None:
    del maria
    answer = caller.send("POST", f"{INBOX}/read", b" " * 65_537)
    assert answer.status_code == 413
