"""Operators and a browser, as in `tests/admin`, and the draft of a job."""

from typing import Any

import pytest

from notifications.core import clock
from notifications.core.models import (
    NotificationType,
    Producer,
    Recipient,
    Template,
    TemplateText,
)
from notifications.core.rules.lane import Priority
from notifications.core.store.cached import notification_types
from notifications.core.store.templates import template_cache, versions
from providers.contract import Channel
from tests.features.operators import *  # noqa: F403 - fixtures


@pytest.fixture
def draft(db: None) -> dict[str, Any]:  # noqa: ARG001 - asked for by name
    """The values of a form that is ready to be sent."""
    producer = Producer.objects.create(name="shop")
    NotificationType.objects.create(name="PROMO", priority=Priority.P3, category="marketing")
    template = Template.objects.create(template_id="winter_sale")
    for locale, body in (("en", "Hello {{ name }}"), ("pt-BR", "Ola {{ name }}")):
        TemplateText.objects.create(
            template=template, channel=Channel.EMAIL, locale=locale, title="Sale", body=body
        )
    TemplateText.objects.create(
        template=template, channel=Channel.EMAIL, locale="en", variant="b", title="Last day"
    )
    versions.publish(template, by="maria")
    seen = template.pk
    for number, locale in enumerate(("en", "pt-BR", "de")):
        Recipient.objects.create(user_id=f"u_{number}", locale=locale)
    template_cache.forget()
    notification_types.forget()
    return {
        "name": "Winter sale",
        "producer": producer.pk,
        "mode": 1,
        "audience": '{"everyone": true}',
        "type": "PROMO",
        "template_id": "winter_sale",
        "variables": '{"name": "Maria"}',
        "job_id": str(clock.new_notification_id()),
        "start": "utc",
        "at": "2030-11-25T09:00",
        "pace": "spread",
        "pace_number": "10",
        "seen": seen,
    }
