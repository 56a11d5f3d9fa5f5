"""The composer offers a box for each variable that the chosen texts use."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from notifications.core.rules.templates import contents
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.features.bulk_jobs.admin.test_composer import ADD, check

NAME = {"name": "name", "type": "string", "required": True, "example": "Name"}


def publish(name: str, body: str, *, variables: list[dict[str, Any]]) -> None:
    text = TextSource(channel=Channel.SMS, locale="en", body=body)
    settings = {"default_locale": "en", "variables": variables}
    versions.publish(versions.draft(name, contents.content([text], settings), by="m"), by="m")


def test_the_boxes_are_those_of_the_template(door: Client, draft: dict[str, Any]) -> None:
    assert check(door, draft)["variables"] == [NAME]
    total = {"name": "total", "type": "number", "required": False, "example": 5}
    publish("sums", "{{ total|default(1) }}", variables=[total])
    assert check(door, draft, template_id="sums", variables="")["variables"] == [total]
    assert check(door, draft, template_id="unknown")["variables"] == []


def test_the_variants_add_their_variables(door: Client, draft: dict[str, Any]) -> None:
    declared = {"name": "name", "type": "string", "required": False, "example": "Ada"}
    publish("sums", "{{ name|default('you') }}", variables=[declared])
    variants = {"variant_a_name": "a", "variant_a_percent": "50", "variant_b_name": "b"}
    variants |= {"variant_b_percent": "50", "variant_b_template": "sums"}
    assert check(door, draft, **variants)["variables"] == [NAME]


def test_the_boxes_are_those_of_the_channels_of_a_written_text(
    door: Client, draft: dict[str, Any]
) -> None:
    text = {
        "text_from": "written",
        "text_1_locale": "en",
        "text_1_sms": "{{ total|money }}{% for day in days %} {{ day.name }}{% endfor %}",
        "text_1_push": "{{ name }}",
    }
    found = {each["name"]: each["type"] for each in check(door, draft, **text)["variables"]}
    assert found == {"days": "list", "name": "string", "total": "money"}
    assert check(door, draft, **text, channels="push")["variables"] == [NAME]
    broken = text | {"text_1_sms": "{{ total"}
    assert check(door, draft, **broken)["variables"] == [NAME]


def test_a_page_with_faults_has_the_boxes(door: Client, draft: dict[str, Any]) -> None:
    page = door.post(ADD, {**draft, "variables": "", "do": "send"}).content.decode()
    _, found = page.split('<script id="used-variables" type="application/json">')
    assert json.loads(found.partition("</script>")[0]) == [NAME]
