"""A producer cancels many of its own notifications, and sees the progress."""

from __future__ import annotations

import pytest

from notifications.core import clock
from notifications.core.models import AuditEntry, BulkJob, CancelJob
from notifications.core.rules.lane import Mode
from notifications.features.cancel_jobs import sweep
from notifications.features.cancel_jobs.jobs import facts
from tests.api.conftest import Caller, MakeCaller
from tests.api.operations import SENT


@pytest.fixture
def sent(caller: Caller) -> str:
    caller.send(
        "PUT",
        "/v1/recipients/maria",
        {"contacts": [{"channel": "email", "address": "maria@sandbox.example"}]},
    )
    answer = caller.post("/v1/notifications", {**SENT, "metadata": {"campaign": "x"}})
    assert answer.status_code == 202
    return str(answer.json()["notification_id"])


def test_a_job_cancels_what_matches_and_is_read(caller: Caller, sent: str) -> None:
    answer = caller.post("/v1/notifications/cancel", {"metadata": {"campaign": "x"}})
    assert answer.status_code == 202
    job = answer.json()
    assert (job["cancelled"], job["finished_at"]) == (0, None)
    sweep.run_once(now=clock.now(), limit=20)
    done = caller.get(f"/v1/cancel-jobs/{job['id']}").json()
    assert (done["cancelled"], done["stopped"], done["percent"]) == (1, 1, 100)
    assert caller.get(f"/v1/notifications/{sent}").json()["status"] == "cancelled"
    assert caller.get("/v1/cancel-jobs").json()["results"] == [done]


def test_an_idempotency_key_starts_one_job(caller: Caller) -> None:
    body, header = {"type": "X"}, {"Idempotency-Key": "stop-x"}
    first, again = (
        caller.send("POST", "/v1/notifications/cancel", body, **header) for _ in range(2)
    )
    assert first.json() == again.json()
    assert CancelJob.objects.count() == 1


def test_a_job_touches_its_own_producer_and_mode_only(
    caller: Caller, sent: str, make_caller: MakeCaller
) -> None:
    for other in (make_caller("another"), make_caller(mode=Mode.TEST)):
        job = other.post("/v1/notifications/cancel", {"ids": [sent]}).json()
        sweep.run_once(now=clock.now(), limit=20)
        assert other.get(f"/v1/cancel-jobs/{job['id']}").json()["cancelled"] == 0
        assert caller.get(f"/v1/cancel-jobs/{job['id']}").status_code == 404
        assert caller.post(f"/v1/cancel-jobs/{job['id']}/stop", {}).status_code == 404
    assert caller.get(f"/v1/notifications/{sent}").json()["status"] != "cancelled"


def test_a_stopped_job_says_so(caller: Caller) -> None:
    job = caller.post("/v1/notifications/cancel", {"type": "X"}).json()
    stopped = caller.post(f"/v1/cancel-jobs/{job['id']}/stop", {})
    assert stopped.status_code == 200
    assert stopped.json()["is_stopped"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ids": []},
        {"ids": ["x"]},
        {"planet": "mars"},
        {"metadata": {"a": "\0"}},
        {"metadata": {"a\0": 1}},
    ],
    ids=str,
)
def test_a_job_without_a_filter_is_refused(caller: Caller, body: dict[str, object]) -> None:
    assert caller.post("/v1/notifications/cancel", body).status_code == 422
    assert not CancelJob.objects.exists()


def test_an_address_in_the_filter_is_masked_for_operators(caller: Caller) -> None:
    caller.post("/v1/notifications/cancel", {"metadata": {"mail": "maria@sandbox.example"}})
    assert facts(CancelJob.objects.get())["metadata"] == "mail: m***@sandbox.example"
    assert "maria@" not in str(AuditEntry.objects.get(operation="cancel_notifications").after)


def test_the_job_of_a_cancelled_bulk_job_is_not_stopped(caller: Caller) -> None:
    job = caller.post("/v1/notifications/cancel", {"type": "X"}).json()
    now = clock.now()
    bulk_job = BulkJob.objects.create(
        producer_id=caller.key.producer_id,
        audience={"everyone": True},
        template=1,
        starts_at=now,
        created_at=now,
    )
    CancelJob.objects.filter(pk=job["id"]).update(bulk_job=bulk_job)
    answer = caller.post(f"/v1/cancel-jobs/{job['id']}/stop", {})
    assert answer.status_code == 409
    assert "cannot be stopped" in answer.json()["detail"]
    assert caller.get(f"/v1/cancel-jobs/{job['id']}").json()["finished_at"] is None
