"""The text of a job is written in the composer, and kept as a template of the job."""

from __future__ import annotations

import dataclasses
import re
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from notifications.core import conf
from notifications.core.models import (
    AuditEntry,
    BulkJob,
    Contact,
    Notification,
    Recipient,
    Template,
)
from notifications.core.rules.templates import one_off
from notifications.core.store.templates import import_export, template_cache
from notifications.features.bulk_jobs import progress
from providers.contract import Channel
from tests.features.bulk_jobs.admin.test_composer import ADD, check, confirmed
from tests.features.bulk_jobs.conftest import expand_all

TEXT = {
    "text_from": "written",
    "template_id": "",
    "text_1_locale": "en",
    "text_1_subject": "Closed on Monday, {{ name }}",
    "text_1_mail": "# Closed\n\nSee [your settings]({{ unsubscribe_url }}), {{ name }}.",
    "text_1_sms": "Closed on Monday",
    "text_1_push_title": "Closed",
    "text_1_push": "We are closed on Monday, {{ name }}.",
    "text_2_locale": "pt_BR",
    "text_2_subject": "Fechado na segunda, {{ name }}",
    "text_2_mail": "Fechado. [Sair]({{ unsubscribe_url }}), {{ name }}.",
}


def send(door: Client, draft: dict[str, Any], **given: object) -> BulkJob:
    answer = confirmed(door, {**draft, **TEXT, **given})
    assert answer.status_code == 302, answer.content.decode()[-3000:]
    return BulkJob.objects.get(pk=draft["job_id"])


def test_a_written_text_is_previewed_checked_and_priced_before_a_row_exists(
    door: Client, draft: dict[str, Any]
) -> None:
    Contact.objects.create(
        recipient=Recipient.objects.get(user_id="u_0"),
        channel=Channel.EMAIL,
        address="a@b.example",
        is_primary=True,
    )
    found = check(door, draft, **TEXT)
    assert found["errors"] == {}
    assert found["is_ready"]
    previews, summary = found["parts"]["previews"], found["parts"]["summary"]
    assert "Closed on Monday, Maria" in previews
    assert "We are closed on Monday, Maria." in previews
    assert "Fechado na segunda, Maria" in previews
    assert "All 3 recipients get a text written for this job" in summary
    assert "The text of the bulk job: each mail has an unsubscribe link." in summary
    of_one = check(door, draft, **TEXT, preview_user="u_1")["parts"]["previews"]
    assert "Fechado na segunda" in of_one
    assert "Closed on Monday, Maria" not in of_one
    cost = " ".join(check(door, draft, **TEXT, do="cost")["parts"]["cost"].split())
    assert "1 of 3 recipients gets a message" in cost
    assert "cannot be rendered" not in cost
    page = door.post(ADD, {**draft, **TEXT, "do": "send"}).content.decode()
    assert "written for this job, in en, pt-BR" in page
    assert "Fechado na segunda, Maria" in page
    assert Template.objects.count() == 1
    assert template_cache.by_id([0]) == {}


def test_the_tools_of_each_language_have_names_of_their_own(door: Client) -> None:
    page = door.get(ADD).content.decode()
    names = re.findall(r'aria-label="((?:Insert a block|Blocks of)[^"]*)"', page)
    assert len(names) == 2 * 4
    assert len(set(names)) == len(names)
    assert any(each.endswith(", language 2") for each in names)


def test_a_sent_job_keeps_its_text_as_a_published_template(
    door: Client, draft: dict[str, Any]
) -> None:
    Contact.objects.create(
        recipient=Recipient.objects.get(user_id="u_1"),
        channel=Channel.EMAIL,
        address="a@b.example",
        is_primary=True,
    )
    job = send(door, draft, start="now", at="", pace="", channels="email")
    send(door, draft, start="now", at="", pace="", channels="email")  # a second press
    version = Template.objects.get(template_id=one_off.name_of(job.pk))
    assert (job.template, job.template_id) == (version.pk, version.template_id)
    assert (version.created_by, version.published_by) == ("operator", "operator")
    assert AuditEntry.objects.filter(operation="publish_template").count() == 1
    progress.start_due(limit=10)
    job.refresh_from_db()
    expand_all(job)
    message = Notification.objects.get()
    assert message.template == version.pk
    page = reverse("admin:notifications_bulkjob_change", args=[job.pk])
    shown = door.get(page).content.decode()
    assert "PROMO, P3, the text of the bulk job" in shown
    assert "email pt-BR: Fechado na segunda, {{ name }}" in shown
    page = reverse("admin:notifications_notification_change", args=[message.pk])
    assert "Fechado na segunda, Maria" in door.get(page).content.decode()


def test_lists_of_templates_leave_the_text_out(door: Client, draft: dict[str, Any]) -> None:
    send(door, draft)
    offered = door.get(ADD).context["form"].fields["template_id"].widget.choices
    assert [each for each, _ in offered] == ["", "winter_sale"]
    assert [each for each, _ in import_export.export_all()] == ["winter_sale"]


def test_a_copy_has_the_text_in_a_new_template(door: Client, draft: dict[str, Any]) -> None:
    variants = {"variant_a_name": "a", "variant_a_percent": "50", "variant_b_name": "b"}
    variants |= {"variant_b_percent": "50", "variant_b_template": "winter_sale"}
    first = send(door, draft, **variants)
    copied = {
        name: value
        for name, value in door.get(ADD, {"copy": str(first.pk)}).context["form"].initial.items()
        if value is not None
    }
    assert {name: copied[name] for name in TEXT if name in copied} == {
        **{name: value for name, value in TEXT.items() if name != "template_id"},
        "text_2_locale": "pt-BR",
    }
    again = str(UUID(int=UUID(draft["job_id"]).int + 1))
    given = {**copied, "job_id": again, "start": "now", "seen": draft["seen"]}
    assert confirmed(door, given).status_code == 302
    second = BulkJob.objects.get(pk=again)
    assert second.template_id == one_off.name_of(second.pk)
    assert [each["template_id"] for each in second.variants] == [second.template_id, "winter_sale"]
    texts = [
        sorted(each.texts.values_list("channel", "locale", "title", "body", "blocks"))
        for each in Template.objects.filter(pk__in=[first.template, second.template])
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"text_1_locale": ""}, "", "Give the language of the text"),
        ({"text_1_locale": "xx-nowhere"}, "text_1_locale", "Unknown locale."),
        ({"text_2_locale": "EN"}, "text_2_locale", "This language has a text above."),
        ({"text_3_locale": "de"}, "text_3_locale", "Write a text, or remove the language."),
        (dict.fromkeys([each for each in TEXT if each.startswith("text_1_")], ""), "", "Write a"),
        ({"variables": "{}"}, "variables", "the template needs this variable"),
        ({"text_2_mail": "Fechado, {{ nome }}."}, "variables", "nome: the template needs"),
        ({"text_1_mail": "::: button [x]"}, "text_1_mail", "email en, blocks, line 1"),
        ({"text_1_push": "{{ name"}, "text_1_push", "push en, text, line 1"),
        ({"text_1_mail": ""}, "text_1_subject", "email en: it says nothing"),
        ({"text_1_sms": "x" * 700}, "text_1_sms", "it takes 5 segments"),
        (
            {"text_2_mail": "Fechado, {{ nome }}.", "audience": '{"upload": "people"}'},
            "text_2_mail",
            "needs nome; correct the name, or choose a template that declares the variables",
        ),
        ({"text_1_push": "{{ name|money }}"}, "text_1_push", "with the examples, "),
        ({"variables": '{"name": NaN}'}, "variables", "This is not JSON"),
        ({"variables": '{"name": "\\u0000"}'}, "variables", "must not contain the NUL character"),
        ({"variables": '{"name": ' + '{"a":' * 300 + "1" + "}" * 301}, "variables", "250 levels"),
        ({"channels": "chat"}, "channels", "the text of the bulk job has no text for chat"),
    ],
    ids=[
        *("none", "unknown", "twice", "empty", "no text", "variable", "other", "blocks", "syntax"),
        *("subject alone", "long SMS", "lonely", "value", "NaN", "NUL", "deep", "channel"),
    ],
)
def test_a_refused_text_names_the_fault_and_leaves_no_template(
    door: Client, draft: dict[str, Any], given: dict[str, str], field: str, said: str
) -> None:
    found = check(door, draft, **{**TEXT, **given})
    assert said in (found["errors"][field] if field else found["parts"]["summary"])
    answer = confirmed(door, {**draft, **TEXT, **given})
    assert answer.status_code == 200
    assert not BulkJob.objects.exists()
    assert Template.objects.count() == 1


def test_a_refused_job_leaves_no_template_and_can_be_sent_at_once(
    door: Client, draft: dict[str, Any]
) -> None:
    other = {"variant_a_name": "a", "variant_a_percent": "50", "variant_b_name": "b"}
    other |= {"variant_b_percent": "50", "variant_b_template": "winter_sale"}
    answer = confirmed(door, {**draft, **TEXT, **other, "seen": ""})
    assert "did not show this version" in answer.content.decode()
    assert Template.objects.count() == 1
    job = send(door, draft, **other)
    assert Template.objects.get(pk=job.template).template_id == job.template_id


def test_the_text_needs_the_rights_of_an_author_and_a_publisher(
    client: Client, draft: dict[str, Any], door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sender = User.objects.create_user("sender", password="a-long-password", is_staff=True)
    rights = ["add_bulkjob", "view_bulkjob", "add_template", "change_template"]
    sender.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client.force_login(sender)
    found = check(client, draft, **TEXT)
    assert "needs the rights to add and to publish templates" in found["errors"]["text_from"]
    assert not found["is_ready"]
    assert "Closed" not in found["parts"]["previews"]
    answer = confirmed(client, {**draft, **TEXT})
    assert b"needs the rights to add and to publish templates" in answer.content
    assert b"Closed on Monday, {{ name }}" in answer.content  # for a colleague with the rights
    strict = dataclasses.replace(conf.current(), publish_needs_second_person=True)
    monkeypatch.setattr(conf, "current", lambda: strict)
    answer = confirmed(door, {**draft, **TEXT})
    assert b"Choose a template: NOTIFY_PUBLISH_NEEDS_SECOND_PERSON" in answer.content
    assert not BulkJob.objects.exists()


def test_a_text_is_checked_with_the_values_of_the_job(door: Client, draft: dict[str, Any]) -> None:
    long = {"text_1_sms": "x" * 300, "text_2_sms": "{{ name }}" + "x" * 300}
    assert check(door, draft, **{**TEXT, **long})["errors"] == {}
    job = send(door, draft, **long)
    version = Template.objects.get(pk=job.template)
    texts = version.texts.filter(channel=Channel.SMS)
    assert {each.locale: each.max_segments for each in texts} == {"en": 4, "pt-BR": 4}
    assert version.variables == [{"name": "name", "type": "string", "example": "Maria"}]
    segments = {"text_2_sms": "{{ name }}" + "x" * 610}
    said = check(door, draft, **{**TEXT, **segments})["errors"]["text_2_sms"]
    assert "sms pt-BR: with the examples it takes 5 segments" in said


def test_another_job_with_the_text_as_its_template_is_copied_with_a_template(
    door: Client, draft: dict[str, Any]
) -> None:
    first = send(door, draft)
    again = str(UUID(int=UUID(draft["job_id"]).int + 1))
    other = {"job_id": again, "template_id": first.template_id, "seen": first.template}
    assert confirmed(door, {**draft, **other}).status_code == 302
    form = door.get(ADD, {"copy": again}).context["form"]
    assert form.initial["template_id"] == first.template_id
    assert "text_from" not in form.initial
