"""The suppression list: once for each reason, however it is spelled; undone, not deleted."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from notifications.core.models import Contact, Preference, Recipient, Suppression
from notifications.core.rules.lane import Mode
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import dead_contacts, recipients, suppressions
from notifications.core.store.postgres.contact_book import TAKEN_AWAY, Address, ContactChange
from notifications.core.store.postgres.dead_contacts import DeadReport
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel
from tests.moments import transaction_now

pytestmark = pytest.mark.django_db

MARIA = "Maria@Example.com"
MINUTE = dt.timedelta(minutes=1)


def entry(cause: Cause = Cause.MANUAL, address: str = MARIA) -> SuppressionEntry:
    return SuppressionEntry(channel=Channel.EMAIL, address=address, cause=cause)


def contact(
    *, user_id: str = "maria", mode: Mode = Mode.LIVE, channel: Channel = Channel.EMAIL
) -> Contact:
    person, _ = Recipient.objects.get_or_create(mode=mode, user_id=user_id)
    return Contact.objects.create(recipient=person, channel=channel, address="maria@example.com")


def active() -> list[str]:
    rows = suppressions.of_address(Channel.EMAIL, MARIA).filter(undone_at=None)
    return sorted(rows.values_list("reason", flat=True))


def test_an_address_is_on_the_list_once_for_a_reason() -> None:
    twice = [entry(), entry(address="maria@EXAMPLE.com")]
    assert suppressions.add(twice, by="operator") == 1
    assert suppressions.add([entry(), entry(Cause.IMPORT)], by="operator") == 1
    assert active() == ["import", "manual"]


def test_a_number_keeps_its_spelling() -> None:
    number = SuppressionEntry(
        channel=Channel.SMS, address="+4915112345678", cause=Cause.STOP_KEYWORD
    )
    suppressions.add([number], by="twilio")
    assert Suppression.objects.get().address == "+4915112345678"


def test_undoing_one_reason_leaves_the_other_and_says_who_did_it() -> None:
    suppressions.add([entry(Cause.BOUNCE), entry(Cause.STOP_KEYWORD)], by="x")
    rows = suppressions.of_address(Channel.EMAIL, MARIA).filter(reason=Cause.STOP_KEYWORD)
    assert suppressions.undo(rows, by="operator", note="they called us") == 1
    assert suppressions.undo(rows, by="another", note="twice is once") == 0
    assert active() == ["bounce"]
    undone = rows.get()
    assert (undone.undone_by, undone.undo_note) == ("operator", "they called us")
    assert suppressions.add([entry(Cause.STOP_KEYWORD)], by="x") == 1


def test_a_bounce_enters_the_list_and_its_undo_revives_the_contact() -> None:
    bounced, other = contact(), contact(user_id="bernd")
    dead_contacts.invalidate({bounced.pk: DeadReport("ses: Bounce/Permanent")}, provider="ses")
    row = Suppression.objects.get()
    assert (row.reason, row.provider, row.created_by) == ("bounce", "ses", "ses")
    assert row.note == "ses: Bounce/Permanent"
    suppressions.undo(Suppression.objects.all(), by="operator", note="")
    bounced.refresh_from_db()
    assert bounced.invalidated_at is None
    assert other.invalidated_at is None


def test_a_contact_stays_dead_while_a_complaint_is_left_and_a_removed_one_stays_removed() -> None:
    dead, removed = contact(), contact(user_id="bernd")
    Contact.objects.filter(pk=removed.pk).update(
        invalidated_at=clock.now(), invalid_reason=TAKEN_AWAY
    )
    dead_contacts.invalidate({dead.pk: DeadReport("ses: Bounce")}, provider="ses")
    dead_contacts.invalidate(
        {dead.pk: DeadReport("ses: Complaint")}, provider="ses", cause=Cause.COMPLAINT
    )
    suppressions.undo(Suppression.objects.filter(reason=Cause.BOUNCE), by="operator", note="")
    dead.refresh_from_db()
    assert dead.invalid_reason == "ses: Bounce"
    suppressions.undo(Suppression.objects.all(), by="operator", note="")
    dead.refresh_from_db()
    removed.refresh_from_db()
    assert (dead.invalidated_at, removed.invalid_reason) == (None, TAKEN_AWAY)


def test_neither_a_test_contact_nor_a_push_token_enters_the_list() -> None:
    ours = contact(mode=Mode.TEST), contact(channel=Channel.PUSH)
    dead_contacts.invalidate({each.pk: DeadReport("dead") for each in ours}, provider="sandbox")
    assert not Suppression.objects.exists()
    assert not Contact.objects.filter(invalidated_at=None).exists()


def test_leaving_a_category_twice_is_once_and_keeps_the_others() -> None:
    person = Recipient.objects.create(user_id="maria")
    Preference.objects.create(recipient=person, categories_off=["social"])
    assert recipients.leave_category(person.pk, category="marketing")
    assert not recipients.leave_category(person.pk, category="marketing")
    assert Preference.objects.get().categories_off == ["social", "marketing"]


def test_who_never_said_anything_leaves_a_category_too_and_who_is_erased_does_not() -> None:
    person = Recipient.objects.create(user_id="maria")
    assert recipients.leave_category(person.pk, category="marketing")
    assert not recipients.leave_category(person.pk + 1, category="marketing")
    assert Preference.objects.get().channels_off == []


@pytest.mark.parametrize("written", ["maria@faß.de", "MARIA@xn--fa-hia.de", "maria@FAß.de"])
def test_a_domain_in_another_script_is_listed_as_contacts_have_it(written: str) -> None:
    suppressions.add([entry(address="maria@faß.de")], by="operator")
    assert Suppression.objects.get().address == "maria@xn--fa-hia.de"
    assert suppressions.of_address(Channel.EMAIL, written).count() == 1


def _bounce(row: Contact, *, at: dt.datetime | None, cause: Cause = Cause.BOUNCE) -> bool:
    """Report a dead address; returns True if the contact is invalid or listed then."""
    dead_contacts.invalidate({row.pk: DeadReport("ses: Bounce", at)}, provider="ses", cause=cause)
    row.refresh_from_db()
    return row.invalidated_at is not None or bool(active())


@pytest.mark.parametrize("cause", [Cause.BOUNCE, Cause.COMPLAINT])
def test_evidence_from_before_an_undo_says_nothing_and_later_evidence_does(cause: Cause) -> None:
    bounced = contact()
    before = transaction_now() - MINUTE
    assert _bounce(bounced, at=before, cause=cause)
    suppressions.undo(Suppression.objects.all(), by="operator", note="repaired")
    assert not _bounce(bounced, at=before, cause=cause)
    assert not _bounce(bounced, at=before - MINUTE, cause=cause)
    assert _bounce(bounced, at=clock.now() + MINUTE, cause=cause)


def test_evidence_from_before_a_new_registration_says_nothing() -> None:
    token = contact(channel=Channel.PUSH)
    before = clock.now()
    address = Address(channel=Channel.PUSH, address=token.address)
    by = ContactChange(by="orders")
    recipients.remove_contact(token.recipient, contact_id=token.pk, change=by)
    recipients.add_contact(token.recipient, address, by)
    assert not _bounce(token, at=before)
    assert _bounce(token, at=clock.now() + MINUTE)


def test_a_complaint_counts_although_the_contact_has_changed() -> None:
    mailbox = contact()
    Contact.objects.filter(pk=mailbox.pk).update(changed_at=clock.now() + MINUTE)
    assert not _bounce(mailbox, at=clock.now())
    assert _bounce(mailbox, at=clock.now(), cause=Cause.COMPLAINT)


def test_a_report_without_a_time_counts() -> None:
    bounced = contact()
    assert _bounce(bounced, at=None)
    suppressions.undo(Suppression.objects.all(), by="operator", note="")
    assert _bounce(bounced, at=None)
