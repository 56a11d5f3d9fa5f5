"""The composer: live figures of a draft, checks, and one job for each draft."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from notifications.core.models import (
    AuditEntry,
    BulkJob,
    Contact,
    Recipient,
    Template,
    TemplateText,
)
from notifications.core.store.templates import template_cache, versions
from providers.contract import Channel
from tests.admin import confirming

ADD = reverse("admin:notifications_bulkjob_add")


def check(door: Client, draft: dict[str, Any], **given: object) -> dict[str, Any]:
    answer = door.post(
        ADD, {**draft, "do": "check", **given}, headers={"Accept": "application/json"}
    )
    assert answer.status_code == 200, answer.content[:500]
    found: dict[str, Any] = json.loads(answer.content)
    return found


def test_the_figures_of_a_draft_come_while_it_is_typed(door: Client, draft: dict[str, Any]) -> None:
    found = check(door, draft, preview_user="u_1")
    assert found["errors"] == {}
    assert '<span class="nc-count">3</span> recipients' in found["parts"]["audience"]
    assert "Ola Maria" in found["parts"]["previews"]
    summary = found["parts"]["summary"]
    sentence = "All 3 recipients get the template winter_sale, on Monday 25 November 2030 09:00 UTC"
    assert f"{sentence}, spread evenly over 10 h." in summary
    assert "Starts on Monday 25 November 2030 09:00 UTC. 0.3 an hour for 10 h" in summary
    assert "1 of 3 sampled recipients have the locale de and get en (email)." in summary
    assert "the mails in en, pt-BR have no visible unsubscribe link" in summary
    assert "email is sent by" in summary
    assert not BulkJob.objects.exists()


def test_a_variant_of_the_template_is_previewed_and_checked(
    door: Client, draft: dict[str, Any]
) -> None:
    rows = {"variant_a_name": "a", "variant_a_percent": "50", "variant_b_name": "b"}
    rows |= {"variant_b_percent": "50", "variant_b_template_variant": "b"}
    found = check(door, draft, preview_locale="en", **rows)
    assert found["errors"] == {}
    previews = found["parts"]["previews"]
    assert "<h3>winter_sale</h3>" in previews
    assert "Last day" in previews.partition("<h3>winter_sale, variant b</h3>")[2]
    told = "winter_sale, variant b: recipients of email pt-BR get the base text."
    assert told in found["parts"]["summary"]
    wrong = check(door, draft, **rows | {"variant_b_template_variant": "c"})
    fault = "template winter_sale has no variant c; published: b"
    assert wrong["errors"] == {"variant_b_template_variant": fault}


def test_an_unfinished_draft_is_not_scolded(door: Client, draft: dict[str, Any]) -> None:
    found = check(door, draft, name="", type="", template_id="", audience='{"user_ids": ["u_0"]}')
    assert found["errors"] == {}
    assert '<span class="nc-count">1</span> recipient' in found["parts"]["audience"]
    assert "Choose the notification type. Choose the template." in found["parts"]["summary"]
    sentence = "1 recipient with one user id gets a template (not chosen yet), on Monday"
    assert sentence in found["parts"]["summary"]


def test_a_fault_of_the_audience_has_its_place(door: Client, draft: dict[str, Any]) -> None:
    wrong = '{"and": [{"everyone": true}, {"topic": "none"}]}'
    found = check(door, draft, audience=wrong)
    assert found["audience"][0][0] == "/and/1/topic"
    assert "none" in found["errors"]["audience"]
    assert "The audience has a fault." in found["parts"]["summary"]


def confirmed(door: Client, fields: Mapping[str, object]) -> HttpResponse:
    """Return the answer to a job that the operator has seen and confirmed."""
    return confirming.answer(door, ADD, fields, asks={"do": "send"}, by="do=confirmed")


def test_a_draft_is_sent_once(door: Client, draft: dict[str, Any]) -> None:
    for _ in range(2):
        answer = confirmed(door, {**draft})
        assert answer.status_code == 302, answer.content.decode()[-3000:]
    job = BulkJob.objects.get()
    assert str(job.pk) == draft["job_id"]
    assert (job.name, job.created_by, job.spread_seconds) == ("Winter sale", "operator", 36_000)
    assert AuditEntry.objects.filter(operation="create_bulk_job", by="operator").count() == 1
    assert "This draft was sent" in check(door, draft)["parts"]["summary"]


def test_a_check_without_a_script_shows_the_parts_as_html(
    door: Client, draft: dict[str, Any]
) -> None:
    text = door.post(ADD, {**draft, "do": "check"}).content.decode()
    assert f'<input type="hidden" name="seen" value="{draft["seen"]}">' in text
    assert '<span class="nc-count">3</span> recipients' in text
    assert '<li class="nc-warning">' in text
    assert "Estimated cost: <strong>" in text


def test_a_text_published_after_the_preview_is_not_sent_unseen(
    door: Client, draft: dict[str, Any]
) -> None:
    assert f'name="seen" value="{draft["seen"]}"' in check(door, draft)["parts"]["previews"]
    first = Template.objects.get()
    content = versions.content_of(first)
    second = versions.draft(first.template_id, content, by="maria")
    TemplateText.objects.filter(template=second).update(body="Other words {{ name }}")
    versions.publish(second, by="maria")
    template_cache.forget()
    answer = confirmed(door, {**draft})
    text = answer.content.decode()
    assert "The page did not show this version of the texts." in text
    assert "Other words Maria" in text
    assert not BulkJob.objects.exists()
    assert not AuditEntry.objects.filter(operation="create_bulk_job").exists()
    assert confirmed(door, {**draft, "seen": second.pk}).status_code == 302
    assert BulkJob.objects.get().template == second.pk


def test_an_audience_that_became_empty_is_not_sent(door: Client, draft: dict[str, Any]) -> None:
    audience = json.dumps({"user_ids": ["u_2"]})
    assert (
        "The audience has 1 recipient." in check(door, draft, audience=audience)["parts"]["summary"]
    )
    Recipient.objects.get(user_id="u_2").delete()
    answer = confirmed(door, {**draft, "audience": audience})
    assert "The audience is empty." in answer.content.decode()
    assert not BulkJob.objects.exists()


def test_the_cost_is_that_of_a_dry_run(door: Client, draft: dict[str, Any]) -> None:
    people = {each.user_id: each for each in Recipient.objects.all()}
    for user_id, number in (("u_0", "+4915112345678"), ("u_1", "+4915112345679")):
        Contact.objects.create(
            recipient=people[user_id], channel=Channel.SMS, address=number, is_primary=True
        )
    template = Template.objects.get()
    second = versions.draft(template.template_id, versions.content_of(template), by="maria")
    TemplateText.objects.create(
        template=second, channel=Channel.SMS, locale="en", body="Sale for {{ name }}"
    )
    versions.publish(second, by="maria")
    template_cache.forget()
    found = check(door, draft, channels="sms", preview_user="u_2", do="cost")
    text = " ".join(found["parts"]["cost"].split())
    assert "2 of 3 recipients get a message. Estimated cost: <strong>$0.02</strong>" in text
    assert "sms, DE" in text
    assert "2 segments" in text
    assert "No valid contact on a channel of the job." in text
    assert "u_2 gets no message: No valid contact" in text
    page = door.post(ADD, {**draft, "channels": "sms", "do": "check"}).content.decode()
    assert "Estimated cost" in page
    assert not BulkJob.objects.exists()


def test_a_dry_run_tells_that_messages_would_fail(door: Client, draft: dict[str, Any]) -> None:
    for each in Recipient.objects.all():
        address = f"{each.user_id}@sandbox.example"
        Contact.objects.create(
            recipient=each, channel=Channel.EMAIL, address=address, is_primary=True
        )
    template = Template.objects.get()
    second = versions.draft(template.template_id, versions.content_of(template), by="maria")
    TemplateText.objects.filter(template=second).update(body="Sale {{ name + 1 }}")
    versions.publish(second, by="maria")
    template_cache.forget()
    text = check(door, draft, do="cost")["parts"]["cost"]
    assert "3 of these messages would fail. The text cannot be rendered" in text


def test_an_unfinished_draft_has_no_cost(door: Client, draft: dict[str, Any]) -> None:
    for given in ({"template_id": ""}, {"audience": "{"}, {"type": "ABSENT"}, {"producer": "x"}):
        assert check(door, draft, **given, do="cost") == {"parts": {"cost": ""}}


def test_a_start_in_the_past_is_told(door: Client, draft: dict[str, Any]) -> None:
    past = check(door, draft, at="2020-01-01T10:00")["parts"]["summary"]
    assert "The start time is past: the job starts now." in past
    local = check(door, draft, start="local", at="2020-01-01T10:00")["parts"]["summary"]
    assert "The start time is past on some clocks" in local


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "Give the job a name."),
        ({"template_id": "absent"}, "no published template"),
        ({"type": "ABSENT"}, "unknown type"),
        ({"variables": ""}, "name: the template needs"),
        ({"audience": '{"user_ids": ["nobody"]}'}, "The audience is empty."),
        ({"audience": '{"plan": 1}'}, "unknown"),
        ({"pace_number": ""}, "Give a number above 0."),
        ({"job_id": "x"}, "UUID"),
        ({"mode": "9"}, "valid choice"),
        ({"mode": ""}, "required"),
        ({"producer": "x"}, "valid choice"),
        ({"start": "x"}, "valid choice"),
    ],
)
def test_a_draft_with_a_fault_is_not_sent(
    door: Client, draft: dict[str, Any], given: dict[str, str], said: str
) -> None:
    answer = confirmed(door, {**draft, **given})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert not BulkJob.objects.exists()


def test_composing_needs_its_right_and_a_recipients_preview_a_further_one(
    viewer: User, window: Client, draft: dict[str, Any]
) -> None:
    assert window.get(ADD).status_code == 403
    assert ADD not in window.get(reverse("admin:notifications_bulkjob_changelist")).content.decode()
    assert window.post(ADD, {**draft, "do": "check"}).status_code == 403
    assert confirmed(window, {**draft}).status_code == 403
    assert not BulkJob.objects.exists()
    viewer.user_permissions.add(Permission.objects.get(codename="add_bulkjob"))
    assert "Ola Maria" in check(window, draft, preview_user="u_1")["parts"]["previews"]
    viewer.user_permissions.remove(Permission.objects.get(codename="view_recipient"))
    hidden = check(window, draft, preview_user="u_1")
    assert "Ola" not in hidden["parts"]["previews"]
    assert confirmed(window, {**draft}).status_code == 302


@pytest.mark.parametrize("query", ["copy=x", "mode=x", "audience={", "saved=%22", "copy=7&mode=-1"])
def test_a_strange_link_opens_the_composer(door: Client, query: str) -> None:
    assert door.get(f"{ADD}?{query}").status_code == 200


def options(page: str, field: str) -> list[str]:
    """Return the values that a select or a completion of a page offers."""
    shape = rf'(?s)<select name="{field}".*?</select>|<datalist id="id_{field}_names".*?</datalist>'
    return re.findall(r'<option value="([^"]*)"', re.findall(shape, page)[0])


def test_types_templates_and_channels_are_chosen_from_lists(
    door: Client, draft: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    Template.objects.create(template_id="unpublished")
    page = door.get(ADD).content.decode()
    assert options(page, "type") == ["", "PROMO"]
    assert "PROMO (P3, marketing)" in page
    assert (
        options(page, "template_id") == options(page, "variant_a_template") == ["", "winter_sale"]
    )
    assert options(page, "channels") == ["", *(channel.label for channel in Channel)]
    chosen = door.post(ADD, {**draft, "type": "GONE", "channels": ["sms", "email"], "do": "check"})
    assert '<option value="GONE" selected>GONE (unknown)' in chosen.content.decode()
    assert chosen.context["form"]["channels"].value() == ["sms", "email"]
    monkeypatch.setattr("notifications.core.admin.names.FEW", 0)
    page = door.post(ADD, {**draft, "do": "check"}).content.decode()
    assert options(page, "template_id") == ["winter_sale"]
    assert 'placeholder="the template above"' in page
    assert 'data-search="/admin/' not in page, "the page has every name"
    monkeypatch.setattr("notifications.core.admin.names.MOST", 0)
    page = door.post(ADD, {**draft, "do": "check"}).content.decode()
    assert '<select name="type"' not in page
    assert 'data-search="/admin/notifications/audience/names/?kind=templates&amp;mode=1"' in page
    assert options(page, "template_id") == []
    assert 'list="id_template_id_names"' in page
    assert 'value="winter_sale"' in page
