"""The adapter `inbox`: in-app messages without a contact, the contract, refusals and outages."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connections

from notifications.core import clock, conf
from notifications.core.delivery import deliver, routing
from notifications.core.intake import accept
from notifications.core.intake.accept import Caller
from notifications.core.models import (
    Attempt,
    Contact,
    DeadLetter,
    Delivery,
    InboxItem,
    Preference,
    Recipient,
    Template,
    TemplateText,
)
from notifications.core.operations import withdraw
from notifications.core.rules import ids, request
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Problem
from notifications.core.rules.states import Status
from notifications.core.rules.withdrawals import WithdrawalState
from notifications.core.sweeps import withdrawals
from notifications.features.inbox.provider import InboxProvider
from notifications.features.inbox.rows import reads
from providers.conformance import Act, Subject, checks
from providers.contract import Accepted, Channel, Message, NotStarted, Rejected, Result
from providers.message_parts import InApp
from tests.journey import Accept, Reach, deliveries_of
from tests.providers.fakes import free_port

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = dt.timedelta(seconds=10)
CONTENT = {
    "title": "Invitation",
    "body": "Do you come?",
    "url": "/events/7",
    "actions": [{"id": "yes", "label": "Yes"}],
}
CHECKS = (
    checks.accepts_one_message,
    checks.accepts_no_message,
    checks.accepts_the_largest_batch,
    checks.answers_half_a_character_alone,
    checks.serves_several_threads,
    checks.believes_no_stranger,
)
"""The checks about a vendor's answers, deadlines and keys need a vendor's server."""


@pytest.fixture
def routed(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> Caller:
    """Route the channel in_app as an installation without NOTIFY_ROUTES for the channel."""
    given = conf.current()
    changed = dataclasses.replace(given, routes={**given.routes, Channel.IN_APP: "inbox"})
    monkeypatch.setattr(conf, "current", lambda: changed)
    routing.forget()
    return caller


def send(take: Accept, **fields: object) -> Delivery:
    wanted = {"template_id": None, "variables": {}, "content": CONTENT, "channels": ["in_app"]}
    [row] = deliveries_of(take(**{**wanted, **fields}))
    return row


def only_item(delivery_id: UUID) -> InboxItem:
    return InboxItem.objects.get(id=delivery_id)


def test_a_message_needs_no_contact_and_is_in_the_inbox_when_it_is_sent(
    routed: Caller, reach: Reach, take: Accept
) -> None:
    del routed
    person = reach()
    row = send(take, collapse_key="event-7", inbox_data={"event": 7}, inbox_expires_in_seconds=3600)
    assert (row.contact_id, row.status) == (-person.pk, Status.QUEUED)
    before = clock.now()
    deliver.deliver([row.id])
    row.refresh_from_db()
    assert (row.status, row.provider) == (Status.SENT, "inbox")
    item = only_item(row.id)
    assert (item.recipient_id, item.notification_id) == (person.pk, ids.notification_of(row.id))
    assert (item.type, item.category, item.title, item.body) == (
        *("LIKE", "social", "Invitation", "Do you come?"),
    )
    assert (item.url, item.image_url, item.data) == ("/events/7", "", {"event": 7})
    assert item.actions == [{"id": "yes", "label": "Yes", "url": None}]
    assert item.collapse_key.endswith("-event-7")
    assert item.expires_at is not None
    assert dt.timedelta(hours=1) <= item.expires_at - before < dt.timedelta(hours=2)
    assert reads.counts(person.pk).unread == 1


def test_a_repeat_after_a_lost_settle_adds_no_second_item(
    routed: Caller, reach: Reach, take: Accept
) -> None:
    del routed
    person = reach()
    row = send(take)
    deliver.deliver([row.id])
    # As after a kill between the item's commit and the settle.
    Delivery.objects.filter(id=row.id).update(status=Status.QUEUED, due_at=TransactionNow())
    deliver.deliver([row.id])
    row.refresh_from_db()
    assert (row.status, Attempt.objects.filter(delivery_id=row.id).count()) == (Status.SENT, 2)
    assert InboxItem.objects.filter(recipient_id=person.pk).count() == 1
    assert reads.counts(person.pk).unread == 1


def test_a_test_recipient_has_an_inbox_and_an_address_leads_to_the_sandbox(
    routed: Caller, outbox: Callable[[UUID], list[object]]
) -> None:
    caller = dataclasses.replace(routed, mode=Mode.TEST)
    person = Recipient.objects.create(mode=Mode.TEST, user_id="tess")

    def row() -> Delivery:
        body = {"user_id": "tess", "type": "LIKE", "channels": ["in_app"], "content": CONTENT}
        parsed = request.parse(body)
        assert not isinstance(parsed, Problem), parsed
        [answer] = accept.accept(caller, [parsed])
        [made] = deliveries_of(answer)
        deliver.deliver([made.id])
        made.refresh_from_db()
        return made

    first = row()
    assert (first.status, first.provider) == (Status.SENT, "inbox")
    assert only_item(first.id).recipient_id == person.pk
    Contact.objects.create(
        recipient=person, channel=Channel.IN_APP, address="tess.410", is_primary=True
    )
    second = row()
    assert (second.status, second.provider) == (Status.FAILED, "sandbox")
    assert not InboxItem.objects.filter(id=second.id)
    assert len(outbox(second.id)) == 1


def test_a_recipient_can_switch_the_channel_off(routed: Caller, reach: Reach, take: Accept) -> None:
    del routed
    Preference.objects.create(recipient=reach(), channels_off=[Channel.IN_APP])
    row = send(take)
    assert (row.status, row.reason, row.contact_id) == (Status.SUPPRESSED, "opted_out", None)


def test_a_sensitive_variable_of_an_older_text_is_masked(
    routed: Caller, reach: Reach, take: Accept
) -> None:
    del routed
    old = Template.objects.create(template_id="old", sensitive_variables=["code"])
    TemplateText.objects.create(
        template=old, channel=Channel.IN_APP, title="Hi {{ name }}", body="Code {{ code }}"
    )
    Template.objects.filter(pk=old.pk).update(published_at=clock.now())
    reach()
    given = {"template_id": "old", "variables": {"name": "Ana", "code": "4711"}}
    row = send(take, content=None, **given)
    deliver.deliver([row.id])
    item = only_item(row.id)
    assert (item.title, item.body) == ("Hi Ana", "Code •••")


def test_an_unsafe_link_of_a_variable_is_a_dead_letter_and_no_item(
    routed: Caller, reach: Reach, take: Accept
) -> None:
    del routed
    made = Template.objects.create(template_id="linked")
    TemplateText.objects.create(
        template=made, channel=Channel.IN_APP, body="B", in_app={"url": "{{ link }}"}
    )
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())
    reach()
    row = send(take, content=None, template_id="linked", variables={"link": "javascript:x"})
    deliver.deliver([row.id])
    letter = DeadLetter.objects.get(delivery_id=row.id)
    assert (letter.reason, letter.contact_id) == ("render_error", row.contact_id)
    assert letter.detail.startswith("url must be an https URL")
    assert not InboxItem.objects.filter(id=row.id)


def test_a_withdrawn_notification_leaves_the_inbox(
    routed: Caller, reach: Reach, take: Accept
) -> None:
    del routed
    person = reach()
    row = send(take)
    deliver.deliver([row.id])
    [told] = withdraw.withdraw(ids.notification_of(row.id), by="tests")
    assert told.state is WithdrawalState.WITHDRAWING
    withdrawals.run_once(now=clock.now(), limit=10)
    assert only_item(row.id).removal == "withdrawn"
    assert reads.counts(person.pk).total == 0
    [told] = withdraw.withdraw(ids.notification_of(row.id), by="tests")
    assert told.state is WithdrawalState.WITHDRAWN
    row.refresh_from_db()
    assert row.status == Status.SENT


def message(number: int, **parts: object) -> Message:
    values: dict[str, object] = {"recipient_id": 7, **parts}
    return Message(
        delivery_id=UUID(int=number),
        notification_id=UUID(int=number + 2**64),
        idempotency_key=str(number),
        channel=Channel.IN_APP,
        address="maria",
        title="T",
        body="B",
        data={"type": "LIKE"},
        in_app=InApp(**values),  # type: ignore[arg-type] # a test names the fields it wants
    )


def outcomes(provider: InboxProvider, batch: Sequence[Message]) -> list[object]:
    found: dict[UUID, Result] = {
        each.delivery_id: each for each in provider.send(batch, deadline=PATIENCE)
    }
    return [found[each.delivery_id].outcome for each in batch]


def test_an_item_that_the_database_refuses_stops_no_other() -> None:
    batch = [message(1), message(2, category="x" * 65), message(3)]
    first, second, third = outcomes(InboxProvider(), batch)
    assert (first, third) == (Accepted(), Accepted())
    assert isinstance(second, Rejected)
    assert second.code == "22001"  # string_data_right_truncation
    assert InboxItem.objects.count() == 2


def test_a_message_without_a_recipient_is_refused() -> None:
    provider = InboxProvider()
    [outcome] = outcomes(provider, [dataclasses.replace(message(1), in_app=None)])
    assert isinstance(outcome, Rejected)


def test_an_outage_of_the_database_spends_no_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = InboxProvider()
    monkeypatch.setitem(connections.settings["default"], "HOST", "127.0.0.1")
    monkeypatch.setitem(connections.settings["default"], "PORT", str(free_port()))
    with ThreadPoolExecutor(1) as thread:  # a thread has no connection yet, as that of a wave
        assert thread.submit(outcomes, provider, [message(1)]).result() == [
            NotStarted(code="database")
        ]
    monkeypatch.undo()
    assert outcomes(provider, [message(1)]) == [Accepted()]


class _Nobody:
    """The controls of a vendor that always accepts."""

    keys: Sequence[str] = ()
    retry_after = None

    def act(self, act: Act) -> None:
        assert act is Act.ACCEPT

    def stop(self) -> None:
        raise NotImplementedError

    def start(self) -> None:
        raise NotImplementedError


class _InboxSubject(Subject):
    def _message(self, serial: int) -> Message:
        return dataclasses.replace(super()._message(serial), in_app=InApp(recipient_id=7))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_adapter_keeps_the_contract(check: Callable[[Subject], None]) -> None:
    subject = _InboxSubject(
        provider=InboxProvider(), server=_Nobody(), channel=Channel.IN_APP, address="maria"
    )
    check(subject)
