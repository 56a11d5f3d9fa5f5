"""The page of a message answers what happened, and offers what an operator can do."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import (
    Attempt,
    AuditEntry,
    Contact,
    DeadLetter,
    Delivery,
    Notification,
    Recipient,
    Template,
    TemplateText,
    Withdrawal,
)
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.sensitive import Sensitive
from notifications.core.rules.states import Status
from notifications.core.store.postgres import secret_variables
from notifications.core.store.templates import template_cache
from providers.contract import Channel
from tests.admin.conftest import ADDRESS, MakeDelivery

MakeLetters = Callable[[list[str]], list[DeadLetter]]
PHONE = "+5511987654321"


def page_of(delivery: Delivery) -> str:
    return reverse("admin:notifications_notification_change", args=[delivery.notification_id])


def action_of(delivery: Delivery, action: str) -> str:
    return reverse(f"admin:notifications_notification_{action}", args=[delivery.notification_id])


def shown(door: Client, delivery: Delivery) -> str:
    return " ".join(door.get(page_of(delivery)).content.decode().split())


@pytest.fixture
def otp(db: None) -> Template:  # noqa: ARG001 - asked for by name
    """A published template with a sensitive variable, by mail and SMS."""
    template = Template.objects.create(template_id="otp", sensitive_variables=["code"])
    for channel in (Channel.EMAIL, Channel.SMS):
        TemplateText.objects.create(
            template=template,
            channel=channel,
            locale="en",
            title="{{ shop }}",
            body="{{ code }} is your code for {{ shop }}",
        )
    Template.objects.update(published_at=clock.now())
    template_cache.forget()
    return template


def test_the_content_is_rendered_again_with_sensitive_variables_masked(
    door: Client, make_delivery: MakeDelivery, otp: Template
) -> None:
    secrets = secret_variables.encrypt(Sensitive({"code": "493021"}))
    delivery = make_delivery(template=otp.pk, variables={"shop": "Acme"}, secrets=secrets)
    page = shown(door, delivery)
    assert "••• is your code for Acme" in page
    assert "Masked: code" in page
    assert "493021" not in page


def test_inline_content_is_shown_and_its_html_is_in_a_sandbox(
    door: Client, make_delivery: MakeDelivery
) -> None:
    content = {"title": "Hello", "body": "Plain", "html": "<p onclick=x()>Rich</p>"}
    page = shown(door, make_delivery(content=content))
    assert "Plain</pre>" in page
    assert 'srcdoc="&lt;p onclick=x()&gt;Rich&lt;/p&gt;"' in page
    assert "<iframe sandbox " in page


def test_a_deleted_template_is_said(door: Client, make_delivery: MakeDelivery) -> None:
    page = shown(door, make_delivery(template=987_654))
    assert "The template version was deleted" in page


def test_the_message_of_an_erased_recipient_has_no_link_to_the_recipient(
    door: Client, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery()
    link = 'href="/admin/notifications/recipient/'
    linked = shown(door, delivery).count(link)
    Recipient.objects.all().delete()
    page = shown(door, delivery)
    assert linked > page.count(link) == 1, "the entry of the menu is left"
    assert "Accepted" in page


def test_the_attachments_are_named_with_type_size_and_digest(
    door: Client, make_delivery: MakeDelivery
) -> None:
    digest = "ab" * 32
    id_ = str(uuid4())
    file = {"id": id_, "name": "<b>.pdf", "type": "application/pdf", "size": 2048}
    delivery = make_delivery(attachments=[{**file, "digest": digest}])
    page = shown(door, delivery)
    assert "Attachments of the e-mail" in page
    assert "&lt;b&gt;.pdf</a>, application/pdf, 2.0" in page
    assert digest in page
    assert id_ in page  # of the curl command


def test_the_address_is_masked(door: Client, make_delivery: MakeDelivery) -> None:
    page = shown(door, make_delivery())
    assert ADDRESS not in page
    assert re.search(r"<strong>email</strong> to <span[^>]*>m\*\*\*@sandbox\.example", page)


def test_each_call_has_its_answer_and_a_request_that_is_called_reconstructed(
    door: Client, make_delivery: MakeDelivery
) -> None:
    page = shown(door, make_delivery())
    assert "reconstructed: the service stores no request" in page
    assert '<dt>text</dt><dd class="nc-mono">try again later</dd>' in page
    assert '<dt>HTTP status</dt><dd class="nc-mono">503</dd>' in page


def test_the_drawing_is_linear_for_seconds_and_logarithmic_for_hours(
    door: Client, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery()
    assert "linear scale" in shown(door, delivery)
    later = clock.now() + dt.timedelta(hours=3)
    Attempt.objects.create(
        delivery_id=delivery.id,
        number=2,
        provider="sandbox",
        outcome="accepted",
        started_at=later,
        latency_ms=50,
    )
    page = shown(door, delivery)
    assert "logarithmic scale" in page
    assert "call 2: accepted, 50 ms" in page
    assert "waited 3 h 0 min" in page or "waited 2 h 59 min" in page


def test_the_curl_command_has_no_key_and_no_secret(
    door: Client, make_delivery: MakeDelivery, otp: Template
) -> None:
    secrets = secret_variables.encrypt(Sensitive({"code": "493021"}))
    page = shown(door, make_delivery(template=otp.pk, variables={"shop": "A"}, secrets=secrets))
    assert "Authorization: Bearer $NOTIFY_KEY" in page
    assert "&quot;template_id&quot;: &quot;otp&quot;" in page
    assert "493021" not in page


def test_cancel_stops_what_waits_and_is_audited(door: Client, make_delivery: MakeDelivery) -> None:
    delivery = make_delivery(status=Status.SCHEDULED, reason="scheduled")
    Delivery.objects.update(due_at=clock.now() + dt.timedelta(hours=1))
    assert action_of(delivery, "cancel") in shown(door, delivery)
    question = door.get(action_of(delivery, "cancel"))
    assert b"stopped for good" in question.content
    delivery.refresh_from_db()
    assert delivery.status == Status.SCHEDULED
    door.post(action_of(delivery, "cancel"))
    delivery.refresh_from_db()
    assert (delivery.status, delivery.reason) == (Status.CANCELLED, Reason.CANCELLED)
    entry = AuditEntry.objects.get(operation="cancel_notification")
    assert (entry.by, entry.object_id) == ("operator", str(delivery.notification_id))
    assert action_of(delivery, "cancel") not in shown(door, delivery)


def test_a_sent_push_is_withdrawn_and_audited(door: Client, make_delivery: MakeDelivery) -> None:
    delivery = make_delivery(status=Status.SENT)
    Delivery.objects.update(channel=Channel.PUSH)
    assert action_of(delivery, "withdraw") in shown(door, delivery)
    question = door.get(action_of(delivery, "withdraw"))
    assert b"remove the message" in question.content
    assert not Withdrawal.objects.exists()
    answer = door.post(action_of(delivery, "withdraw"), follow=True)
    assert b"1 delivery: The device is told to remove the message." in answer.content
    assert Withdrawal.objects.get().delivery_id == delivery.pk
    entry = AuditEntry.objects.get(operation="withdraw_notification")
    assert (entry.by, entry.object_id) == ("operator", str(delivery.notification_id))


def test_an_email_has_no_button_to_withdraw(door: Client, make_delivery: MakeDelivery) -> None:
    delivery = make_delivery(status=Status.SENT)
    Delivery.objects.update(channel=Channel.EMAIL)
    assert action_of(delivery, "withdraw") not in shown(door, delivery)


def test_a_dead_letter_is_replayed_from_the_page(door: Client, make_letters: MakeLetters) -> None:
    [letter] = make_letters(["permanent"])
    delivery = Delivery.objects.get(pk=letter.delivery_id)
    link = f"{reverse('admin:notifications_deadletter_replay')}?ids={letter.pk}"
    assert link in shown(door, delivery)


def add_phone(recipient: Recipient) -> None:
    Contact.objects.create(recipient=recipient, channel=Channel.SMS, address=PHONE, is_primary=True)


def resend(door: Client, delivery: Delivery, channel: str) -> str:
    answer = door.post(action_of(delivery, "resend"), {"channel": channel}, follow=True)
    return " ".join(answer.content.decode().split())


def newest(delivery: Delivery) -> Notification:
    return Notification.objects.exclude(pk=delivery.notification_id).get()


def test_resend_goes_to_the_channel_once_and_is_linked_both_ways(
    door: Client, maria: Recipient, make_delivery: MakeDelivery, otp: Template
) -> None:
    secrets = secret_variables.encrypt(Sensitive({"code": "493021"}))
    delivery = make_delivery(template=otp.pk, variables={"shop": "Acme"}, secrets=secrets)
    add_phone(maria)
    resend(door, delivery, "sms")
    resend(door, delivery, "sms")
    copy = newest(delivery)
    assert (copy.channels, copy.user_id, copy.template) == ([Channel.SMS], "u_789012", otp.pk)
    assert copy.secrets is not None
    assert secret_variables.decrypt(bytes(copy.secrets)).reveal() == {"code": "493021"}
    [sent] = Delivery.objects.filter(pk__gt=copy.pk)
    assert sent.status == Status.QUEUED
    assert str(copy.pk) in shown(door, delivery)
    assert f'Resent from <a href="{page_of(delivery)}"' in shown(door, sent)
    assert AuditEntry.objects.filter(operation="resend_notification").count() == 2


def test_resend_refuses_a_channel_without_a_contact(
    door: Client, make_delivery: MakeDelivery, otp: Template
) -> None:
    delivery = make_delivery(template=otp.pk, variables={"shop": "A", "code": "1"})
    assert "The recipient has no valid sms contact." in resend(door, delivery, "sms")
    assert Notification.objects.count() == 1


def test_resend_refuses_wiped_variables(
    door: Client, make_delivery: MakeDelivery, otp: Template
) -> None:
    delivery = make_delivery(template=otp.pk, variables={"shop": "Acme"})
    assert "The sensitive variables were wiped" in resend(door, delivery, "email")
    assert Notification.objects.count() == 1


def test_resend_refuses_a_channel_without_text(
    door: Client, maria: Recipient, make_delivery: MakeDelivery, otp: Template
) -> None:
    delivery = make_delivery(template=otp.pk, variables={"shop": "A", "code": "1"})
    Contact.objects.create(recipient=maria, channel=Channel.CHAT, address="room", is_primary=True)
    assert "has no text for chat" in resend(door, delivery, "chat")


def test_resend_refuses_an_old_security_code(door: Client, make_delivery: MakeDelivery) -> None:
    delivery = make_delivery(content={"body": "493021"})
    Notification.objects.update(
        priority=Priority.P0, expires_at=clock.now() - dt.timedelta(minutes=1)
    )
    assert "an old security message must not arrive" in resend(door, delivery, "email")


def test_an_unknown_channel_is_a_bad_request(door: Client, make_delivery: MakeDelivery) -> None:
    delivery = make_delivery(content={"body": "x"})
    assert door.post(action_of(delivery, "resend"), {"channel": "x"}).status_code == 400


def test_a_copy_goes_to_the_operator_once(
    door: Client, operator: User, make_delivery: MakeDelivery
) -> None:
    User.objects.filter(pk=operator.pk).update(email="ann@ops.example")
    delivery = make_delivery(content={"title": "Hello", "body": "Plain"})
    form = door.get(action_of(delivery, "send_to_me")).content.decode()
    [nonce] = re.findall(r'name="nonce" value="([^"]+)"', form)
    assert "ann@ops.example" in form
    for _ in range(2):
        door.post(action_of(delivery, "send_to_me"), {"channel": "email", "nonce": nonce})
    copy = newest(delivery)
    assert (copy.type, copy.mode) == ("CONSOLE_COPY", Mode.LIVE)
    assert copy.content == {"title": "Hello", "body": "Plain", "html": ""}
    [contact] = Contact.objects.filter(recipient_id=copy.recipient_id)
    assert contact.address == "ann@ops.example"


def test_an_operator_without_an_address_is_told_so(
    door: Client, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery(content={"body": "Plain"})
    assert b"has no e-mail address" in door.get(action_of(delivery, "send_to_me")).content
    door.post(action_of(delivery, "send_to_me"), {"channel": "email", "nonce": "n"})
    assert Notification.objects.count() == 1


def test_a_viewer_has_no_buttons_and_no_actions(
    window: Client, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery(status=Status.SCHEDULED, reason="scheduled")
    page = shown(window, delivery)
    assert "Copy as curl" in page
    for action in ("cancel", "resend", "send_to_me"):
        assert action_of(delivery, action) not in page
        assert window.post(action_of(delivery, action), {"channel": "email"}).status_code == 403
    assert Notification.objects.count() == 1


def test_an_address_in_a_text_is_masked_without_the_right_to_see_addresses(
    door: Client, window: Client, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery(
        content={"title": "Hi", "body": f"Write to {ADDRESS}"},
        ordering_key=ADDRESS,
        idempotency_key=f"welcome {ADDRESS}",
        collapse_key=ADDRESS,
    )
    assert ADDRESS in shown(door, delivery)
    assert ADDRESS not in shown(window, delivery)


@pytest.mark.parametrize("action", ["cancel", "resend", "send_to_me"])
def test_an_action_on_no_message_is_not_found(door: Client, db: None, action: str) -> None:  # noqa: ARG001 - asked for by name
    for object_id in ("nonsense", UUID(int=1)):
        page = reverse(f"admin:notifications_notification_{action}", args=[object_id])
        assert door.get(page).status_code == 404
