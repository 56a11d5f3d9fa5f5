"""Audience expressions in words."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.features.audiences.rules import wording

PRO = {"attribute": "plan", "is": "pro"}
NEWS = {"topic": "news"}


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ({"everyone": True}, ""),
        (PRO, "whose plan is pro"),
        ({"attribute": "plan", "exists": False}, "whose plan is not set"),
        (NEWS, "in the topic news"),
        ({"attribute": "locale", "is": "de"}, "whose locale is de"),
        ({"attribute": "timezone", "is": "Europe/Berlin"}, "whose timezone is Europe/Berlin"),
        ({"reachable": "push"}, "reachable by push"),
        ({"user_ids": ["u_1"]}, "with one user id"),
        ({"user_ids": [f"u_{n}" for n in range(1_200)]}, "with 1,200 user ids"),
        (
            {"received": {"type": "PROMO", "within_days": 7}},
            "who got PROMO in the last 7 days",
        ),
        ({"attribute": "created_at", "before": {"days_ago": 30}}, "created before 30 days ago"),
        ({"and": [PRO, NEWS]}, "whose plan is pro and in the topic news"),
        ({"and": [{"everyone": True}, PRO]}, "whose plan is pro"),
        ({"and": [{"everyone": True}]}, ""),
        ({"or": [PRO, NEWS]}, "whose plan is pro or in the topic news"),
        (
            {"and": [{"or": [PRO, NEWS]}, {"reachable": "sms"}]},
            "(whose plan is pro or in the topic news) and reachable by sms",
        ),
        ({"not": NEWS}, "(all except those in the topic news)"),
        ({"and": [PRO, {"not": NEWS}]}, "whose plan is pro, except those in the topic news"),
        (
            {
                "and": [
                    PRO,
                    {"not": {"topic": "c"}},
                    {"not": {"or": [{"topic": "a"}, {"topic": "b"}]}},
                ]
            },
            "whose plan is pro, except those in the topic c or (in the topic a or in the topic b)",
        ),
        (
            {"and": [{"everyone": True}, {"not": NEWS}]},
            "(all except those in the topic news)",
        ),
        ({"or": [PRO, {"not": NEWS}]}, "whose plan is pro or not among those in the topic news"),
        ({"or": [PRO, {"everyone": True}]}, "whose plan is pro or with any values"),
        (
            {"or": [{"topic": f"t{n}"} for n in range(8)]},
            " or ".join(f"in the topic t{n}" for n in range(6)) + " or 2 further conditions",
        ),
    ],
)
def test_an_expression_follows_the_word_recipients(expression: dict[str, Any], words: str) -> None:
    assert wording.who_stored(expression) == words


def test_an_expression_of_another_release_is_shown_as_json() -> None:
    assert wording.who_stored({"moon": "full"}) == 'in the audience {"moon": "full"}'
