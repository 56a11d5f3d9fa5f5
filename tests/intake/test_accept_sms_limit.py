"""An SMS of too many segments is refused when it is accepted, with the text that would be sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from notifications.core import clock, conf
from notifications.core.intake.accept import AcceptedRequest, Refused
from notifications.core.models import Recipient, Template, TemplateText
from notifications.core.rules.problems import Kind
from providers.contract import Channel
from tests.journey import Accept, Reach

NUMBER = "+15552000001"


@pytest.fixture(autouse=True)
def two_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(conf.current(), sms_max_segments=2)
    monkeypatch.setattr(conf, "current", lambda: settings)


def template(body: str, *, russian: str = "", **sms: object) -> None:
    made = Template.objects.create(template_id="news")
    TemplateText.objects.create(template=made, channel=Channel.EMAIL, locale="en", body=body)
    for locale, text in {"en": body, "ru": russian}.items():
        if text:
            TemplateText.objects.create(
                template=made, channel=Channel.SMS, locale=locale, body=text, **sms
            )
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())


def refusal(answer: AcceptedRequest | Refused) -> tuple[str, str]:
    assert isinstance(answer, Refused), answer
    assert answer.problem.kind is Kind.INVALID
    [error] = answer.problem.errors
    return error.pointer, error.detail


@pytest.mark.parametrize(("length", "segments"), [(307, 3), (459, 3), (460, 4)])
def test_a_template_with_its_real_values_is_measured(
    reach: Reach, take: Accept, length: int, segments: int
) -> None:
    reach(sms=NUMBER)
    template("{{ text }}")
    fits = take(template_id="news", channels=["sms"], variables={"text": "x" * 306})
    assert isinstance(fits, AcceptedRequest)
    over = take(template_id="news", channels=["sms"], variables={"text": "x" * length})
    assert refusal(over) == (
        "/variables",
        f"the SMS takes {segments} segments ({length} units of GSM-7), at most 2",
    )


def test_raw_content_is_measured(reach: Reach, take: Accept) -> None:
    reach(sms=NUMBER)
    raw: dict[str, object] = {"template_id": None, "variables": {}, "channels": ["sms"]}
    assert isinstance(take(**raw, content={"body": "ж" * 134}), AcceptedRequest)
    assert refusal(take(**raw, content={"body": "ж" * 135})) == (
        "/content/body",
        "the SMS takes 3 segments (135 units of UCS-2), at most 2",
    )


@pytest.mark.parametrize(("own", "allowed"), [(1, 160), (2, 306), (9, 306), (None, 306)])
def test_the_templates_own_limit_counts_where_it_is_lower(
    reach: Reach, take: Accept, own: int | None, allowed: int
) -> None:
    reach(sms=NUMBER)
    template("{{ text }}", max_segments=own)
    asked = {"template_id": "news", "channels": ["sms"]}
    assert isinstance(take(**asked, variables={"text": "x" * allowed}), AcceptedRequest)
    assert refusal(take(**asked, variables={"text": "x" * (allowed + 1)}))


def test_the_text_in_the_recipients_language_is_measured(reach: Reach, take: Accept) -> None:
    reach(sms=NUMBER)
    template("{{ text }}", russian="ж{{ text }}")
    asked = {"template_id": "news", "channels": ["sms"], "variables": {"text": "x" * 140}}
    assert isinstance(take(**asked), AcceptedRequest)
    Recipient.objects.update(locale="ru")
    assert refusal(take(**asked))


def test_what_transliteration_and_short_links_save_counts(reach: Reach, take: Accept) -> None:
    reach(sms=NUMBER)
    template("ê{{ text }} {{ url }}", transliterate=True, shorten_links=True)
    variables = {"text": "x" * 200, "url": "https://shop.example/" + "y" * 300}
    assert isinstance(
        take(template_id="news", channels=["sms"], variables=variables), AcceptedRequest
    )


def test_a_message_that_goes_by_no_sms_is_not_measured(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    template("{{ text }}")
    for channels in (["email"], ["sms", "email"]):
        asked = {"template_id": "news", "channels": channels, "variables": {"text": "x" * 999}}
        assert isinstance(take(**asked), AcceptedRequest)
