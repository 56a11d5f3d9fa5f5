"""The link of the preference page: who it names, and for how long it is valid."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notifications.core import clock
from notifications.core.delivery import preference_links
from notifications.core.delivery.preference_links import LIFETIME, ExpiredLink, InvalidLink
from notifications.core.rules import access
from notifications.core.rules.brand import DEFAULT
from notifications.core.rules.language import variables
from tests.journey import Reach

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


def test_the_links_are_empty_without_an_app_that_serves_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(access, "rule_of", lambda *_asked: None)
    assert preference_links.url_of(1, now=clock.now(), brand=DEFAULT) == ""
    assert preference_links.path_with("token") == ""
    assert variables.link_examples().preferences_url == ""
    assert variables.link_examples().unsubscribe_url != ""
