"""Lists take several values of a filter, and lead on by a Link header."""

from __future__ import annotations

from uuid import uuid4

import pytest

from notifications.core import clock
from notifications.core.models import DeadLetter, ReplayJob
from notifications.core.rules.lane import Mode, Priority
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller


def _types(caller: Caller, query: str) -> list[str]:
    answer = caller.get(f"/v1/notifications?{query}")
    assert answer.status_code == 200, answer.content
    return sorted(each["type"] for each in answer.json()["results"])


@pytest.mark.usefixtures("maria")
def test_a_filter_takes_several_values(caller: Caller) -> None:
    for number, name in enumerate(("A", "B", "C")):
        body = {"user_id": "maria", "type": name, "priority": "P2", "content": {"body": "x"}}
        metadata = {"order": f"ORD-{number}", "shop": "a:b"}
        caller.post("/v1/notifications", {**body, "metadata": metadata})
    assert _types(caller, "type=A&type=C") == ["A", "C"]
    assert _types(caller, "status=queued&status=sent") == ["A", "B", "C"]
    assert _types(caller, "status=failed&status=sent") == []
    assert _types(caller, "metadata=order:ORD-1") == ["B"]
    assert _types(caller, "metadata=order:ORD-1&metadata=shop:a:b") == ["B"]
    assert _types(caller, "metadata=order:ORD-1&metadata=shop:c") == []
    assert caller.get("/v1/notifications?metadata=order").status_code == 422
    assert caller.get("/v1/notifications?metadata=order:%00").status_code == 422
    assert caller.get("/v1/notifications?type=A&type=a b").status_code == 422


def test_a_list_leads_on_by_a_link(caller: Caller) -> None:
    for name in ("a", "b&c", "d"):
        assert caller.send("PUT", f"/v1/recipients/{name}", {}).status_code == 201
    query = "/v1/recipients?limit=1&user_id=a&user_id=b%26c"
    first = caller.get(query)
    assert [each["user_id"] for each in first.json()["results"]] == ["b&c"]
    link = first.headers["Link"]
    assert link.startswith("</v1/recipients?")
    assert link.endswith('>; rel="next"')
    second = caller.get(link.partition(">")[0][1:])
    assert [each["user_id"] for each in second.json()["results"]] == ["a"]
    assert "Link" not in second.headers


def test_recipients_are_listed_in_their_own_world(caller: Caller, make_caller: MakeCaller) -> None:
    caller.send("PUT", "/v1/recipients/a", {"locale": "de"})
    [line] = caller.get("/v1/recipients").json()["results"]
    assert (line["user_id"], line["locale"], "contacts" in line) == ("a", "de", False)
    assert make_caller(mode=Mode.TEST).get("/v1/recipients").json()["results"] == []


def _letter(reason: str, mode: Mode = Mode.LIVE) -> DeadLetter:
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


def test_a_dead_letter_is_read_by_its_id(caller: Caller) -> None:
    letter, other = _letter("permanent"), _letter("ttl_exceeded")
    listed = caller.get("/v1/dead-letters?reason=permanent&reason=expired").json()["results"]
    assert [caller.get(f"/v1/dead-letters/{letter.pk}").json()] == listed
    both = caller.get("/v1/dead-letters?reason=permanent&reason=ttl_exceeded").json()["results"]
    assert [each["id"] for each in both] == [other.pk, letter.pk]
    theirs = _letter("permanent", Mode.TEST)
    assert caller.get(f"/v1/dead-letters/{theirs.pk}").status_code == 404
    assert caller.get("/v1/dead-letters/99999999999999999999").status_code == 404


def test_replay_jobs_are_listed(caller: Caller) -> None:
    jobs = [ReplayJob.objects.create(requested_by="tests") for _ in range(2)]
    page = caller.get("/v1/replay-jobs?limit=1").json()
    assert [each["id"] for each in page["results"]] == [jobs[1].pk]
    rest = caller.get(f"/v1/replay-jobs?cursor={page['next']}").json()
    assert [each["id"] for each in rest["results"]] == [jobs[0].pk]


def test_a_suppression_is_read_by_its_id_also_when_it_was_undone(caller: Caller) -> None:
    made = caller.post("/v1/suppressions", {"channel": "email", "address": "a@example.com"}).json()
    path = f"/v1/suppressions/{made['id']}"
    assert caller.get(path).json() == made
    caller.send("DELETE", path)
    assert caller.get(path).json()["undone_at"] is not None
    assert caller.get("/v1/suppressions/99999999999999999999").status_code == 404
