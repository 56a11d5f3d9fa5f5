"""STOP and START: what people answer to our texts, and what it changes."""

from __future__ import annotations

import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from notifications.core import clock
from notifications.core.feedback import inbound_sms
from notifications.core.models import Contact, ReceivedText, Suppression
from notifications.core.rules.states import Status
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import opted_out_contacts, suppressions
from notifications.core.store.postgres.opted_out_contacts import OptOut
from notifications.core.store.postgres.suppressions import SuppressionEntry
from notifications.core.sweeps import housekeeping
from providers.contract import Channel, InboundText
from tests.journey import Accept, Reach, deliveries_of
from tests.moments import transaction_now

NUMBER = "+4915112345678"


def says(text: str, message_id: str, number: str = NUMBER) -> int:
    reply = InboundText(
        from_address=number, to_address="1", text=text, provider_message_id=message_id
    )
    return inbound_sms.process("sandbox", [reply])


@pytest.mark.usefixtures("outbox")
def test_stop_ends_all_texts_and_start_begins_them_again(reach: Reach, take: Accept) -> None:
    reach(sms=NUMBER)
    assert says("Stop", "1") == 1
    [stopped] = deliveries_of(take(channels=["sms"], priority="P0"))
    assert (stopped.status, stopped.reason) == (Status.SUPPRESSED, "suppression_list")
    assert says("START", "2") == 1
    [going] = deliveries_of(take(channels=["sms"], priority="P0"))
    assert going.status == Status.QUEUED


@pytest.mark.usefixtures("outbox")
def test_stop_on_whatsapp_ends_messages_there_and_no_sms(reach: Reach, take: Accept) -> None:
    reach(sms=NUMBER, chat=f"whatsapp:{NUMBER}")

    def says_on_whatsapp(text: str, message_id: str) -> int:
        reply = InboundText(
            from_address=f"whatsapp:{NUMBER}",
            to_address="1",
            text=text,
            provider_message_id=message_id,
            channel=Channel.CHAT,
        )
        return inbound_sms.process("whatsapp", [reply])

    assert says_on_whatsapp("stop", "1") == 1
    raw = {"template_id": None, "variables": {}, "content": {"body": "Hi"}, "priority": "P0"}
    rows = deliveries_of(take(channels=["sms", "chat"], delivery="all", **raw))
    found = {Channel(row.channel): row.status for row in rows}
    assert found == {Channel.SMS: Status.QUEUED, Channel.CHAT: Status.SUPPRESSED}
    assert says_on_whatsapp("START", "2") == 1
    [row] = deliveries_of(take(channels=["chat"], **raw))
    assert row.status == Status.QUEUED


@pytest.mark.django_db
def test_a_text_that_comes_again_after_the_next_one_changes_nothing() -> None:
    assert [says("STOP", "1"), says("START", "2"), says("STOP", "1")] == [1, 1, 0]
    assert [says("STOP", "3"), says("START", "2")] == [1, 0]
    assert Suppression.objects.filter(undone_at=None).count() == 1


@pytest.mark.django_db
def test_a_repeat_of_a_text_that_changed_nothing_changes_nothing() -> None:
    assert [says("START", "1"), says("STOP", "2"), says("START", "1")] == [0, 1, 0]
    assert [says("STOP", "3"), says("START", "4"), says("STOP", "3")] == [0, 1, 0]


@pytest.mark.django_db
def test_an_id_is_its_providers_own() -> None:
    assert inbound_sms.remember_text("twilio", "1")
    assert inbound_sms.remember_text("vonage", "1")
    assert not inbound_sms.remember_text("twilio", "1")


@pytest.mark.django_db
def test_ids_of_texts_are_forgotten_after_a_month() -> None:
    assert inbound_sms.remember_text("twilio", "old")
    ReceivedText.objects.update(received_at=clock.now() - dt.timedelta(days=60))
    assert inbound_sms.remember_text("twilio", "new")
    housekeeping.run_once(now=clock.now(), limit=100)
    assert [each.message_id for each in ReceivedText.objects.all()] == ["new"]


@pytest.mark.django_db
def test_start_undoes_a_stop_and_nothing_else() -> None:
    entry = SuppressionEntry(channel=Channel.SMS, address=NUMBER, cause=Cause.MANUAL)
    suppressions.add([entry], by="operator")
    assert says("START", "1") == 0
    assert Suppression.objects.get().undone_at is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "number"), [("HELP", NUMBER), ("thanks", NUMBER), ("STOP", "22000"), ("STOP", "Shop")]
)
def test_other_texts_and_senders_change_nothing(text: str, number: str) -> None:
    assert says(text, "1", number) == 0
    assert not Suppression.objects.exists()


@pytest.mark.django_db
def test_a_sandbox_that_only_serves_test_keys_stops_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "notifications.core.feedback.inbound_sms.routing.live_providers", lambda _channel: []
    )
    assert says("STOP", "1") == 0
    assert not Suppression.objects.exists()


@pytest.mark.django_db
def test_a_start_without_a_stop_changes_nothing_and_is_stored(reach: Reach) -> None:
    reach(sms=NUMBER)
    assert says("START", "1") == 0
    row = Suppression.objects.get()
    assert row.undone_at is not None
    assert (row.reason, row.undo_note) == (Cause.STOP_KEYWORD, "text 1")
    assert says("START", "1", "+4915199999999") == 0
    assert Suppression.objects.count() == 1


def test_a_late_report_of_an_opt_out_from_before_the_first_start_stops_nothing(
    reach: Reach,
) -> None:
    reach(sms=NUMBER)
    [contact] = Contact.objects.all()
    before = transaction_now() - dt.timedelta(seconds=1)
    assert says("START", "1") == 0
    assert opted_out_contacts.record({contact.pk: OptOut("x", before)}, provider="twilio") == 0
    later = clock.now() + dt.timedelta(minutes=1)
    assert opted_out_contacts.record({contact.pk: OptOut("x", later)}, provider="twilio") == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("who", ["vendor", "person"])
def test_a_start_waits_for_an_opt_out_that_is_not_committed(reach: Reach, who: str) -> None:
    reach(sms=NUMBER)
    [contact] = Contact.objects.all()
    recorded, asked = threading.Event(), threading.Event()

    def opt_out() -> None:
        try:
            with transaction.atomic():
                if who == "vendor":
                    found = {contact.pk: OptOut("21610", clock.now())}
                    opted_out_contacts.record(found, provider="twilio")
                else:
                    says("STOP", "1")
                recorded.set()
                assert asked.wait(30)
                assert _waits_for_the_lock()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(opt_out)
        assert recorded.wait(30)
        asked.set()
        assert says("START", "2") == 1
        first.result()
    assert not Suppression.objects.filter(undone_at=None).exists()


def _waits_for_the_lock() -> bool:
    """Wait until another session waits for an advisory lock."""
    ends_at = clock.monotonic() + 30
    with connection.cursor() as cursor:
        while clock.monotonic() < ends_at:
            cursor.execute("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
            if cursor.fetchall():
                return True
    return False
