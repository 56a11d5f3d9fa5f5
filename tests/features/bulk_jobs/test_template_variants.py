"""An A/B test with variants of one template: each recipient gets the text of their variant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from notifications.core.delivery import deliver
from notifications.core.intake.accept import Caller
from notifications.core.models import BulkJob, Delivery, Notification, Recipient, Template
from notifications.core.operations import sent_content
from notifications.core.rules.templates import contents
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.postgres import timelines
from notifications.core.store.templates import files, template_cache, versions
from notifications.features.attachments.models import Attachment
from notifications.features.bulk_jobs import create, variant_checks
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.bulk_jobs.rules import request as requests
from notifications.features.bulk_jobs.rules import variants
from notifications.features.bulk_jobs.rules.request import BulkJobRequest
from providers.contract import Channel
from tests.features.bulk_jobs.conftest import NewJob, expand_all
from tests.journey import Accept, Reach, deliveries_of

pytestmark = pytest.mark.django_db
Outbox = Callable[[UUID], list[Any]]
TERMS = "terms, 100 %.txt"
VARIANTS = [
    {"name": "base", "percent": 50},
    {"name": "urgent", "percent": 50, "template_variant": "b"},
]


@pytest.fixture
def sale() -> Template:
    """A mail in two languages, with a variant of the English subject and a file."""
    texts = [
        TextSource(channel=Channel.EMAIL, locale="en", title="Sale", body="Use {{ code }}"),
        TextSource(channel=Channel.EMAIL, locale="de", title="Angebot", body="Mit {{ code }}"),
        TextSource(channel=Channel.EMAIL, locale="en", variant="b", title="Last day, {{ name }}"),
    ]
    stored = files.store("text/plain", b"Terms")
    named = {"name": TERMS, "type": stored.type, "size": stored.size, "digest": stored.digest}
    return _publish(texts, attachments=[named])


def _publish(texts: list[TextSource], **settings: object) -> Template:
    content = contents.content(map(contents.normalize, texts), settings)
    return versions.publish(versions.draft("sale", content, by="ana"), by="ana")


def _rows(job: BulkJob) -> dict[int, Notification]:
    rows = Notification.objects.filter(bulk_job_id=job.pk)
    return {row.recipient_id: row for row in rows}


def test_each_recipient_gets_the_text_of_the_variant_and_the_file_once(
    sale: Template, new_job: NewJob, reach: Reach, outbox: Outbox
) -> None:
    people = [reach(f"u{n}", email=f"u{n}@sandbox.example") for n in range(12)]
    Recipient.objects.filter(pk__in=[each.pk for each in people[:4]]).update(locale="de")
    job = new_job(template_id="sale", variants=VARIANTS)
    _publish([TextSource(channel=Channel.EMAIL, locale="en", title="Later", body="Later")])
    expand_all(job)
    rows = _rows(job)
    assert {row.variant for row in rows.values()} == {"base", "urgent"}
    deliver.deliver(list(Delivery.objects.values_list("id", flat=True)))
    template_cache.forget()
    for position, person in enumerate(people):
        row = rows[person.pk]
        chosen = variants.choose(job, person.pk)
        assert chosen is not None
        assert (row.variant, row.template_variant) == (chosen.name, chosen.template_variant)
        title = "Last day, Hi" if row.template_variant else "Sale"
        title, body = ("Angebot", "Mit 1") if position < 4 else (title, "Use 1")
        timeline = timelines.of(row.pk)
        assert timeline is not None
        [delivery] = timeline.deliveries
        [message] = outbox(delivery.id)
        assert (message["title"], message["body"]) == (title, body)
        assert message["attachments"] == [{"name": TERMS, "type": "text/plain", "size": 5}]
        person.refresh_from_db()
        [shown] = sent_content.contents(timeline, person)
        assert shown.rendered is not None
        assert (shown.rendered.title, shown.rendered.body) == (title, body)
    assert sale.version == 1
    assert Attachment.objects.count() == 1


@pytest.mark.usefixtures("sale")
def test_a_single_notification_has_the_base_text_and_needs_no_variable_of_a_variant(
    take: Accept, reach: Reach, outbox: Outbox
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take(template_id="sale", variables={"code": "1"}))
    deliver.deliver([row.id])
    [message] = outbox(row.id)
    assert (message["title"], message["body"]) == ("Sale", "Use 1")


def test_the_winner_is_sent_with_its_texts(sale: Template, new_job: NewJob, reach: Reach) -> None:
    reach("u1", email="u1@sandbox.example")
    winner = {"metric": "clicked", "sample_percent": 1, "after_seconds": 60}
    job = new_job(template_id=sale.template_id, variants=VARIANTS, winner=winner)
    outside = next(n for n in range(1_000) if not variants.is_in_sample(job, n))
    job.winner = "urgent"
    assert variants.choose(job, outside) == variants.Variant("urgent", sale.pk, "b")


def _request(**fields: object) -> BulkJobRequest:
    body = {
        "name": "Sale",
        "audience": {"everyone": True},
        "type": "LIKE",
        "priority": "P3",
        "template_id": "sale",
        "variables": {"code": "1", "name": "Hi"},
        "variants": VARIANTS,
        **fields,
    }
    request = requests.parse(body)
    assert isinstance(request, BulkJobRequest), request
    return request


@pytest.mark.parametrize(
    ("fields", "pointer", "told"),
    [
        (
            {"variants": [VARIANTS[0], {**VARIANTS[1], "template_variant": "c"}]},
            "/variants/1/template_variant",
            "template sale has no variant c; published: b",
        ),
        (
            {"variants": [VARIANTS[0], {**VARIANTS[1], "template_id": "otp"}]},
            "/variants/1/template_variant",
            "template otp has no variant b; published: none",
        ),
        ({"variables": {"code": "1"}}, "/variables/name", "is missing"),
    ],
)
@pytest.mark.usefixtures("sale")
def test_an_unknown_variant_and_its_missing_variable_are_told(
    caller: Caller,
    fields: dict[str, object],
    pointer: str,
    told: str,
) -> None:
    with pytest.raises(BulkJobRefused) as refused:
        create.create(caller, _request(**fields), by="test")
    [error] = refused.value.problem.errors
    assert (error.pointer, told in error.detail) == (pointer, True), error.detail


@pytest.mark.usefixtures("sale")
def test_a_variant_without_texts_of_its_own_is_a_warning(caller: Caller) -> None:
    job = create.build(caller, _request(), by="test")
    assert list(variant_checks.warnings(job)) == [
        (
            "/variants/1/template_variant",
            "sale, variant b: recipients of email de get the base text.",
        )
    ]
