"""A chat text with the template of a vendor, from the API to Meta."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest

from notifications.core import clock
from notifications.core.delivery import deliver, routing
from notifications.core.models import Attempt, Contact, ProviderRoute, Template, TemplateText
from notifications.core.rules.states import Status
from notifications.core.store.cached import provider_overrides
from providers import registry
from providers.contract import Channel
from providers.transport import Transport
from tests.journey import Accept, Reach, deliveries_of
from tests.providers.answering import AnsweringFake
from tests.providers.chat.whatsapp_fake import ENVIRON, error, sent, whatsapp_fake

NUMBER = "whatsapp:+4915112345678"


@pytest.fixture
def meta(outbox: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnsweringFake]:
    assert outbox  # its settings come first
    with closing(whatsapp_fake()) as server, closing(Transport()) as transport:
        for name, value in {**ENVIRON, "NOTIFY_WHATSAPP_URL": server.origin}.items():
            monkeypatch.setenv(name, value)
        build = partial(registry.build_all, transport=transport)
        monkeypatch.setattr(registry, "build_all", build)
        routing.forget()
        provider_overrides.forget()
        yield server
    routing.forget()
    provider_overrides.forget()


def reach_by_whatsapp(reach: Reach) -> None:
    reach(chat=NUMBER)
    Contact.objects.update(kind="whatsapp")
    ProviderRoute.objects.create(channel=Channel.CHAT, provider="whatsapp", platform="whatsapp")


def make_template(**template: object) -> None:
    made = Template.objects.create(template_id="shipped")
    TemplateText.objects.create(
        template=made, channel=Channel.CHAT, body="Hi {{ name }}", vendor_template=template
    )
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())


def test_a_text_with_an_approved_template_is_sent_as_the_template(
    reach: Reach, take: Accept, meta: AnsweringFake
) -> None:
    reach_by_whatsapp(reach)
    make_template(ids={"whatsapp": "shipped/en"}, parameters=["{{ name|upper }}", "{{ day }}"])
    asked = {"template_id": "shipped", "variables": {"name": "Ada", "day": "Monday"}}
    [row] = deliveries_of(take(channels=["chat"], **asked))
    deliver.deliver([row.id])
    row.refresh_from_db()
    assert (row.status, row.provider) == (Status.SENT, "whatsapp")
    [request] = meta.requests
    [component] = sent(request)["template"]["components"]
    assert [each["text"] for each in component["parameters"]] == ["ADA", "Monday"]


def test_a_free_text_outside_of_the_window_fails_with_the_code_of_meta(
    reach: Reach, take: Accept, meta: AnsweringFake
) -> None:
    reach_by_whatsapp(reach)
    make_template()
    meta.answer = error(400, 131047)
    asked = {"template_id": "shipped", "variables": {"name": "Ada"}}
    [row] = deliveries_of(take(channels=["chat"], **asked))
    deliver.deliver([row.id])
    row.refresh_from_db()
    assert row.status == Status.FAILED
    [attempt] = Attempt.objects.all()
    assert attempt.code == "131047"
    assert attempt.detail.startswith("needs an approved template")
    [request] = meta.requests
    assert sent(request)["text"]["body"] == "Hi Ada"
    assert Contact.objects.get().invalidated_at is None
