"""What is asked of a producer's variables, and what becomes of them on the way out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import orjson
import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from notifications.core import clock
from notifications.core.delivery import deliver, render
from notifications.core.intake.accept import AcceptedRequest, Refused
from notifications.core.models import (
    Attempt,
    Delivery,
    Notification,
    NotificationType,
    Recipient,
    Rejected,
    ShortLink,
    Template,
    TemplateText,
)
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Kind
from notifications.core.rules.states import Status
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import erasure, short_links
from notifications.core.store.postgres.short_links import NewLink
from notifications.core.sweeps import housekeeping
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of

Outbox = Callable[[UUID], list[Any]]
LINK = "https://shop.example/orders/4521?from=sms&campaign=a-long-name-for-a-short-thing"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1"
DECLARED = [
    {"name": "order", "type": "string", "example": "ORD-1"},
    {"name": "total", "type": "money", "example": {"amount": "9.90", "currency": "EUR"}},
    {"name": "at", "type": "datetime", "required": False, "example": "2026-03-01T09:30:00Z"},
]
GOOD = {"order": "ORD-2", "total": {"amount": "5", "currency": "EUR"}}


def template(
    name: str,
    body: str,
    *,
    locale: str = "en",
    variables: Sequence[object] = (),
    sensitive: Sequence[str] = (),
    shorten_links: bool = False,
) -> None:
    made = Template.objects.create(
        template_id=name,
        variables=list(variables),
        sensitive_variables=list(sensitive),
    )
    for channel in (Channel.SMS, Channel.EMAIL):
        TemplateText.objects.create(
            template=made, channel=channel, locale=locale, body=body, shorten_links=shorten_links
        )
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())


def pointers(answer: AcceptedRequest | Refused) -> list[str]:
    assert isinstance(answer, Refused), answer
    assert answer.problem.kind is Kind.INVALID
    return [error.pointer for error in answer.problem.errors]


def test_a_declared_variable_that_is_missing_or_wrong_is_refused_where_it_stands(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    template("shop", "{{ order }} {{ total|money }}", variables=DECLARED)
    assert isinstance(take(template_id="shop", variables=GOOD), AcceptedRequest)
    assert isinstance(take(template_id="shop", variables={**GOOD, "more": 1}), AcceptedRequest)
    bad = {"total": "5 EUR", "at": "tomorrow"}
    assert pointers(take(template_id="shop", variables=bad)) == [
        *("/variables/order", "/variables/total", "/variables/at")
    ]
    noted = Rejected.objects.get()
    assert "tomorrow" not in noted.detail
    assert noted.pointers == ["/variables/order", "/variables/total", "/variables/at"]


def test_without_declarations_what_the_texts_cannot_lack_is_asked_for(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    template("plain", "{{ order }}{% if name is defined %}{{ name }}{% endif %}{{ c|d('') }}")
    assert pointers(take(template_id="plain", variables={})) == ["/variables/order"]
    assert isinstance(take(template_id="plain", variables={"order": 5}), AcceptedRequest)


def test_a_variable_is_written_for_its_reader(
    reach: Reach, take: Accept, outbox: Outbox, sandbox: str
) -> None:
    del sandbox
    reach(email="maria@sandbox.example")
    Recipient.objects.update(locale="de-AT", timezone="Europe/Vienna")
    body = "{{ total|money }} {{ at|time }}"
    template("shop", body, locale="de", variables=DECLARED)
    [row] = deliveries_of(
        take(template_id="shop", variables={**GOOD, "at": "2026-03-01T23:30:00Z"})
    )
    deliver.deliver([row.id])
    [message] = outbox(row.id)
    assert message["body"].replace("\xa0", " ") == "€ 5,00 00:30"


@pytest.mark.parametrize("is_mandatory", [True, False])
def test_a_mail_that_cannot_be_declined_has_no_unsubscribe_link(
    reach: Reach, take: Accept, outbox: Outbox, *, is_mandatory: bool
) -> None:
    reach(email="maria@sandbox.example")
    template("shop", "{{ unsubscribe_url }}|")
    NotificationType.objects.create(name="INVOICE", priority=2, is_mandatory=is_mandatory)
    notification_types.forget()
    [row] = deliveries_of(take(type="INVOICE", template_id="shop", variables={}))
    deliver.deliver([row.id])
    [message] = outbox(row.id)
    assert message["body"].startswith("|") is is_mandatory


def test_a_push_carries_the_link_and_the_image_of_its_text(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    reach(push="fcm-token", email="maria@sandbox.example")
    made = Template.objects.create(template_id="track")
    part = {"url": "/orders/{{ order }}", "image_url": "https://shop.example/a.png"}
    for channel in (Channel.PUSH, Channel.EMAIL):
        TemplateText.objects.create(template=made, channel=channel, body="Hi", in_app=part)
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())
    asked = {"template_id": "track", "variables": {"order": "4 5"}}
    rows = deliveries_of(take(channels=["push", "email"], delivery="all", **asked))
    raw = {"title": "T", "body": "B", "url": "/orders/7"}
    rows += deliveries_of(
        take(channels=["push"], template_id=None, variables={}, content=raw, type="LIKE")
    )
    deliver.deliver([row.id for row in rows])
    assert [message["data"] for row in rows for message in outbox(row.id)] == [
        {"type": "LIKE", "url": "/orders/4%205", "image_url": "https://shop.example/a.png"},
        {"type": "LIKE"},
        {"type": "LIKE", "url": "/orders/7"},
    ]


def test_a_push_with_an_unsafe_link_fails_with_the_reason(reach: Reach, take: Accept) -> None:
    reach(push="fcm-token")
    made = Template.objects.create(template_id="track")
    part = {"url": "{{ link }}"}
    TemplateText.objects.create(template=made, channel=Channel.PUSH, body="Hi", in_app=part)
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())
    asked = {"template_id": "track", "variables": {"link": "javascript:alert(1)"}}
    [row] = deliveries_of(take(channels=["push"], **asked))
    deliver.deliver([row.id])
    row.refresh_from_db()
    assert (row.status, row.reason) == (Status.FAILED, "render_error")


def test_a_link_in_an_sms_leads_back_through_us(
    reach: Reach, take: Accept, outbox: Outbox, client: Client
) -> None:
    reach(sms="+15550001")
    template("promo", "Here: {{ url }}.", shorten_links=True)
    asked = {"template_id": "promo", "channels": ["sms"], "variables": {"url": LINK}}
    [row] = deliveries_of(take(**asked))
    deliver.deliver([row.id])
    [message] = outbox(row.id)
    path = message["body"].removeprefix("Here: http://testserver").removesuffix(".")
    link = ShortLink.objects.get()
    assert (path, link.target, link.delivery_id) == (f"/l/{link.token}", LINK, row.id)

    followed = client.get(path, headers={"user-agent": PHONE})
    assert (followed.status_code, followed["Location"]) == (302, LINK)
    assert client.head(path, headers={"user-agent": PHONE}).status_code == 302
    assert client.get(path, headers={"user-agent": "Slackbot 1.0"})["Location"] == LINK
    assert client.generic("POST", path).status_code == 405
    link.refresh_from_db()
    assert link.clicks == 1
    assert link.first_clicked_at is not None


@pytest.mark.parametrize("token", ["nothing", "x" * 500, "%00", "..%2f..", "https:%2f%2fevil.x"])
def test_what_is_no_link_of_ours_leads_nowhere(db: None, client: Client, token: str) -> None:
    del db
    answer = client.get(f"/l/{token}", headers={"user-agent": PHONE})
    assert answer.status_code == 404
    assert "Location" not in answer


def test_a_link_to_other_letters_leads_where_it_says(db: None, client: Client) -> None:
    del db
    ends = clock.now() + dt.timedelta(days=1)
    target = "https://example.com/größe/日本語?q=ä&z=%20#ü"
    ShortLink.objects.create(
        token="letters", delivery_id=UUID(int=1), target=target, expires_at=ends
    )
    answer = client.get("/l/letters", headers={"user-agent": PHONE})
    assert answer["Location"] == (
        "https://example.com/gr%C3%B6%C3%9Fe/%E6%97%A5%E6%9C%AC%E8%AA%9E?q=%C3%A4&z=%20#%C3%BC"
    )


def test_a_link_that_has_ended_is_gone_and_then_forgotten(db: None, client: Client) -> None:
    del db
    now = clock.now()
    for token, ends in (("old", -1), ("new", 1)):
        ShortLink.objects.create(
            token=token, delivery_id=UUID(int=1), target=LINK, expires_at=now + dt.timedelta(ends)
        )
    assert client.get("/l/old", headers={"user-agent": PHONE}).status_code == 404
    housekeeping.run_once(now=now, limit=100)
    assert [link.token for link in ShortLink.objects.all()] == ["new"]


def test_a_retry_says_the_same_and_stores_no_second_link(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    reach(sms="+15550001+503x1")
    template("promo", "{{ url }}", shorten_links=True)
    asked = {"template_id": "promo", "channels": ["sms"], "variables": {"url": LINK}}
    [row] = deliveries_of(take(**asked))
    deliver.deliver([row.id])
    link = ShortLink.objects.get()
    Delivery.objects.filter(id=row.id).update(due_at=TransactionNow())
    deliver.deliver([row.id])
    assert Delivery.objects.get(id=row.id).status == Status.SENT
    assert ShortLink.objects.get().token == link.token
    assert {message["body"] for message in outbox(row.id)} == {f"http://testserver/l/{link.token}"}


def test_what_is_sensitive_is_in_no_stored_link(reach: Reach, take: Accept, outbox: Outbox) -> None:
    reach(sms="+15550001")
    template("reset", "{{ url }}", shorten_links=True, sensitive=["url"])
    asked = {"template_id": "reset", "channels": ["sms"], "variables": {"url": LINK}}
    [row] = deliveries_of(take(**asked))
    deliver.deliver([row.id])
    assert outbox(row.id)[0]["body"] == LINK
    assert not ShortLink.objects.exists()


def test_a_recipient_who_is_erased_during_a_send_gets_no_link(
    reach: Reach, take: Accept, outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    del outbox
    person = reach(sms="+15550001")
    template("promo", "{{ url }}", shorten_links=True)
    asked = {"template_id": "promo", "channels": ["sms"], "variables": {"url": LINK}}
    [row] = deliveries_of(take(**asked))
    insert = short_links.insert_links

    def insert_late(links: Sequence[NewLink]) -> None:
        erased = erasure.begin(
            mode=Mode.LIVE, user_id=person.user_id, requested_by="tests", by="tests"
        )
        assert erased is not None
        assert erasure.work_off(erased, now=clock.now(), limit=10) == 1
        insert(links)

    monkeypatch.setattr(render, "insert_links", insert_late)
    deliver.deliver([row.id])
    assert not Notification.objects.exists()
    assert not ShortLink.objects.exists()


def test_a_wave_without_links_runs_no_statement_for_them(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    del outbox
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    with CaptureQueriesContext(connection) as ran:
        deliver.deliver([row.id])
    assert not [query for query in ran.captured_queries if "short_link" in query["sql"]]
    assert Delivery.objects.get(id=row.id).status == Status.SENT


@pytest.mark.usefixtures("outbox")
def test_a_call_says_how_many_segments_its_text_takes(reach: Reach, take: Accept) -> None:
    reach(sms="+15552000001", email="maria@sandbox.example")
    template("long", "ж" * 71)
    answer = take(template_id="long", channels=["sms", "email"], delivery="all")
    for delivery in deliveries_of(answer):
        deliver.deliver([delivery.pk])
    made = [Attempt.objects.get(delivery_id=each.pk) for each in deliveries_of(answer)]
    assert [attempt.segments for attempt in made] == [2, None]


@pytest.mark.usefixtures("outbox")
def test_a_call_keeps_the_status_and_the_wait_that_the_provider_asked_for(
    reach: Reach, take: Accept, log_output: Callable[[], str]
) -> None:
    reach(email="maria+429x1+after-3s@sandbox.example")
    [delivery] = deliveries_of(take())
    deliver.deliver([delivery.pk])
    made = Attempt.objects.get(delivery_id=delivery.pk)
    assert (made.outcome, made.http_status, made.retry_after_s) == ("throttled", 429, 3)
    lines = map(orjson.loads, log_output().splitlines())
    [line] = [each for each in lines if each.get("event") == "provider_call"]
    assert (line["http_status"], line["retry_after_s"], line["signed_with"]) == (429, 3, "")
    assert list(line) == sorted(line), "as each other log line"


def test_the_same_collapse_key_of_two_producers_is_two_keys(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    reach(email="maria@sandbox.example")
    template("score", "{{ goals }}")
    asked = {"template_id": "score", "channels": ["email"], "variables": {"goals": "1:0"}}
    keyed, plain = (
        deliveries_of(take(**asked, **more))[0] for more in ({"collapse_key": "match-1"}, {})
    )
    deliver.deliver([keyed.id, plain.id])
    [message] = outbox(keyed.id)
    producer_id = Notification.objects.get(pk=keyed.notification_id).producer_id
    assert message["collapse_key"] == f"{producer_id}-match-1"
    assert outbox(plain.id)[0]["collapse_key"] == ""
