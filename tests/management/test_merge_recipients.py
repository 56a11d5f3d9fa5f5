"""Recipients with two registrations of an address become one recipient, without a guess."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from django.core.management import call_command

from notifications.core import clock
from notifications.core.delivery import preference_links, unsubscribe_links
from notifications.core.feedback import unsubscribe
from notifications.core.feedback.unsubscribe import Choice
from notifications.core.models import (
    AuditEntry,
    Contact,
    Delivery,
    ErasureJob,
    Notification,
    Preference,
    Recipient,
    Suppression,
    Topic,
    TopicSubscriber,
)
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel
from tests.api.conftest import Caller, forget, new_caller


@pytest.fixture
def api(db: None) -> Iterator[Caller]:  # noqa: ARG001 - asked for by name
    forget()
    yield new_caller()
    forget()


def _recipient(user_id: str, **addresses: str) -> Recipient:
    """Store a recipient as an earlier release did, without a normal form."""
    recipient = Recipient.objects.create(user_id=user_id)
    for label, address in addresses.items():
        recipient.contacts.create(
            channel=Channel.from_label(label), address=address, is_primary=True
        )
    return recipient


def _twins() -> tuple[Recipient, Recipient]:
    one = _recipient("to_1", email="opt.out@mailbox.example", sms="+5215512345678")
    return one, _recipient("to_2", email="Opt.Out@MAILBOX.example", sms="+525512345678")


def _run(*options: str) -> str:
    printed = io.StringIO()
    call_command("merge_recipients", *options, stdout=printed)
    return printed.getvalue()


def _reached() -> list[str]:
    valid = Contact.objects.filter(invalidated_at=None, channel=Channel.EMAIL)
    return sorted(valid.values_list("recipient__user_id", flat=True))


def _send(api: Caller, **to: object) -> dict[str, object]:
    body = {"type": "HELLO", "priority": "P3", "content": {"title": "Hi", "body": "Hi"}, **to}
    answer = api.post("/v1/notifications", body)
    assert answer.status_code == 202, answer.content
    said: dict[str, object] = answer.json()
    return said


@pytest.mark.django_db
def test_a_dry_run_counts_and_changes_nothing() -> None:
    _twins()
    assert _run("--dry-run") == "1 recipients would be merged\n"
    assert _reached() == ["to_1", "to_2"]
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db
def test_what_any_of_them_switched_off_stays_off() -> None:
    one, two = _twins()
    Preference.objects.create(recipient=one, channels_off=[Channel.SMS])
    Preference.objects.create(
        recipient=two, categories_off=["marketing"], categories_left=["marketing"]
    )
    entry = SuppressionEntry(
        channel=Channel.EMAIL, address="opt.out@mailbox.example", cause=Cause.COMPLAINT
    )
    suppressions.add([entry], by="vendor")
    topic = Topic.objects.create(name="news", mode=one.mode)
    TopicSubscriber.objects.create(topic_id=topic.pk, recipient_id=two.pk)
    assert _run() == "1 recipients merged\n"
    assert _reached() == ["to_1"]
    wishes = Preference.objects.get(recipient=one)
    assert (wishes.channels_off, wishes.categories_off, wishes.categories_left) == (
        [Channel.SMS],
        ["marketing"],
        ["marketing"],
    )
    assert Suppression.objects.filter(undone_at=None).count() == 1
    assert [each.recipient_id for each in TopicSubscriber.objects.all()] == [one.pk]
    assert AuditEntry.objects.filter(operation="merge_recipients").count() == 2
    assert _run() == "0 recipients merged\n"


@pytest.mark.django_db
def test_an_undone_bounce_makes_no_merged_contact_valid() -> None:
    _twins()
    entry = SuppressionEntry(
        channel=Channel.EMAIL, address="opt.out@mailbox.example", cause=Cause.BOUNCE
    )
    suppressions.add([entry], by="vendor")
    _run()
    suppressions.undo(Suppression.objects.all(), by="t", note="")
    assert _reached() == ["to_1"]


def test_an_old_user_id_and_each_spelling_reach_the_recipient_that_stays(api: Caller) -> None:
    _twins()
    _run()
    for to in (
        {"user_id": "to_2"},
        {"to": {"email": "OPT.OUT@mailbox.example"}},
        {"to": {"phone": "+5215512345678"}},
    ):
        said = _send(api, **to)
        assert said["recipient"] == {"user_id": "to_1", "registered": False}
        assert "suppressed" not in str(said["deliveries"])
    assert set(Notification.objects.values_list("user_id", flat=True)) == {"to_1"}


@pytest.mark.django_db
def test_links_of_an_old_mail_act_on_the_recipient_that_stays() -> None:
    one, two = _twins()
    link = unsubscribe_links.Link(recipient_id=two.pk, channel=Channel.EMAIL, topic="news")
    token = unsubscribe_links.token_of(link, now=clock.now())
    page = preference_links.token_of(two.pk, now=clock.now())
    _run()
    found, recipient = unsubscribe_links.read(token, now=clock.now())
    unsubscribe.leave(found, Choice.TOPIC)
    assert (recipient, preference_links.read(page, now=clock.now())) == (one, one)
    assert Preference.objects.get(recipient=one).categories_left == ["news"]


@pytest.mark.parametrize("named", ["to_1", "to_2"])
def test_an_erasure_by_either_id_erases_both(api: Caller, named: str) -> None:
    _twins()
    _run()
    assert api.send("DELETE", f"/v1/recipients/{named}").status_code == 202
    assert not Recipient.objects.exists()
    assert ErasureJob.objects.count() == 2


def test_a_group_with_a_delivery_under_way_waits(api: Caller) -> None:
    _twins()
    _send(api, user_id="to_2")
    assert "1 groups have deliveries under way" in _run()
    assert _reached() == ["to_1", "to_2"]
    Delivery.objects.update(due_at=None)
    assert _run() == "1 recipients merged\n"


@pytest.mark.django_db
def test_recipients_of_producers_and_other_sets_of_addresses_stay_apart() -> None:
    people = [
        _recipient("maria", email="home@mailbox.example"),
        _recipient("ana", email="Home@mailbox.example"),
        _recipient("to_1", email="HOME@mailbox.example"),
        _recipient("to_2", email="home@MAILBOX.example", sms="+4915112345678"),
    ]
    told = _run()
    assert _reached() == ["ana", "maria", "to_1", "to_2"]
    assert told.count("stay apart\n") == 6
    assert f"recipients {people[0].pk} and {people[1].pk} share an address" in told
    assert "0 recipients merged" in told
    assert "home" not in told


@pytest.mark.django_db
def test_a_third_recipient_that_appears_later_joins() -> None:
    one, two = _twins()
    _run()
    one.contacts.update(invalidated_at=clock.now(), invalid_reason="vendor: gone")
    three = _recipient("to_3", email="OPT.out@mailbox.example", sms="+52 15512345678")
    three.contacts.filter(channel=Channel.SMS).update(address="+525512345678")
    assert _run() == "1 recipients merged\n"
    assert _reached() == ["to_3"]
    found = {each.invalid_reason for each in Contact.objects.filter(recipient__in=[one, two])}
    assert found == {"merged into to_3"}
