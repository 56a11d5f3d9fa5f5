"""The size of an audience: exact where it is small or rare, else a sample with its error."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from notifications.core.models import Topic
from notifications.core.rules.lane import Mode
from notifications.features.audiences.rows import estimates
from notifications.features.audiences.rows.estimates import Estimate
from notifications.features.audiences.rules.parse import parse

pytestmark = pytest.mark.django_db

ROWS = 60_000
PRO = {"attribute": "plan", "is": "pro"}
YOUNG = {"attribute": "age", "at_most": 49}


@pytest.fixture
def _people(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    topic = Topic.objects.create(name="news")
    with connection.cursor() as running:
        running.execute(
            """
            INSERT INTO notifications_recipient
                (mode, user_id, locale, timezone, phone_timezone, attributes,
                 created_at, updated_at)
            SELECT 1, 'u_' || n, 'en', '', '', jsonb_build_object('plan',
                   CASE WHEN n %% 20 = 0 THEN 'rare' WHEN n %% 4 = 0 THEN 'pro' ELSE 'free' END,
                   'age', (n * 7919) %% 100, 'one', n %% 15000), now(), now()
            FROM generate_series(1, %s) n
            """,
            [ROWS],
        )
        running.execute(
            "INSERT INTO topic_subscriber SELECT %s, id FROM notifications_recipient"
            " WHERE id %% 2 = 0",
            [topic.pk],
        )
        running.execute("ANALYZE notifications_recipient, topic_subscriber")


def of(expression: Any) -> Estimate:  # noqa: ANN401 - JSON
    return estimates.estimate(parse(expression), mode=Mode.LIVE)


@pytest.mark.usefixtures("_people")
def test_a_sample_holds_the_size_within_its_error() -> None:
    for expression in (
        {"and": [PRO, YOUNG]},
        {"and": [{"topic": "news"}, YOUNG]},
        {"or": [{"topic": "news"}, PRO]},
        {"not": PRO},
    ):
        true = estimates.count(parse(expression), mode=Mode.LIVE)
        found = of(expression)
        assert true > 0
        assert abs(found.count - true) <= max(3 * found.error, 0.0), expression
        assert found.error < 0.2 * true
    assert not of(PRO).is_exact


@pytest.mark.usefixtures("_people")
def test_a_rare_or_small_audience_is_counted() -> None:
    assert of({"attribute": "one", "is": 7}) == Estimate(4, is_exact=True)
    assert of({"attribute": "one", "is": 15_000}) == Estimate(0, is_exact=True)
    assert of({"user_ids": ["u_1", "u_2", "gone"]}) == Estimate(2, is_exact=True)


def test_no_recipients_are_counted_without_a_sample() -> None:
    Topic.objects.create(name="none")
    assert of({"everyone": True}) == Estimate(0, is_exact=True)
    assert of({"topic": "none"}) == Estimate(0, is_exact=True)
