"""Faults of files, partial imports, and the rules that keep what this service knows."""

from __future__ import annotations

import gzip
import re
from typing import Any

import pytest
from django.core.management import CommandError

from notifications.core.models import (
    Attribute,
    Contact,
    NotificationType,
    Preference,
    Recipient,
    Suppression,
    Template,
)
from notifications.core.rules.lane import Mode, Priority
from notifications.core.store.postgres import recipients
from notifications.core.store.postgres.contact_book import Address, ContactChange
from notifications.features.moving import plans
from notifications.features.moving.management.commands import import_from as import_from_command
from providers.contract import Channel
from tests.features.moving import exports
from tests.features.moving.conftest import ImportFrom
from tests.features.moving.test_vendors import WHOLE

pytestmark = pytest.mark.django_db


def store(user_id: str, *addresses: Address) -> None:
    recipients.upsert(
        mode=Mode.LIVE,
        user_id=user_id,
        profile={},
        addresses=addresses,
        change=ContactChange(by="tests"),
    )


def is_empty() -> bool:
    return not any(model._default_manager.exists() for model in (Recipient, Suppression, Template))


@pytest.mark.parametrize("vendor", sorted(WHOLE))
@pytest.mark.parametrize("other", ["foreign.csv", "foreign.json", "broken.json", "binary.csv"])
def test_a_file_of_another_system_is_refused_with_its_place(
    vendor: str, other: str, import_from: ImportFrom
) -> None:
    content: Any = {
        "foreign.csv": "Contact ID,Mail\n1,a@example.com\n",
        "foreign.json": {"objects": [{"mail": "a@example.com"}]},
        "broken.json": '{"data": [',
        "binary.csv": "\x00\x01\x02",
    }[other]
    name = f"bounces-{other}" if vendor == "sendgrid" else other
    files = {**WHOLE[vendor], name: content}
    with pytest.raises(CommandError, match=r"Nothing was imported") as refused:
        import_from(vendor, files)
    assert is_empty()
    if name not in str(refused.value):
        assert f"not understood: {name}" in import_from(vendor, files, "--dry-run", "--partial")


def test_one_fault_keeps_everything_out_unless_the_import_is_partial(
    import_from: ImportFrom,
) -> None:
    lines = exports.RECIPIENTS_CSV + "u_3,no-mailbox,0151,,Mars/One,,,fax,,\nu_1,,,,,,,,,\n"
    with pytest.raises(CommandError, match=r"5 parts .* Nothing was imported"):
        import_from("csv", {"r.csv": lines})
    assert is_empty()
    told = import_from("csv", {"r.csv": lines}, "--partial")
    assert "recipients: 3 imported, 0 unchanged" in told
    for fault in (
        "line 4: email: ",
        "line 4: phone: ",
        "line 4: timezone: ",
        "line 4: channels_off: ",
    ):
        assert fault in told
    assert "r.csv, line 5: the user id is in r.csv, line 2, too" in told
    assert "no-mailbox" not in told
    assert not Contact.objects.filter(recipient__user_id="u_3").exists()


def test_a_long_import_prints_progress(
    import_from: ImportFrom, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plans, "PART", 2)
    monkeypatch.setattr(import_from_command, "_TOLD_EVERY", 0.0)
    lines = "user_id,email\n" + "".join(f"p_{n},p_{n}@example.com\n" for n in range(5))
    assert "recipients: 5 imported" in import_from("csv", {"r.csv": lines})
    assert capsys.readouterr().err.splitlines() == [
        "2 items read and checked",
        "4 items read and checked",
        "2 of 5 items tried",
        "4 of 5 items tried",
        "2 of 5 items imported",
        "4 of 5 items imported",
    ]


@pytest.mark.parametrize("name", ["subscribers.json.gz", "subscribers.csv.gz"])
@pytest.mark.parametrize(
    "content", [gzip.compress(b"[]" * 9)[:-9], b"[]", b""], ids=["cut", "plain", "empty"]
)
def test_a_broken_compressed_file_is_refused(
    import_from: ImportFrom, name: str, content: bytes
) -> None:
    with pytest.raises(CommandError, match=rf"{name}(: the fi|, line 1)"):
        import_from("listmonk", {name: content})


@pytest.mark.parametrize(
    ("vendor", "files", "place"),
    [
        ("listmonk", {"s.csv": "status,email\nenabled\n"}, "line 2"),
        ("sendgrid", {"bounces.csv": "reason,email\nfull\n"}, "line 2"),
        ("govuk_notify", {"t.json": [{"type": {}, "body": "x", "name": "A"}]}, "/0"),
        ("govuk_notify", {"t.json": [{"type": "sms", "body": "Hello\0", "name": "A"}]}, "/0"),
    ],
)
def test_a_part_of_another_form_is_told_with_its_place(
    import_from: ImportFrom, vendor: str, files: dict[str, Any], place: str
) -> None:
    report = import_from(vendor, files, "--partial")
    assert re.search(rf"not understood: .*{place}", report)


def test_a_misspelt_column_is_refused(import_from: ImportFrom) -> None:
    with pytest.raises(CommandError, match=r"unknown column 'emial'; did you mean email\?"):
        import_from("csv", {"r.csv": "user_id,emial\nu_1,a@example.com\n"})


def test_known_contacts_and_primary_contacts_stay(import_from: ImportFrom) -> None:
    mailbox = Address(channel=Channel.EMAIL, address="new@example.com", primary=True)
    store("u_1", mailbox)
    store("u_2", Address(channel=Channel.EMAIL, address="joao@example.com"))
    store("u_2")  # the producer takes the mailbox away
    import_from("csv", {"r.csv": exports.RECIPIENTS_CSV})
    primary = Contact.objects.get(recipient__user_id="u_1", channel=Channel.EMAIL, is_primary=True)
    assert primary.address == "new@example.com"
    ended = Contact.objects.get(address="joao@example.com")
    assert ended.invalidated_at is not None


def test_a_device_stays_with_its_recipient(import_from: ImportFrom) -> None:
    store("owner", Address(channel=Channel.PUSH, address="fcm-1", kind="fcm_token"))
    with pytest.raises(CommandError, match=r"1 parts .* Nothing was imported"):
        import_from("csv", {"r.csv": exports.RECIPIENTS_CSV})
    assert Recipient.objects.count() == 1
    import_from("csv", {"r.csv": exports.RECIPIENTS_CSV}, "--partial")
    valid = Contact.objects.get(address="fcm-1", invalidated_at=None)
    assert valid.recipient.user_id == "owner"
    assert Contact.objects.filter(recipient__user_id="u_1", address="fcm-2").exists()


def test_a_device_of_two_users_of_a_file_goes_to_the_first(import_from: ImportFrom) -> None:
    told = import_from("csv", {"r.csv": "user_id,fcm_token\nu_1,a\nu_2,a\n"}, "--partial")
    assert "r.csv, line 3: the device is registered by another recipient" in told
    assert Contact.objects.get(invalidated_at=None).recipient.user_id == "u_1"


def test_a_mandatory_topic_stays_on(import_from: ImportFrom) -> None:
    NotificationType.objects.create(name="OTP", priority=Priority.P0)
    told = import_from("csv", {"r.csv": "user_id,topics_off\nu_1,OTP news\n"}, "--partial")
    assert "r.csv, line 2: OTP: mandatory here" in told
    assert Preference.objects.get().categories_off == ["news"]


def test_attributes_need_a_definition(import_from: ImportFrom) -> None:
    Attribute.objects.create(name="city", kind="text", created_by="tests")
    told = import_from("listmonk", {"s.csv": exports.LISTMONK_CSV.replace("Berlin", "Bonn")})
    assert Recipient.objects.get().attributes == {"city": "Bonn"}
    again = import_from("listmonk", {"s.csv": exports.LISTMONK_CSV.replace('city""', 'town""')})
    assert "left out: attribute town (1)" in again
    assert "imported, 0 unchanged" in told


def test_a_changed_line_changes_the_recipient(import_from: ImportFrom) -> None:
    import_from("csv", {"r.csv": "user_id,locale\nu_1,de\nu_2,de\n"})
    told = import_from("csv", {"r.csv": "user_id,locale\nu_1,fr\nu_2,de\n"})
    assert "recipients: 1 imported, 1 unchanged" in told
    assert Recipient.objects.get(user_id="u_1").locale == "fr"


def test_lines_of_several_parts_are_imported_once(
    import_from: ImportFrom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "PART", 2)
    lines = "".join(f"u_{n},u{n}@example.com\n" for n in range(7))
    told = import_from("csv", {"r.csv": f"user_id,email\n{lines}"})
    assert "recipients: 7 imported, 0 unchanged" in told
    assert Recipient.objects.count() == 7
    onesignal = import_from("onesignal", WHOLE["onesignal"])
    assert "0 unchanged" in onesignal
    assert ": 0 imported" in import_from("onesignal", WHOLE["onesignal"])


def test_test_mode_has_no_suppression_list(import_from: ImportFrom) -> None:
    with pytest.raises(CommandError, match="Nothing was imported"):
        import_from("ses", WHOLE["ses"], "--mode", "test")


@pytest.mark.parametrize(
    ("vendor", "files", "place"),
    [
        (
            "ses",
            {
                "s.json": {
                    "SuppressedDestinationSummaries": [
                        {"EmailAddress": "a@example.com", "Reason": "MOOD"}
                    ]
                }
            },
            "/SuppressedDestinationSummaries/0: the reason 'MOOD' is none of",
        ),
        (
            "novu",
            {
                "workflow.json": {
                    "data": [
                        {
                            "triggers": [{"identifier": "w"}],
                            "steps": [{"template": {"type": "digest"}}],
                        }
                    ]
                }
            },
            "/data/0/steps/0: a step of the kind 'digest'",
        ),
        ("novu", {"s.json": {"data": [{"subscriberId": "u", "phone": "123"}]}}, "/data/0/phone: "),
        (
            "novu",
            {"s.json": {"data": [{"subscriberId": "u", "channels": 5}]}},
            "/data/0: has another",
        ),
        ("knock", {"w/workflow.json": {"steps": [{"type": "delay"}]}}, "/steps/0: a step of"),
        (
            "govuk_notify",
            {"t.json": {"templates": [{"name": "x", "type": "letter", "body": "a"}]}},
            "/templates/0/type: 'letter'",
        ),
        (
            "listmonk",
            WHOLE["listmonk"]
            | {
                "templates.json": {
                    "data": [{"id": 1, "name": "x", "type": "campaign", "body": "x"}]
                }
            },
            "/data/0: the layout",
        ),
        (
            "onesignal",
            {"u.csv": "identifier,device_type\nx,1\n"},
            "line 2: has no external_user_id",
        ),
        ("firebase", {"t.json": {"u_1": [7]}}, "/u_1/0: must be a token"),
        (
            "postmark",
            {"p.csv": "EmailAddress,SuppressionReason\n,HardBounce\n"},
            "line 2: has no address",
        ),
        ("sendgrid", {"bounces.json": [{"email": "no mailbox"}]}, "/0: the address must be"),
    ],
)
def test_a_part_that_is_not_understood_is_told_with_its_place(
    vendor: str, files: dict[str, Any], place: str, import_from: ImportFrom
) -> None:
    told = import_from(vendor, files, "--partial")
    assert place in told, told
