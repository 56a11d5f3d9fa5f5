"""The export of each vendor becomes rows; a second import changes no row and sends no message."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import Model

from notifications.core.models import (
    AuditEntry,
    Contact,
    Preference,
    Recipient,
    Suppression,
    Template,
    Topic,
)
from notifications.core.rules.lane import Mode
from notifications.core.store.templates import import_export
from notifications.features.audiences.rows import topics
from notifications.features.moving.vendors.registry import READERS
from tests.features.moving import exports
from tests.features.moving.conftest import ImportFrom

pytestmark = pytest.mark.django_db

WHOLE: dict[str, dict[str, Any]] = {
    "csv": {"recipients.csv": exports.RECIPIENTS_CSV},
    "firebase": {
        "users.json": exports.FIREBASE_USERS,
        "tokens.json": exports.FIREBASE_TOKENS,
        "tokens.csv": exports.FIREBASE_CSV,
    },
    "govuk_notify": {
        "templates.json": exports.GOVUK_TEMPLATES,
        "mail.csv": exports.GOVUK_CSV,
        "phones.csv": exports.GOVUK_PHONES,
    },
    "knock": {
        "workflows/new-comment/workflow.json": exports.KNOCK_WORKFLOW,
        **{f"workflows/new-comment/{name}": text for name, text in exports.KNOCK_FILES.items()},
        "users.json": exports.KNOCK_USERS,
    },
    "listmonk": {
        "subscribers.json": exports.LISTMONK_SUBSCRIBERS,
        "lists.json": exports.LISTMONK_LISTS,
        "templates.json": exports.LISTMONK_TEMPLATES,
        "subscribers.csv": exports.LISTMONK_CSV,
    },
    "novu": {
        "workflows.json": exports.NOVU_WORKFLOWS,
        "workflow-welcome.json": exports.NOVU_SECOND,
        "subscribers.json": exports.NOVU_SUBSCRIBERS,
    },
    "onesignal": {"users.csv": exports.ONESIGNAL_CSV},
    "postmark": {"stream.json": exports.POSTMARK, "stream.csv": exports.POSTMARK_CSV},
    "sendgrid": {
        "bounces.json": exports.SENDGRID_BOUNCES,
        "suppression_spam_reports.csv": exports.SENDGRID_SPAM,
        "asm.json": exports.SENDGRID_ASM,
    },
    "ses": {"page-1.json": exports.SES},
}
TABLES: tuple[type[Model], ...] = (
    *(Recipient, Contact, Preference, Suppression, Template, Topic, AuditEntry),
)


def rows() -> dict[str, list[dict[str, Any]]]:
    return {
        model.__name__: list(model._default_manager.order_by("pk").values()) for model in TABLES
    }


def texts(template_id: str) -> dict[str, str]:
    return dict(import_export.export_all())[template_id]


def contacts(user_id: str) -> set[tuple[str, str]]:
    found = Contact.objects.filter(recipient__user_id=user_id)
    return {(each.kind or str(each.get_channel_display()), each.address) for each in found}


def off(user_id: str) -> tuple[list[int], list[str], dict[str, list[str]]]:
    row = Preference.objects.get(recipient__user_id=user_id)
    assert row.categories_left == row.categories_off
    return row.channels_off, row.categories_off, row.topics_off


def test_each_vendor_has_an_export_here() -> None:
    assert WHOLE.keys() == READERS.keys()


@pytest.mark.parametrize("vendor", sorted(WHOLE))
def test_a_second_import_changes_nothing(vendor: str, import_from: ImportFrom) -> None:
    dry = import_from(vendor, WHOLE[vendor], "--dry-run")
    assert not Recipient.objects.exists()
    assert not Template.objects.exists()
    assert not Suppression.objects.exists()
    first = import_from(vendor, WHOLE[vendor])
    assert "not understood" not in first
    assert " 0 imported" not in first
    assert dry.replace("would be imported", "imported") == first
    before = rows()
    second = import_from(vendor, WHOLE[vendor])
    assert rows() == before
    for line in second.splitlines():
        if "imported," in line:
            assert ": 0 imported" in line, line


def test_novu(import_from: ImportFrom) -> None:
    told = import_from("novu", WHOLE["novu"])
    assert '"channels": ["in_app", "email", "sms"]' in told
    assert texts("order-shipped") | {"template.json": ""} == {
        "template.json": "",
        "in_app.en.txt": "\n\nOrder {{ number }} is on its way\n",
        "in_app.en.json": texts("order-shipped")["in_app.en.json"],
        "email.en.txt": "Order {{ number }}\n\nHello {{ name }},"
        "{% for item in lines %}\n\n{{ item.title }}{% endfor %}\n",
        "email.en.html": "<p>Hello {{ name }},</p>"
        "{% for item in lines %}<p>{{ item.title }}</p>{% endfor %}\n",
        "sms.en.txt": "Order {{ number }} left\n",
    }
    assert '"url": "/orders/{{ number }}"' in texts("order-shipped")["in_app.en.json"]
    assert "Hi {{ name }}" in texts("welcome")["push.en.txt"]
    maria = Recipient.objects.get(user_id="u_1")
    assert (maria.locale, maria.timezone, maria.mode) == ("pt-BR", "America/Sao_Paulo", Mode.LIVE)
    assert contacts("u_1") == {
        ("email", "maria@example.com"),
        ("sms", "+5511912345678"),
        ("fcm_token", "fcm-1"),
        ("fcm_token", "fcm-2"),
        ("expo_token", exports.EXPO_TOKEN),
    }
    assert off("u_1") == ([2], ["news"], {"email": ["order-shipped"]})
    assert off("u_2")[2] == {"email": ["news"]}
    assert "left out: firstName (1)" in told
    assert AuditEntry.objects.filter(operation="import_recipients").exists()


def test_knock(import_from: ImportFrom) -> None:
    import_from("knock", WHOLE["knock"])
    files = texts("new-comment")
    assert files["sms.en.txt"] == "{{ actor.name|upper }} wrote\n"
    assert files["email.en.html"] == "<p>{% for line in lines %}{{ line }}{% endfor %}</p>\n"
    assert files["email.en.txt"] == "New comment\n\n{{ actor.name }} wrote\n"
    assert '"url": "{{ url }}"' in files["in_app.en.json"]
    assert off("u_1") == ([2], ["new-comment"], {"email": ["social"]})


def test_govuk_notify(import_from: ImportFrom) -> None:
    told = import_from("govuk_notify", WHOLE["govuk_notify"])
    assert "the variable ((first name)) is first_name here" in told
    files = texts("your-appointment")
    assert files["sms.en.txt"] == "{{ first_name }}, come on {{ date }}\n"
    assert files["email.en.html"] == (
        "<h2>Your appointment</h2>\n"
        "<p>Dear {{ first_name }},</p>\n"
        "<ul><li>bring {{ paper }}</li><li>come early</li></ul>\n"
        "<p>{% if is_late|lower in ('yes', 'y', 'true', 't', '1', 'include', 'show') %}"
        "You are late.{% endif %}</p>\n"
        '<blockquote><p>See <a href="https://example.com/{{ ref }}">'
        "https://example.com/{{ ref }}</a>.</p></blockquote>\n"
    )
    assert set(Contact.objects.values_list("address", flat=True)) == {
        *("maria@example.com", "joao@example.com", "+447700900123"),
    }


def test_listmonk(import_from: ImportFrom) -> None:
    import_from("listmonk", WHOLE["listmonk"])
    maria = Recipient.objects.get(contacts__address="maria@example.com")
    assert topics.names_of(maria.pk, mode=Mode.LIVE) == ["Events", "Weekly-news"]
    assert off(maria.user_id)[2] == {"email": ["Offers"]}
    assert Suppression.objects.get().address == "gone@example.com"
    assert texts("Receipt")["email.en.html"] == (
        '<p>{{ name }}: {{ total }}</p><a href="{{ unsubscribe_url }}">Leave</a>\n'
    )


def test_onesignal(import_from: ImportFrom) -> None:
    told = import_from("onesignal", WHOLE["onesignal"])
    assert contacts("u_1") == {
        ("apns_token", "apns-1"),
        ("fcm_token", "fcm-1"),
        ("email", "maria@example.com"),
    }
    assert off("u_1")[0] == [3]
    assert Recipient.objects.get().locale == "pt"
    assert "left out: subscription with an invalid token (1)" in told


def test_suppression_lists(import_from: ImportFrom) -> None:
    for vendor in ("ses", "sendgrid", "postmark"):
        import_from(vendor, WHOLE[vendor])
    listed = {(each.address, each.reason) for each in Suppression.objects.all()}
    assert listed == {
        ("a@example.com", "bounce"),
        ("b@example.com", "complaint"),
        ("b@example.com", "unsubscribe_all"),
        ("c@example.com", "complaint"),
    }
    opted_out = Preference.objects.get(recipient__contacts__address="c@example.com")
    assert opted_out.topics_off == {"email": ["Weekly-news"]}


def test_recipient_csv(import_from: ImportFrom) -> None:
    import_from("csv", WHOLE["csv"], "--mode", "test")
    assert not Recipient.objects.filter(mode=Mode.LIVE).exists()
    assert off("u_1") == ([2], ["marketing"], {"email": ["social"]})
    assert ("apns_token", "apns-1") in contacts("u_2")
    assert Topic.objects.get().mode == Mode.TEST
