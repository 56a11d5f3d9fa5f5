"""A test goes to the operator's own address only, marked, counted and audited."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Group, User

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.models import AuditEntry, Contact, Recipient
from notifications.core.operations import single_call
from notifications.core.operations.single_call import CannotSend
from notifications.core.rules import attachments
from notifications.core.rules.lane import Mode
from notifications.core.rules.language.templating import Rendered
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from notifications.core.store.redis import state
from notifications.core.store.templates import files
from notifications.features.attachments.models import Attachment
from notifications.features.template_studio import test_lists, test_send
from notifications.features.template_studio.test_send import MarkedText
from providers import dry_run
from providers.contract import Channel, Message, Provider

pytestmark = pytest.mark.django_db
EMAIL = "anna@example.com"
PNG = b"\x89PNG\r\n\x1a\nlogo"
WORDS = Rendered(title="Order 1", body="is ready", html="<p>is ready</p>")


@pytest.fixture
def anna() -> Iterator[User]:
    state.client().flushdb()
    yield User.objects.create_user("anna", email=EMAIL)
    state.client().flushdb()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """The messages that reach the provider; the provider is the dry run."""
    dry = dataclasses.replace(conf.current(), dry_run=True)
    monkeypatch.setattr(conf, "current", lambda: dry)
    messages: list[Message] = []
    really = single_call.send

    def note(provider: Provider, message: Message) -> tuple[bool, str]:
        messages.append(message)
        return really(provider, message)

    monkeypatch.setattr(single_call, "send", note)
    return messages


def phone_of(email: str, number: str, *, user_id: str = "u_anna") -> None:
    person = Recipient.objects.create(mode=Mode.LIVE, user_id=user_id)
    for channel, address in ((Channel.EMAIL, email), (Channel.SMS, number)):
        Contact.objects.create(recipient=person, channel=channel, address=address, is_primary=True)


def test_a_mail_goes_to_the_address_of_the_account(anna: User, sent: list[Message]) -> None:
    accepted, line = test_send.send_to_operator(
        anna, MarkedText(WORDS, Channel.EMAIL, template="order v3")
    )
    assert accepted
    assert dry_run.NAME in line
    [message] = sent
    assert (message.address, message.title, message.html) == (
        EMAIL,
        "[Test] Order 1",
        "<p>is ready</p>",
    )
    entry = AuditEntry.objects.get()
    assert (entry.by, entry.operation, entry.object_name) == (
        "anna",
        "send_template_test",
        "order v3",
    )
    assert EMAIL not in str(entry.after)


def test_other_channels_go_to_the_recipient_with_the_same_mailbox(
    anna: User, sent: list[Message]
) -> None:
    with pytest.raises(CannotSend, match="Register a recipient"):
        test_send.send_to_operator(anna, MarkedText(WORDS, Channel.SMS, template="t"))
    phone_of(EMAIL, "+4915112345678")
    phone_of("other@example.com", "+4915100000000", user_id="u_other")
    test_send.send_to_operator(
        anna, MarkedText(Rendered(title="", body="is ready", html=""), Channel.SMS, template="t")
    )
    assert (sent[-1].address, sent[-1].body) == ("+4915112345678", "[Test] is ready")
    phone_of(EMAIL, "+4915122222222", user_id="u_twin")
    with pytest.raises(CannotSend, match="Several recipients"):
        test_send.send_to_operator(anna, MarkedText(WORDS, Channel.SMS, template="t"))


def test_an_account_without_mailbox_and_a_suppressed_one_get_nothing(
    anna: User, sent: list[Message]
) -> None:
    entry = SuppressionEntry(channel=Channel.EMAIL, address=EMAIL, cause=Cause.BOUNCE)
    suppressions.add([entry], by="ses")
    with pytest.raises(CannotSend, match="suppression list"):
        test_send.send_to_operator(anna, MarkedText(WORDS, Channel.EMAIL, template="t"))
    with pytest.raises(CannotSend, match="no e-mail address"):
        test_send.send_to_operator(
            User(username="x"), MarkedText(WORDS, Channel.EMAIL, template="t")
        )
    assert sent == []


def test_tests_are_counted(anna: User, sent: list[Message]) -> None:
    for _ in range(test_send.BURST):
        test_send.send_to_operator(anna, MarkedText(WORDS, Channel.EMAIL, template="t"))
    with pytest.raises(CannotSend, match="Too many tests"):
        test_send.send_to_operator(anna, MarkedText(WORDS, Channel.EMAIL, template="t"))
    assert len(sent) == test_send.BURST


def test_without_a_provider_the_operator_is_told(
    anna: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "live_providers", lambda _channel: [])
    with pytest.raises(CannotSend, match="No provider is configured for email"):
        test_send.send_to_operator(anna, MarkedText(WORDS, Channel.EMAIL, template="t"))


def files_of_a_version(content: bytes) -> tuple[attachments.Attachment, ...]:
    stored = files.store("image/png", content)
    facts = {**stored._asdict(), "name": "logo.png", "inline_id": "logo"}
    return attachments.of_template([facts])


def test_a_mail_has_the_files_of_the_version_and_another_channel_has_none(
    anna: User, sent: list[Message]
) -> None:
    phone_of(EMAIL, "+15550001")
    named = files_of_a_version(PNG)
    for channel in (Channel.EMAIL, Channel.SMS):
        test_send.send_to_operator(anna, MarkedText(WORDS, channel, template="t", files=named))
    mail, text = sent
    assert text.attachments == ()
    [part] = mail.attachments
    assert (part.name, part.media_type, part.content, part.inline_id) == (
        "logo.png",
        "image/png",
        PNG,
        "logo",
    )


def test_a_deleted_file_and_files_that_no_provider_takes_are_told(
    anna: User, sent: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    named = files_of_a_version(PNG)
    small = dataclasses.replace(dry_run.DryRun.capabilities, attachment_bytes=len(PNG) - 1)
    with monkeypatch.context() as patch:
        patch.setattr(dry_run.DryRun, "capabilities", small)
        with pytest.raises(CannotSend, match="takes the files of the version together"):
            test_send.send_to_operator(
                anna, MarkedText(WORDS, Channel.EMAIL, template="t", files=named)
            )
    Attachment.objects.all().delete()
    with pytest.raises(CannotSend, match="no longer has the attachment"):
        test_send.send_to_operator(
            anna, MarkedText(WORDS, Channel.EMAIL, template="t", files=named)
        )
    assert sent == []


def test_a_list_gets_the_test_and_names_who_got_nothing(anna: User, sent: list[Message]) -> None:
    group = Group.objects.create(name="test: team")
    bob = User.objects.create_user("bob", email="bob@example.com")
    nameless = User.objects.create_user("carl")
    gone = User.objects.create_user("gone", email="gone@example.com", is_active=False)
    group.user_set.set([bob, nameless, gone])
    assert test_lists.sizes() == {"team": 2}

    text = MarkedText(WORDS, Channel.EMAIL, template="order v3")
    is_accepted, said = test_lists.send("team", text, by=anna)
    assert not is_accepted
    assert said.splitlines() == [
        "Accepted for 1 of 2.",
        "carl: The account has no e-mail address. An owner enters it under Users.",
    ]
    assert [message.address for message in sent] == ["bob@example.com"]
    assert AuditEntry.objects.get().by == "anna"


def test_no_other_group_is_a_list_and_a_large_one_is_refused(
    anna: User, sent: list[Message]
) -> None:
    text = MarkedText(WORDS, Channel.EMAIL, template="t")
    for group in Group.objects.all():
        group.user_set.add(anna)
    assert test_lists.sizes() == {}
    with pytest.raises(CannotSend, match="has no active account"):
        test_lists.send("role: owner", text, by=anna)
    large = Group.objects.create(name="test: all")
    for number in range(test_lists.MOST + 1):
        large.user_set.add(User.objects.create_user(f"u{number}", email=f"u{number}@example.com"))
    with pytest.raises(CannotSend, match="has 11 accounts; a list has at most 10"):
        test_lists.send("all", text, by=anna)
    assert sent == []


def test_a_list_ends_in_time_though_a_provider_is_slow(
    anna: User, sent: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    group = Group.objects.create(name="test: team")
    for name in ("bob", "carl"):
        group.user_set.add(User.objects.create_user(name, email=f"{name}@example.com"))
    monkeypatch.setattr(test_lists, "_LONGEST", dt.timedelta())
    text = MarkedText(WORDS, Channel.EMAIL, template="t")
    _, said = test_lists.send("team", text, by=anna)
    assert said == "Accepted for 0 of 2.\nbob: No time was left.\ncarl: No time was left."
    assert sent == []
