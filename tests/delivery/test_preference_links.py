"""The link of the preference page: who it names, and for how long it is valid."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notifications import clock
from notifications.delivery import batch, preference_links, render
from notifications.delivery.preference_links import LIFETIME, ExpiredLink, InvalidLink
from notifications.delivery.render import ShortLinkBatch
from notifications.models import Template, TemplateText
from notifications.store.postgres import claims
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of

OWN = {"preferences_url": "https://own"}
DAY = dt.timedelta(days=1)
OLD_KEY = "a-key-for-tests-that-signs-nothing-of-worth"


def test_a_link_is_valid_for_a_year_and_for_its_recipient(reach: Reach) -> None:
    person, now = reach(), clock.now()
    token = preference_links.token_of(person.pk, now=now)
    assert preference_links.read(token, now=now + LIFETIME) == person
    with pytest.raises(ExpiredLink):
        preference_links.read(token, now=now + LIFETIME + DAY)
    short = preference_links.token_of(person.pk, now=now, lifetime=DAY)
    assert preference_links.read(short, now=now + DAY) == person
    with pytest.raises(ExpiredLink):
        preference_links.read(short, now=now + 2 * DAY)
    person.delete()
    with pytest.raises(InvalidLink):
        preference_links.read(token, now=now)


def test_a_link_outlives_the_key_that_signed_it(reach: Reach) -> None:
    person, now = reach(), clock.now()
    token = preference_links.token_of(person.pk, now=now)
    with override_settings(SECRET_KEY="the-next-key", SECRET_KEY_FALLBACKS=[OLD_KEY]):
        assert preference_links.read(token, now=now) == person
    lost = override_settings(SECRET_KEY="the-next-key", SECRET_KEY_FALLBACKS=[])
    with lost, pytest.raises(InvalidLink):
        preference_links.read(token, now=now)


@given(st.text(max_size=200))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_other_token_is_believed(token: str) -> None:
    with pytest.raises(InvalidLink):
        preference_links.read(token, now=clock.now())


def test_each_mail_has_the_link_and_another_channel_has_none(reach: Reach, take: Accept) -> None:
    person = reach(email="maria@example.com", sms="+15551234567")
    made = Template.objects.create(template_id="news")
    for channel in (Channel.EMAIL, Channel.SMS):
        TemplateText.objects.create(template=made, channel=channel, body="S {{ preferences_url }}")
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())
    cases: list[tuple[str, dict[str, str]]] = [("P1", {}), ("P3", {}), ("P3", OWN)]
    for priority, own in cases:
        body: dict[str, object] = {"template_id": "news", "variables": own, "priority": priority}
        [mail, sms] = deliveries_of(take(**body, channels=["email", "sms"], delivery="all"))
        claim = claims.claim([mail.pk, sms.pk], now=clock.now())
        ready = {each.delivery.channel: each for each in batch.load(claim).deliveries}
        versions = render.versions_for(ready.values())
        bodies = {
            channel: render
            .message(each, versions, now=clock.now(), links=ShortLinkBatch())
            .body.removeprefix("S")
            .strip()
            for channel, each in ready.items()
        }
        if own:
            assert bodies[Channel.EMAIL] == "https://own"
            continue
        token = bodies[Channel.EMAIL].rpartition("/")[2]
        assert preference_links.read(token, now=clock.now()) == person
        assert bodies[Channel.SMS] == ""
