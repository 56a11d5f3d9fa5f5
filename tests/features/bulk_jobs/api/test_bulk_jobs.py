"""A producer creates bulk jobs, tries them, and reads their progress."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.core import clock
from notifications.core.models import (
    AuditEntry,
    BulkJob,
    BulkJobFigure,
    BulkJobRange,
    Notification,
    NotificationType,
    Recipient,
)
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.templates import contents
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.cached import notification_types
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller
from tests.interleaving import before

JOB = {
    "name": "Winter sale",
    "audience": {"everyone": True},
    "type": "PROMO",
    "priority": "P3",
    "template_id": "sale",
    "variables": {"code": "WINTER"},
}


@pytest.fixture(autouse=True)
def _template() -> None:
    words = [
        contents.words(Channel.EMAIL, "en", title="Sale", body="Use {{ code }} today"),
        contents.words(Channel.SMS, "en", body="Use {{ code }}"),
    ]
    versions.publish(versions.draft("sale", contents.content(words), by="t"), by="t")


@pytest.fixture
def audience() -> list[Recipient]:
    """Three recipients with a mailbox, one with a number, and one without a contact."""
    people = [Recipient.objects.create(mode=Mode.LIVE, user_id=f"u_{each}") for each in range(5)]
    for person in people[:3]:
        person.contacts.create(
            channel=Channel.EMAIL, address=f"{person.user_id}@example.com", is_primary=True
        )
    people[3].contacts.create(channel=Channel.SMS, address="+4915112345678", is_primary=True)
    return people


def test_a_job_is_stored_at_once_and_read(caller: Caller) -> None:
    answer = caller.post("/v1/bulk-jobs", JOB)
    assert answer.status_code == 202, answer.content
    told = answer.json()
    assert (told["state"], told["priority"], told["created_by"]) == (
        "scheduled",
        "P3",
        caller.key.prefix,
    )
    assert told["progress"]["percent"] == 0
    read = caller.get(f"/v1/bulk-jobs/{told['id']}").json()
    assert read == told
    assert not Notification.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["pause", "resume", "cancel"])
def test_a_change_beside_the_deletion_of_the_job_is_answered(caller: Caller, change: str) -> None:
    told = caller.post("/v1/bulk-jobs", JOB).json()
    old = BulkJob.objects.filter(pk=told["id"])
    with before(("FOR UPDATE", old.delete)):
        assert caller.post(f"/v1/bulk-jobs/{told['id']}/{change}").status_code == 404


def test_an_idempotency_key_makes_one_job(caller: Caller) -> None:
    first, again = (caller.post("/v1/bulk-jobs", JOB, Idempotency_Key="k") for _ in range(2))
    assert (first.json(), again.headers["Idempotent-Replayed"]) == (again.json(), "true")
    assert BulkJob.objects.count() == 1
    other = caller.post("/v1/bulk-jobs", {**JOB, "name": "Other"}, Idempotency_Key="k")
    assert other.status_code == 422


def test_a_job_keeps_conditions_about_received_messages_as_written(caller: Caller) -> None:
    one, two = ({"received": {"type": name, "within_days": 7}} for name in ("A", "B"))
    audience = {"and": [{"or": [one, two]}, {"not": one}, {"not": two}]}
    answer = caller.post("/v1/bulk-jobs", {**JOB, "audience": audience})
    assert answer.status_code == 202, answer.content
    assert BulkJob.objects.get().audience == audience


def test_the_audit_log_names_the_job_and_not_the_audience(caller: Caller) -> None:
    caller.post("/v1/bulk-jobs", {**JOB, "audience": {"user_ids": ["u_secret"]}})
    entry = AuditEntry.objects.get(operation="create_bulk_job")
    assert entry.after["name"] == "Winter sale"
    assert "u_secret" not in str(entry.after)


@pytest.mark.parametrize(
    ("fields", "status", "pointer"),
    [
        ({"template_id": "nothing"}, 422, "/template_id"),
        ({"variables": {}}, 422, "/variables/code"),
        ({"channels": ["push"]}, 422, "/channels/0"),
        ({"priority": "P0"}, 422, "/priority"),
        ({"priority": None, "type": "UNKNOWN"}, 422, "/type"),
        ({"audience": {"planet": "mars"}}, 422, "/audience/planet"),
        ({"rate_per_second": -1}, 422, "/rate_per_second"),
        ({"send_at_local": "2026-01-01T09:00"}, 422, "/send_at_local"),
        ({"priority": "P2"}, 403, "/priority"),
    ],
    ids=str,
)
def test_a_wrong_job_is_refused_at_its_place(
    make_caller: MakeCaller, fields: dict[str, Any], status: int, pointer: str
) -> None:
    caller = make_caller("marketing", priorities=[Priority.P3])
    answer = caller.post("/v1/bulk-jobs", {**JOB, **fields})
    assert answer.status_code == status, answer.content
    assert pointer in {each["pointer"] for each in answer.json()["errors"]}
    assert not BulkJob.objects.exists()


@pytest.mark.usefixtures("audience")
def test_a_job_with_a_variant_of_a_template_is_tried_and_read(caller: Caller) -> None:
    words = [
        contents.words(Channel.EMAIL, "en", title="Sale", body="Use {{ code }} today"),
        TextSource(channel=Channel.EMAIL, locale="en", variant="b", title="Last day"),
        contents.words(Channel.SMS, "en", body="Use {{ code }}"),
    ]
    versions.publish(versions.draft("sale", contents.content(words), by="t"), by="t")
    listed = [
        {"name": "plain", "percent": 1},
        {"name": "urgent", "percent": 99, "template_variant": "b"},
    ]
    body = {**JOB, "variants": listed}
    tried = caller.post("/v1/bulk-jobs/dry-run", body | {"samples": 3}).json()
    sent = [each for sample in tried["samples"] for each in sample["messages"]]
    titles = {each["title"] for each in sent if each["channel"] == "email"}
    assert titles <= {"Sale", "Last day"}
    assert "Last day" in titles
    warning = "sale, variant b: recipients of sms en get the base text."
    place = "/variants/1/template_variant"
    assert {"pointer": place, "detail": warning} in tried["warnings"]
    made = caller.post("/v1/bulk-jobs", body).json()
    found = [(each["name"], each["template_variant"]) for each in made["variants"]]
    assert found == [("plain", None), ("urgent", "b")]
    unknown = [listed[0], {**listed[1], "template_variant": "c"}]
    answer = caller.post("/v1/bulk-jobs", body | {"variants": unknown})
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [place]


def test_a_type_of_an_urgent_priority_needs_a_priority(caller: Caller) -> None:
    NotificationType.objects.create(name="OTP", priority=Priority.P0)
    notification_types.forget()
    body = {**JOB, "type": "OTP"}
    assert caller.post("/v1/bulk-jobs", body).status_code == 202
    del body["priority"]
    assert caller.post("/v1/bulk-jobs", body).status_code == 422


def test_jobs_of_others_are_unknown(caller: Caller, make_caller: MakeCaller) -> None:
    path = f"/v1/bulk-jobs/{caller.post('/v1/bulk-jobs', JOB).json()['id']}"
    for other in (make_caller("another"), make_caller(mode=Mode.TEST)):
        assert other.get(path).status_code == 404
        assert other.get("/v1/bulk-jobs").json()["results"] == []
    assert caller.get(f"{path[:-4]}ffff").status_code == 404


@pytest.mark.parametrize("scope", ["notifications:*", "campaigns:read"])
def test_a_key_needs_the_scope(make_caller: MakeCaller, scope: str) -> None:
    caller = make_caller("limited", scopes=[scope])
    assert caller.post("/v1/bulk-jobs", JOB).status_code == 403
    expected = 200 if scope == "campaigns:read" else 403
    assert caller.get("/v1/bulk-jobs").status_code == expected


def test_the_list_has_pages_and_filters(caller: Caller) -> None:
    made = [caller.post("/v1/bulk-jobs", {**JOB, "name": f"n{each}"}).json() for each in range(3)]
    BulkJob.objects.filter(pk=made[0]["id"]).update(state=BulkJobState.RUNNING, type="NEWS")
    first = caller.get("/v1/bulk-jobs", limit=2).json()
    assert [each["name"] for each in first["results"]] == ["n2", "n1"]
    assert "audience" not in first["results"][0]
    second = caller.get("/v1/bulk-jobs", limit=2, cursor=first["next"]).json()
    assert ([each["name"] for each in second["results"]], second["next"]) == (["n0"], None)
    for query in ({"state": "running"}, {"type": "NEWS"}):
        found = caller.get("/v1/bulk-jobs", **query).json()["results"]
        assert [each["name"] for each in found] == ["n0"]
    later = clock.now().replace(year=2100).isoformat()
    assert caller.get("/v1/bulk-jobs", since=later).json()["results"] == []
    assert caller.get("/v1/bulk-jobs", state="sleeping").status_code == 422


def test_progress_and_funnel_are_those_of_ranges_and_roll_ups(caller: Caller) -> None:
    halves = [{"name": "a", "percent": 50}, {"name": "b", "percent": 50}]
    told = caller.post("/v1/bulk-jobs", {**JOB, "variants": halves}).json()
    job = BulkJob.objects.get(pk=told["id"])
    BulkJob.objects.update(state=BulkJobState.RUNNING, estimate=1000)
    BulkJobRange.objects.create(
        job=job,
        number=0,
        first=0,
        cursor=600,
        until=1000,
        examined=500,
        accepted=450,
        left_out={"no_contact": 50},
    )
    for variant, kind, name, count in (
        ("a", "total", "sent", 200),
        ("a", "total", "cost_micros", 2_500_000),
        ("a", "status", "sent", 200),
        ("b", "total", "sent", 100),
        ("b", "total", "read", 30),
        ("b", "status", "sent", 70),
        ("b", "status", "read", 30),
    ):
        BulkJobFigure.objects.create(job=job, variant=variant, kind=kind, name=name, count=count)
    read = caller.get(f"/v1/bulk-jobs/{job.pk}").json()
    progress = read["progress"]
    assert (progress["percent"], progress["examined"], progress["accepted"]) == (50, 500, 450)
    assert progress["left_out"] == {"no_contact": 50}
    assert (read["funnel"]["sent"], read["funnel"]["read"], read["cost_usd"]) == (300, 30, 2.5)
    assert read["statuses"] == {"sent": 270, "read": 30}
    assert [each["funnel"]["sent"] for each in read["variants"]] == [200, 100]


@pytest.mark.usefixtures("audience")
def test_a_dry_run_counts_renders_and_estimates_and_stores_nothing(caller: Caller) -> None:
    answer = caller.post("/v1/bulk-jobs/dry-run", JOB)
    assert answer.status_code == 200, answer.content
    told = answer.json()
    assert (told["is_complete"], told["examined"], told["accepted"]) == (True, 5, 4)
    assert told["left_out"] == {"no_contact": 1}
    estimate = told["estimate"]
    assert estimate["messages"] == {"email": 3, "sms": 1}
    assert estimate["unrenderable"] == 0
    assert [(each["channel"], each["country"]) for each in estimate["costs"]] == [
        ("sms", "DE"),
        ("email", None),
    ]
    assert estimate["cost_usd"] == pytest.approx(0.0103)
    assert len(told["samples"]) == 3
    assert "WINTER" in told["samples"][0]["messages"][0]["body"]
    assert not BulkJob.objects.exists()
    assert not Notification.objects.exists()


@pytest.mark.usefixtures("audience")
def test_a_dry_run_warns_of_mails_without_an_unsubscribe_link(caller: Caller) -> None:
    for locale, link in (("en", ""), ("de", "{{ unsubscribe_url }}")):
        name = f"linked_{locale}"
        mail = contents.words(Channel.EMAIL, "en", title="Sale", body=f"Use {{{{ code }}}} {link}")
        versions.publish(versions.draft(name, contents.content([mail]), by="t"), by="t")
    variants = [
        {"name": "a", "percent": 50},
        {"name": "b", "percent": 50, "template_id": "linked_de"},
    ]

    def warnings(**fields: object) -> list[tuple[str, str]]:
        told = caller.post("/v1/bulk-jobs/dry-run", {**JOB, **fields}).json()["warnings"]
        return [(each["pointer"], each["detail"]) for each in told]

    said = "{}: the mails in en have no visible unsubscribe link."
    assert warnings() == [("/template_id", said.format("sale"))]
    assert warnings(channels=["sms"]) == []
    assert warnings(template_id="linked_de") == []
    assert warnings(variants=variants) == [("/template_id", said.format("sale"))]
    variants[1]["template_id"] = "linked_en"
    assert warnings(template_id="linked_de", variants=variants) == [
        ("/variants/1/template_id", said.format("linked_en"))
    ]
    NotificationType.objects.create(name="PROMO", priority=Priority.P3, is_mandatory=True)
    notification_types.forget()
    assert warnings() == [
        ("/template_id", "PROMO is mandatory: its mails have no unsubscribe link.")
    ]


@pytest.mark.usefixtures("audience")
def test_a_dry_run_counts_the_messages_whose_text_cannot_be_rendered(caller: Caller) -> None:
    words = [
        contents.words(Channel.EMAIL, "en", title="Sale", body="Use {{ code + 1 }} today"),
        contents.words(Channel.SMS, "en", body="Use {{ code }}"),
    ]
    versions.publish(versions.draft("sale", contents.content(words), by="t"), by="t")
    told = caller.post("/v1/bulk-jobs/dry-run", JOB).json()
    assert (told["accepted"], told["estimate"]["notifications"]) == (4, 4)
    assert told["estimate"]["unrenderable"] == 3
    secret = contents.content(words, {"sensitive_variables": ["code"]})
    versions.publish(versions.draft("sale", secret, by="t"), by="t")
    masked = caller.post("/v1/bulk-jobs/dry-run", {**JOB, "variables": {"code": 1}}).json()
    assert masked["estimate"]["unrenderable"] == 0  # the mask is the problem, not the value


@pytest.mark.usefixtures("audience")
def test_a_dry_run_shows_chosen_recipients_with_masks(caller: Caller) -> None:
    words = [contents.words(Channel.EMAIL, "en", title="Sale", body="Use {{ code }} today")]
    secret = contents.content(words, {"sensitive_variables": ["code"]})
    versions.publish(versions.draft("sale", secret, by="t"), by="t")
    chosen = ["u_0", "u_4", "u_3", "nobody"]
    audience = {"user_ids": ["u_0", "u_4"]}
    body = {**JOB, "audience": audience, "sample_user_ids": chosen}
    samples = caller.post("/v1/bulk-jobs/dry-run", body).json()["samples"]
    assert [each["left_out"] for each in samples] == [
        None,
        "no_contact",
        "not_in_audience",
        "unknown_recipient",
    ]
    [message] = samples[0]["messages"]
    assert message["body"] == "Use ••• today"
    assert message["address"] == "u***@example.com"


def test_a_dry_run_refuses_what_a_job_refuses(caller: Caller) -> None:
    for fields in ({"template_id": "nothing"}, {"audience": {"topic": "nothing"}}):
        answer = caller.post("/v1/bulk-jobs/dry-run", {**JOB, **fields})
        assert answer.status_code == 422, answer.content
    assert caller.post("/v1/bulk-jobs/dry-run", {**JOB, "samples": 99}).status_code == 422


def test_a_job_is_paused_resumed_and_cancelled_with_audit_entries(
    caller: Caller, make_caller: MakeCaller
) -> None:
    path = f"/v1/bulk-jobs/{caller.post('/v1/bulk-jobs', JOB).json()['id']}"
    for change, state in (
        ("pause", "paused"),
        ("pause", "paused"),
        ("resume", "scheduled"),
        ("resume", "scheduled"),
        ("cancel", "cancelled"),
        ("cancel", "cancelled"),
    ):
        answer = caller.post(f"{path}/{change}", {"reason": "why"} if change != "resume" else {})
        assert (answer.status_code, answer.json()["state"]) == (200, state), answer.content
    assert caller.get(path).json()["state_reason"] == "why"
    assert caller.post(f"{path}/pause").status_code == 409
    assert caller.post(f"{path}/resume").json()["detail"] == "the bulk job is cancelled"
    changes = AuditEntry.objects.filter(operation__endswith="_bulk_job").order_by("pk")
    assert [each.operation.split("_")[0] for each in changes] == [
        "create",
        "pause",
        "resume",
        "cancel",
    ]
    for other in (make_caller("another"), make_caller(mode=Mode.TEST)):
        assert {other.post(f"{path}/{each}").status_code for each in ("pause", "cancel")} == {404}


def test_a_finished_job_is_cancelled_once_by_two_calls(caller: Caller) -> None:
    told = caller.post("/v1/bulk-jobs", JOB).json()
    path = f"/v1/bulk-jobs/{told['id']}"
    BulkJob.objects.update(state=BulkJobState.FINISHED, finished_at=clock.now())
    for _ in range(2):
        assert caller.post(f"{path}/cancel").json()["state"] == "cancelled"
    assert AuditEntry.objects.filter(operation="cancel_bulk_job").count() == 1


@pytest.mark.parametrize(
    ("audience", "pointer"),
    [
        ({"user_ids": []}, "/audience/user_ids"),
        ({"user_ids": ["u\0"]}, "/audience/user_ids/0"),
        ({"user_ids": [f"u{each}" for each in range(10_001)]}, "/audience/user_ids"),
    ],
    ids=["empty", "nul", "too many"],
)
@pytest.mark.parametrize("path", ["/v1/bulk-jobs", "/v1/bulk-jobs/dry-run"], ids=["job", "dry run"])
def test_a_wrong_list_of_recipients_is_refused(
    caller: Caller, path: str, audience: dict[str, Any], pointer: str
) -> None:
    answer = caller.post(path, {**JOB, "audience": audience})
    assert answer.status_code == 422, answer.content
    assert {each["pointer"] for each in answer.json()["errors"]} == {pointer}


def test_a_change_of_a_job_needs_the_scope(caller: Caller, make_caller: MakeCaller) -> None:
    path = f"/v1/bulk-jobs/{caller.post('/v1/bulk-jobs', JOB).json()['id']}"
    reader = make_caller("reader", scopes=["campaigns:read"])
    for change in ("pause", "resume", "cancel"):
        assert reader.post(f"{path}/{change}").status_code == 403
