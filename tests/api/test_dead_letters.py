"""What gave up: seen, replayed and discarded over HTTP."""

from __future__ import annotations

from uuid import uuid4

import pytest

from notifications.core import clock, conf
from notifications.core.models import Contact, DeadLetter
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.redaction import address_hash
from notifications.core.store.postgres import alerts
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller


def _letter(reason: str = "retries_exhausted", *, mode: Mode = Mode.LIVE) -> DeadLetter:
    return DeadLetter.objects.create(
        delivery_id=uuid4(),
        mode=mode,
        priority=Priority.P2,
        channel=Channel.EMAIL,
        producer_id=1,
        recipient_id=1,
        provider="smtp",
        reason=reason,
        snapshot={},
        created_at=clock.now(),
    )


def test_open_letters_are_listed_newest_first_with_a_next_page(caller: Caller) -> None:
    first, second = _letter(), _letter()
    page = caller.get("/v1/dead-letters", limit=1).json()
    assert [one["id"] for one in page["results"]] == [second.pk]
    rest = caller.get("/v1/dead-letters", cursor=page["next"]).json()
    assert [one["id"] for one in rest["results"]] == [first.pk]
    assert rest["next"] is None


def test_letters_are_narrowed_by_reason_channel_and_provider(caller: Caller) -> None:
    wanted = _letter("permanent")
    _letter("ttl_exceeded")
    query = {"reason": "permanent", "channel": "email", "provider": "smtp"}
    found = caller.get("/v1/dead-letters", **query).json()["results"]
    assert [one["id"] for one in found] == [wanted.pk]
    assert caller.get("/v1/dead-letters", channel="sms").json()["results"] == []


def test_a_replay_is_a_job_whose_progress_can_be_read(caller: Caller) -> None:
    letter = _letter()
    begun = caller.post("/v1/dead-letters/replay", {"ids": [letter.pk]})
    assert begun.status_code == 202
    job = begun.json()
    assert (job["total"], job["requested_by"]) == (1, caller.key.prefix)
    assert caller.get(f"/v1/replay-jobs/{job['id']}").json() == job


def test_a_letter_is_in_one_job_only(caller: Caller) -> None:
    _letter("permanent")
    caller.post("/v1/dead-letters/replay", {"reason": "permanent"})
    second = caller.post("/v1/dead-letters/replay", {"reason": "permanent"}).json()
    assert second["total"] == 0


@pytest.mark.parametrize(
    "body", [{}, {"force": True}, {"ids": []}, {"ids": [0]}, {"ids": [2**63]}, {"reason": "\x00"}]
)
def test_a_replay_of_everything_is_not_begun_by_mistake(caller: Caller, body: object) -> None:
    letter = _letter()
    assert caller.post("/v1/dead-letters/replay", body).status_code == 422
    letter.refresh_from_db()
    assert letter.replay_job is None


def test_a_letter_is_discarded_once(caller: Caller) -> None:
    letter = _letter()
    path = f"/v1/dead-letters/{letter.pk}/discard"
    told = caller.post(path)
    assert (told.status_code, told.json()["resolution"][:9]) == (200, "discarded")
    assert caller.post(path).status_code == 409


def test_letters_of_the_other_mode_are_not_there(make_caller: MakeCaller) -> None:
    letter = _letter()
    tester = make_caller(mode=Mode.TEST)
    assert tester.get("/v1/dead-letters").json()["results"] == []
    assert tester.post(f"/v1/dead-letters/{letter.pk}/discard").status_code == 404
    begun = tester.post("/v1/dead-letters/replay", {"ids": [letter.pk]}).json()
    assert begun["total"] == 0


def test_a_key_that_may_only_look_may_not_replay(make_caller: MakeCaller) -> None:
    viewer = make_caller(scopes=("operations:read",))
    assert viewer.get("/v1/dead-letters").status_code == 200
    assert viewer.post("/v1/dead-letters/replay", {"reason": "x"}).status_code == 403


def test_alerts_are_listed_and_resolved(caller: Caller) -> None:
    alerts.raise_once(AlertKind.BREAKER_OPEN, "smtp", "401")
    alerts.raise_once(AlertKind.BREAKER_OPEN, "smtp", "401 again")
    [alert] = caller.get("/v1/alerts").json()["results"]
    assert alert["detail"] == "401 again"
    told = caller.post(f"/v1/alerts/{alert['id']}/resolve").json()
    assert told["resolved_at"] is not None
    assert caller.post(f"/v1/alerts/{alert['id']}/resolve").json() == told
    assert caller.get("/v1/alerts").json()["results"] == []
    assert len(caller.get("/v1/alerts", resolved="true").json()["results"]) == 1
    assert caller.post("/v1/alerts/999999/resolve").status_code == 404


def test_an_open_letter_tells_the_hashed_address_and_marks_the_contact_for_a_check(
    caller: Caller,
) -> None:
    address = "maria@example.com"
    contacts = [{"channel": "email", "address": address}]
    caller.send("PUT", "/v1/recipients/maria", {"contacts": contacts})
    letter = _letter()
    DeadLetter.objects.filter(pk=letter.pk).update(contact_id=Contact.objects.get().pk)
    [seen] = caller.get("/v1/dead-letters").json()["results"]
    assert seen["address_hash"] == address_hash(address, key=conf.current().hash_key)
    assert address not in str(seen)
    assert _needs_check(caller) is True
    caller.post(f"/v1/dead-letters/{letter.pk}/discard", {})
    assert _needs_check(caller) is False


def _needs_check(caller: Caller) -> bool:
    answer = caller.get("/v1/recipients/maria").json()
    return bool(answer["contacts"][0]["needs_check"])
