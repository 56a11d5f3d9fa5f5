"""Topics: subscribers one by one and in bulk, with an error for each wrong user id."""

from __future__ import annotations

import pytest

from notifications.core import clock
from notifications.core.models import AuditEntry, Recipient, Topic, TopicSubscriber
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import erasure
from notifications.features.audiences import sweep
from notifications.features.audiences.rows import topics
from tests.api.conftest import Caller, MakeCaller
from tests.interleaving import before

MEMBERS = "/v1/topics/artist-17/subscribers"


@pytest.fixture(autouse=True)
def _people(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    Recipient.objects.bulk_create(
        Recipient(user_id=f"u_{n}", mode=mode) for n in range(5) for mode in Mode
    )


def members(caller: Caller) -> list[str]:
    found: list[str] = []
    cursor: str | None = "0"
    query: dict[str, str | int] = {"limit": 2}
    while cursor is not None:
        told = caller.get(MEMBERS, **query).json()
        found += [each["user_id"] for each in told["results"]]
        cursor = told["next"]
        query["cursor"] = cursor or ""
    return found


def test_recipients_come_and_go(caller: Caller) -> None:
    assert caller.get("/v1/topics/artist-17").status_code == 404
    for _ in range(2):
        assert caller.send("PUT", f"{MEMBERS}/u_1").status_code == 204
    told = caller.send("PUT", MEMBERS, {"user_ids": ["u_1", "u_3", "u_3", "gone", 7, ""]}).json()
    assert (told["changed"], told["unchanged"]) == (1, 2)
    assert [each["pointer"] for each in told["errors"]] == [f"/user_ids/{n}" for n in (3, 4, 5)]
    assert members(caller) == ["u_1", "u_3"]
    told = caller.get("/v1/topics/artist-17").json()
    assert (told["subscribers"], told["is_exact"]) == (2, True)
    assert caller.get("/v1/recipients/u_3/topics").json() == {"topics": ["artist-17"]}
    for _ in range(2):
        assert caller.send("DELETE", f"{MEMBERS}/u_1").status_code == 204
    told = caller.post(f"{MEMBERS}/delete", {"user_ids": ["u_3", "u_4", "gone"]}).json()
    assert (told["changed"], told["unchanged"], len(told["errors"])) == (1, 1, 1)
    assert members(caller) == []


def test_the_modes_have_topics_of_their_own(caller: Caller, make_caller: MakeCaller) -> None:
    test = make_caller(mode=Mode.TEST)
    caller.send("PUT", f"{MEMBERS}/u_1")
    assert test.get("/v1/topics").json()["results"] == []
    test.send("PUT", f"{MEMBERS}/u_2")
    assert (members(caller), members(test)) == (["u_1"], ["u_2"])


def test_wrong_names_and_unknown_recipients_are_refused(caller: Caller) -> None:
    assert caller.send("PUT", f"{MEMBERS}/gone").status_code == 404
    assert caller.send("PUT", "/v1/topics/a%20b/subscribers/u_1").status_code == 422
    assert caller.send("PUT", "/v1/topics/a%00b/subscribers/u_1").status_code == 404
    assert caller.get("/v1/topics/a%00b/subscribers").status_code == 404
    assert caller.send("PUT", MEMBERS, {"user_ids": ["u_1"] * 5_001}).status_code == 422
    assert Topic.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_topic_that_others_create_and_delete_meanwhile_is_created(caller: Caller) -> None:
    def create() -> None:
        Topic.objects.create(name="artist-17", created_by="other")

    def delete() -> None:
        topics.delete(Topic.objects.get(created_by="other"))

    with before(('INSERT INTO "topic"', create), ('FROM "topic"', delete)):
        assert caller.send("PUT", f"{MEMBERS}/u_1").status_code == 204
    assert members(caller) == ["u_1"]
    assert Topic.objects.get(deleted_at=None).created_by.startswith("producer orders")


def test_a_deleted_topic_frees_its_name_and_loses_its_rows(caller: Caller) -> None:
    caller.send("PUT", MEMBERS, {"user_ids": [f"u_{n}" for n in range(5)]})
    assert caller.send("DELETE", "/v1/topics/artist-17").status_code == 204
    assert caller.get(MEMBERS).status_code == 404
    caller.send("PUT", f"{MEMBERS}/u_2")
    assert members(caller) == ["u_2"]
    while sweep.run_once(now=clock.now(), limit=2).more:
        pass
    assert members(caller) == ["u_2"]
    assert TopicSubscriber.objects.count() == 1


def test_an_erased_recipient_leaves_the_topic(caller: Caller) -> None:
    caller.send("PUT", MEMBERS, {"user_ids": ["u_0", "u_1"]})
    erasure.begin(mode=Mode.LIVE, user_id="u_1", requested_by="test", by="test")
    assert TopicSubscriber.objects.count() == 1


def test_the_log_has_numbers_and_no_user_id(caller: Caller) -> None:
    before = AuditEntry.objects.count()
    caller.send("PUT", MEMBERS, {"user_ids": ["u_0", "u_1"]})
    [made, entry] = AuditEntry.objects.order_by("pk")[before:]
    assert made.after["name"] == MEMBERS.split("/")[3]
    assert entry.after == {"subscribers": 2}
