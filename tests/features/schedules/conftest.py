"""A producer and recipients, as in `tests.journey`."""

import pytest

from notifications.core import clock
from notifications.core.models import Recipient, Template
from providers.contract import Channel
from tests.journey import Reach, caller, reach

__all__ = ["caller", "reach"]


@pytest.fixture
def maria(reach: Reach) -> Recipient:
    template = Template.objects.create(template_id="like")
    template.texts.create(channel=Channel.EMAIL, title="Hello", body="{{ name }} likes it")
    Template.objects.filter(pk=template.pk).update(published_at=clock.now())
    return reach(email="maria@sandbox.example")
