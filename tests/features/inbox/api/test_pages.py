"""Pages, counts and changes of inboxes, over HTTP."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from notifications.core import conf
from notifications.core.models import Recipient, TopicText
from notifications.core.rules.lane import Mode
from notifications.core.store.cached import recipient_ids, topic_texts
from notifications.core.store.postgres import erasure
from notifications.core.store.recipient_tokens import revocations
from notifications.features.inbox.rows import writes
from notifications.features.inbox.rules.words import InboxAction
from tests.api.conftest import Caller, MakeCaller
from tests.features.inbox.inboxes import add_message, add_messages

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

INBOX = "/v1/inbox/maria"
COUNTS = f"{INBOX}/unread-count"
CHANGES = f"{INBOX}/changes"


def _ids(answer: Reply) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [each["message_id"] for each in answer.json()["results"]]


def _asked_with(caller: Caller, path: str, tag: str) -> Reply:
    return caller.send("GET", path, b"", If_None_Match=tag)


def test_a_recipient_without_a_message_has_an_empty_page(caller: Caller, maria: Recipient) -> None:
    del maria
    answer = caller.get(INBOX)
    assert answer.status_code == 200
    assert answer.json() == {
        "results": [],
        "next": None,
        "counts": {"unread": 0, "unseen": 0, "total": 0, "categories": {}},
        "version": 0,
        "category_names": {},
        "brand": None,
        "stream_url": None,
    }


def test_an_unknown_recipient_is_not_found(caller: Caller) -> None:
    for path in (INBOX, COUNTS, f"{CHANGES}?since=0", f"{INBOX}/stream", "/v1/inbox/me"):
        answer = caller.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found"), path


def test_a_message_has_all_its_fields(caller: Caller, maria: Recipient) -> None:
    message = add_message(
        maria.pk,
        url="https://shop.example/orders/1",
        actions=[
            {"id": "track", "label": "Track", "url": "https://shop.example/t"},
            {"id": "ok", "label": "OK"},
        ],
        data={"order": 1},
    )
    [told] = caller.get(INBOX).json()["results"]
    created, notification = told.pop("created_at"), told.pop("notification_id")
    assert created.endswith("Z")
    assert len(notification) == 36
    assert told == {
        "message_id": str(message),
        "type": "ORDER_SHIPPED",
        "category": "orders",
        "title": "On its way",
        "body": "Soon",
        "url": "https://shop.example/orders/1",
        "image_url": None,
        "actions": [
            {"id": "track", "label": "Track", "url": "https://shop.example/t"},
            {"id": "ok", "label": "OK", "url": None},
        ],
        "data": {"order": 1},
        "group": None,
        "expires_at": None,
        "seen_at": None,
        "read_at": None,
        "archived_at": None,
        "snoozed_until": None,
        "added_version": 1,
        "version": 1,
    }


def test_pages_stay_as_they_are_while_messages_arrive(caller: Caller, maria: Recipient) -> None:
    wanted = [str(each) for each in add_messages(maria.pk, 5)]
    first = caller.get(INBOX, limit=2)
    assert 'rel="next"' in first.headers["Link"]
    add_messages(maria.pk, 2)
    second = caller.get(INBOX, limit=2, cursor=first.json()["next"])
    add_messages(maria.pk, 1)
    third = caller.get(INBOX, limit=2, cursor=second.json()["next"])
    assert [*_ids(first), *_ids(second), *_ids(third)] == wanted
    assert third.json()["next"] is None
    assert "Link" not in third.headers


def test_the_filters_choose_messages(caller: Caller, maria: Recipient) -> None:
    offer, read, archived = (
        add_message(maria.pk, category=category) for category in ("offers", "orders", "orders")
    )
    group = [add_message(maria.pk, collapse_key="likes") for _ in range(2)]
    writes.mark(maria.pk, InboxAction.READ, ids=[read])
    writes.mark(maria.pk, InboxAction.ARCHIVE, ids=[archived])
    assert _ids(caller.get(INBOX)) == [str(each) for each in (group[1], read, offer)]
    assert _ids(caller.get(INBOX, unread="true")) == [str(each) for each in (group[1], offer)]
    assert _ids(caller.get(INBOX, category="offers")) == [str(offer)]
    assert _ids(caller.get(INBOX, tab="archived")) == [str(archived)]
    assert _ids(caller.get(INBOX, tab="snoozed")) == []
    shown = caller.get(INBOX).json()["results"][0]
    assert shown["group"] == {"key": "likes", "size": 2}
    members = _ids(caller.get(INBOX, group="likes"))
    assert members == [str(each) for each in reversed(group)]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"limit": 0}, "/limit"),
        ({"limit": 101}, "/limit"),
        ({"cursor": "x"}, "/cursor"),
        ({"cursor": "1.x"}, "/cursor"),
        ({"cursor": f"{2**63}.00000000-0000-0000-0000-000000000000"}, "/cursor"),
        ({"tab": "spam"}, "/tab"),
        ({"unread": "maybe"}, "/unread"),
        ({"category": ""}, "/category"),
        ({"page": 2}, "/page"),
    ],
)
def test_a_wrong_parameter_is_refused(
    caller: Caller, maria: Recipient, query: dict[str, Any], pointer: str
) -> None:
    del maria
    answer = caller.get(INBOX, **query)
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize("path", [INBOX, f"{INBOX}?tab=archived&limit=3", COUNTS])
def test_an_unchanged_inbox_is_a_304(caller: Caller, maria: Recipient, path: str) -> None:
    empty = caller.get(path).headers["ETag"]
    assert _asked_with(caller, path, empty).status_code == 304
    message = add_message(maria.pk)
    changed = _asked_with(caller, path, empty)
    assert changed.status_code == 200
    tag = changed.headers["ETag"]
    same = _asked_with(caller, path, f'"other", {tag}')
    assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", tag)
    assert same.headers["Cache-Control"] == "private, no-cache"
    writes.mark(maria.pk, InboxAction.READ, ids=[message])
    assert _asked_with(caller, path, tag).status_code == 200


def test_the_counts_are_those_of_the_page(caller: Caller, maria: Recipient) -> None:
    message, _ = add_messages(maria.pk, 2)
    add_message(maria.pk, category="offers")
    writes.mark(maria.pk, InboxAction.SEEN, ids=[message])
    counts = caller.get(COUNTS).json()
    assert counts == {
        "unread": 3,
        "unseen": 2,
        "total": 3,
        "categories": {
            "offers": {"unread": 1, "unseen": 1},
            "orders": {"unread": 2, "unseen": 1},
        },
        "version": 4,
    }
    page = caller.get(INBOX).json()
    assert page["counts"] | {"version": page["version"]} == counts


def test_a_poll_gets_each_change(caller: Caller, maria: Recipient) -> None:
    first, second = add_messages(maria.pk, 2)
    page = caller.get(INBOX).json()
    nothing = caller.get(CHANGES, since=page["version"]).json()
    assert nothing == {
        "version": page["version"],
        "results": [],
        "removed": [],
        "counts": page["counts"],
        "reset": False,
    }
    third = add_message(maria.pk)
    writes.mark(maria.pk, InboxAction.READ, ids=[second])
    writes.mark(maria.pk, InboxAction.DELETE, ids=[first])
    told = caller.get(CHANGES, since=page["version"]).json()
    assert {each["message_id"] for each in told["results"]} == {str(second), str(third)}
    assert told["removed"] == [str(first)]
    assert (told["counts"]["unread"], told["reset"]) == (1, False)
    assert told["version"] == caller.get(INBOX).json()["version"]


@pytest.mark.parametrize("since", [7, 2**63 - 1])
def test_a_version_that_is_not_reached_resets_the_caller(
    caller: Caller, maria: Recipient, since: int
) -> None:
    add_message(maria.pk)
    told = caller.get(CHANGES, since=since).json()
    assert (told["reset"], told["version"], told["results"]) == (True, 1, [])
    assert told["counts"]["unread"] == 1


def test_more_changes_than_fit_reset_the_caller(caller: Caller, maria: Recipient) -> None:
    add_messages(maria.pk, 201)
    assert caller.get(CHANGES, since=1).json()["reset"] is False
    assert caller.get(CHANGES, since=0).json()["reset"] is True


@pytest.mark.parametrize("query", [{}, {"since": -1}, {"since": 2**63}, {"since": "now"}])
def test_changes_need_a_version(caller: Caller, maria: Recipient, query: dict[str, Any]) -> None:
    del maria
    assert caller.get(CHANGES, **query).status_code == 422


def test_a_test_key_sees_the_inbox_of_test_mode(make_caller: MakeCaller, maria: Recipient) -> None:
    add_message(maria.pk)
    tester = make_caller(mode=Mode.TEST)
    assert tester.get(INBOX).status_code == 404
    tester.send("PUT", "/v1/recipients/maria", {"locale": "en"})
    assert tester.get(INBOX).json()["version"] == 0


def test_an_erased_recipient_has_no_inbox_at_once(caller: Caller, maria: Recipient) -> None:
    add_message(maria.pk)
    tag = caller.get(INBOX).headers["ETag"]
    writes.erase(maria.pk)
    Recipient.objects.filter(pk=maria.pk).delete()
    assert caller.get(INBOX).status_code == 404
    assert recipient_ids.find(mode=Mode.LIVE, user_id="maria") is None
    caller.send("PUT", "/v1/recipients/maria", {"locale": "en"})
    again = Recipient.objects.get(user_id="maria")
    assert caller.get(INBOX).json()["version"] == 0
    add_message(again.pk)
    assert _asked_with(caller, INBOX, tag).status_code == 200, "version 1 of another inbox"


def test_a_recipient_created_again_is_found_behind_a_kept_id(
    caller: Caller, maria: Recipient
) -> None:
    add_message(maria.pk)
    assert len(_ids(caller.get(INBOX))) == 1
    writes.erase(maria.pk)
    Recipient.objects.filter(pk=maria.pk).delete()
    again = Recipient.objects.create(mode=Mode.LIVE, user_id="maria")
    message = add_message(again.pk)
    for path in (INBOX, f"{INBOX}?unread=true"):
        assert _ids(caller.get(path)) == [str(message)]


def test_a_key_reads_nothing_of_an_erased_recipient_before_the_job_has_run(
    caller: Caller, maria: Recipient
) -> None:
    add_message(maria.pk)
    assert len(_ids(caller.get(INBOX))) == 1
    assert caller.send("DELETE", "/v1/recipients/maria").status_code == 202
    assert caller.get(INBOX).status_code == 404
    caller.send("PUT", "/v1/recipients/maria", {"locale": "en"})
    assert _ids(caller.get(INBOX)) == []


def test_a_key_reads_nothing_of_a_recipient_that_another_process_erased(
    caller: Caller, maria: Recipient
) -> None:
    add_message(maria.pk)
    assert len(_ids(caller.get(INBOX))) == 1
    erasure.begin(mode=Mode.LIVE, user_id="maria", requested_by="x", by="another process")
    revocations.forget()  # a second later
    assert caller.get(INBOX).status_code == 404


def test_the_token_of_an_erased_recipient_does_not_reach_the_next_one_behind_a_kept_id(
    caller: Caller, maria: Recipient
) -> None:
    app = _token(caller, "maria", "inbox:read", "inbox:write")
    assert _ids(app.get("/v1/inbox/me")) == []
    erasure.begin(mode=Mode.LIVE, user_id="maria", requested_by="x", by="another process")
    again = Recipient.objects.create(mode=Mode.LIVE, user_id="maria")
    message = add_message(again.pk)
    recipient_ids.find(mode=Mode.LIVE, user_id="maria")  # the kept id is of the erased recipient
    assert maria.pk != again.pk
    assert app.get("/v1/inbox/me").status_code == 401
    recipient_ids.forget()
    assert app.delete(f"/v1/inbox/me/{message}").status_code == 401
    assert _ids(caller.get(INBOX)) == [str(message)]


def test_the_web_process_names_the_url_of_the_stream(
    caller: Caller, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    del maria
    answer = caller.get(f"{INBOX}/stream")
    assert (answer.status_code, answer.json()["code"]) == (421, "misdirected")
    assert "/v1/inbox/maria/changes" in answer.json()["detail"]
    live = dataclasses.replace(conf.current(), live_url="https://live.example")
    monkeypatch.setattr(conf, "current", lambda: live)
    url = "https://live.example/v1/inbox/maria/stream"
    assert url in caller.get(f"{INBOX}/stream").json()["detail"]
    assert caller.get(INBOX).json()["stream_url"] == url


def test_a_read_of_the_inbox_needs_the_scope(make_caller: MakeCaller, maria: Recipient) -> None:
    del maria
    writer = make_caller(scopes=["inbox:write"])
    for path in (INBOX, COUNTS, f"{CHANGES}?since=0", f"{INBOX}/stream"):
        answer = writer.get(path)
        assert answer.status_code == 403
        assert "inbox:read" in answer.json()["detail"]


def _token(caller: Caller, user_id: str, *scopes: str) -> Client:
    answer = caller.post(f"/v1/recipients/{user_id}/client-tokens", {"scopes": list(scopes)})
    assert answer.status_code == 201, answer.content
    return Client(headers={"Authorization": f"Bearer {answer.json()['token']}"})


def test_a_token_reads_and_marks_the_inbox_of_its_recipient(
    caller: Caller, maria: Recipient
) -> None:
    ana = Recipient.objects.create(mode=maria.mode, user_id="ana")
    message, of_ana = add_message(maria.pk), add_message(ana.pk)
    app = _token(caller, "maria", "inbox:read", "inbox:write")
    for name in ("me", "maria"):
        answer = app.get(f"/v1/inbox/{name}")
        assert _ids(answer) == [str(message)]
        unchanged = app.get(f"/v1/inbox/{name}", headers={"If-None-Match": answer.headers["ETag"]})
        assert unchanged.status_code == 304
    marked = app.post(f"/v1/inbox/me/{message}/read", content_type="application/json")
    assert marked.status_code == 200, marked.content
    assert marked.json()["counts"]["unread"] == 0
    assert (
        app.post(f"/v1/inbox/me/{of_ana}/read", content_type="application/json").status_code == 404
    )
    assert app.get("/v1/inbox/ana").status_code == 403
    reader = _token(caller, "maria", "inbox:read")
    assert reader.get("/v1/inbox/me/changes?since=0").status_code == 200
    assert reader.post("/v1/inbox/me/read-all", content_type="application/json").status_code == 403


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("ar", {"orders": "الطلبات"}),
        ("de-CH,de;q=0.9", {"orders": "Bestellungen"}),
        ("fr", {"orders": "Orders"}),
        ("*;q=0.1 x", {"orders": "Orders"}),
        ("", {}),
    ],
)
def test_the_page_names_the_categories_in_the_language_of_the_caller(
    caller: Caller, maria: Recipient, language: str, names: dict[str, str]
) -> None:
    del maria
    texts = {"en": "Orders", "de": "Bestellungen", "ar": "الطلبات"}
    for locale, name in texts.items():
        TopicText.objects.create(topic="orders", locale=locale, name=name)
    topic_texts.forget()
    answer = caller.send("GET", INBOX, b"", Accept_Language=language)
    assert answer.json()["category_names"] == names
    assert "Accept-Language" in answer.headers["Vary"]
    topic_texts.forget()


def test_a_page_in_another_language_is_no_304(caller: Caller, maria: Recipient) -> None:
    del maria
    for locale, name in {"en": "Orders", "de": "Bestellungen"}.items():
        TopicText.objects.create(topic="orders", locale=locale, name=name)
    topic_texts.forget()
    tag = caller.send("GET", INBOX, b"", Accept_Language="en").headers["ETag"]
    known = {"If_None_Match": tag}
    assert caller.send("GET", INBOX, b"", Accept_Language="en", **known).status_code == 304
    answer = caller.send("GET", INBOX, b"", Accept_Language="de", **known)
    assert answer.json()["category_names"] == {"orders": "Bestellungen"}
    topic_texts.forget()
