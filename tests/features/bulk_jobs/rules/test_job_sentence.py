"""A bulk job in words: who gets what, when and how fast."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import pytest

from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.channels import Spread
from notifications.features.bulk_jobs.rules import job_sentence
from notifications.features.bulk_jobs.rules.job_sentence import JobFacts
from notifications.features.bulk_jobs.rules.schedule_text import Schedule
from providers.contract import Channel

NOW: Final = dt.datetime(2026, 11, 20, 12, 30, tzinfo=dt.UTC)  # a Friday
TUESDAY: Final = dt.datetime(2026, 11, 24, 9, 0, tzinfo=dt.UTC)
AGO: Final = NOW - dt.timedelta(days=2)
A_AND_B: Final = (
    {"name": "a", "percent": 60, "template_id": "winter_sale"},
    {"name": "b", "percent": 40, "template_id": "sale_b"},
)
PLAIN: Final[dict[str, Any]] = {
    "audience": "whose plan is pro",
    "count": 2_009,
    "template_id": "winter_sale",
}


def said(*, schedule: dict[str, Any] | None = None, **given: Any) -> str:  # noqa: ANN401 - any field
    facts = JobFacts(**{**PLAIN, **given, "schedule": Schedule(**(schedule or {}))})
    return job_sentence.describe(facts, now=NOW)


def test_a_job_is_one_sentence() -> None:
    local = {"send_at_local": TUESDAY.replace(tzinfo=None), "rate_per_second": 500 / 60}
    assert said(schedule=local, channels=[Channel.EMAIL]) == (
        "2,009 recipients whose plan is pro get the template winter_sale by email, on Tuesday"
        " 09:00 on each recipient's clock, at most 500 a minute."
    )


@pytest.mark.parametrize(
    ("given", "start"),
    [
        ({"count": 1}, "1 recipient whose plan is pro gets the template"),
        ({"count": 0}, "No recipient whose plan is pro gets the template"),
        ({"count": None}, "The recipients whose plan is pro get the template"),
        ({"is_exact": False}, "About 2,009 recipients whose plan is pro get the template"),
        ({"is_test": True}, "2,009 test recipients whose plan is pro get the template"),
        ({"audience": "who a, except those b"}, "2,009 recipients who a, except those b, get the"),
        ({"audience": ""}, "All 2,009 recipients get the template"),
        ({"audience": "", "is_exact": False}, "All recipients, about 2,009, get the template"),
        ({"audience": "", "count": 1}, "The only recipient gets the template"),
        ({"audience": "", "count": 0}, "No recipient gets the template"),
        ({"audience": "", "count": None}, "All recipients get the template"),
        ({"audience": None}, "The recipients of an audience (not chosen yet) get the"),
        ({"state": BulkJobState.PAUSED}, "2,009 recipients whose plan is pro get the"),
        ({"state": BulkJobState.FINISHED}, "2,009 recipients whose plan is pro were to get the"),
        ({"state": BulkJobState.ABORTED}, "2,009 recipients whose plan is pro were to get the"),
        ({"state": BulkJobState.CANCELLED, "count": 1}, "1 recipient whose plan is pro was to get"),
    ],
)
def test_the_subject_is_the_audience(given: dict[str, Any], start: str) -> None:
    assert said(**given).startswith(start)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({}, "get the template winter_sale, now"),
        ({"template_id": ""}, "get a template (not chosen yet), now"),
        ({"spread": Spread.ALL}, "winter_sale on all channels, now"),
        ({"channels": [Channel.PUSH, Channel.SMS]}, "winter_sale by push, else sms, now"),
        (
            {"channels": [Channel.PUSH, Channel.SMS, Channel.EMAIL], "spread": Spread.ALL},
            "winter_sale by push, sms and email, now",
        ),
    ],
)
def test_the_object_is_the_message(given: dict[str, Any], what: str) -> None:
    assert what in said(**given)


@pytest.mark.parametrize(
    ("schedule", "when"),
    [
        ({}, ", now, as fast as the providers take messages."),
        ({"starts_at": TUESDAY}, ", on Tuesday 09:00 UTC, as"),
        ({"starts_at": AGO}, ", now, as"),
        ({"started_at": AGO}, ", from Wednesday 18 November 2026 12:30 UTC on, as"),
        ({"send_at_local": dt.time(9)}, ", at the next 09:00 on each recipient's clock, as"),
        ({"spread_seconds": 36_000}, ", now, spread evenly over 10 h."),
        ({"rate_per_second": 200}, ", now, at most 200 a second."),
        ({"rate_per_second": 500_000 / 3_600}, ", now, at most 500,000 an hour."),
        ({"rate_per_second": 0.001}, ", now, at most 3.6 an hour."),
        ({"rate_per_second": 1 / 7}, ", now, at most 514 an hour."),
        (
            {"rate_per_second": 100, "ceiling": 10},
            ", now, at most 10 a second, the ceiling of the installation.",
        ),
        ({"ceiling": 10}, ", now, at most 10 a second, the ceiling of the installation."),
        ({"rate_per_second": 5, "ceiling": 10}, ", now, at most 5 a second."),
        (
            {"spread_seconds": 60, "ceiling": 10},
            ", now, spread evenly over 1 min or longer, at most 10 a second, the ceiling",
        ),
    ],
)
def test_start_and_rate_follow(schedule: dict[str, Any], when: str) -> None:
    assert when in said(schedule=schedule)


def test_a_draft_without_a_start_says_so() -> None:
    assert ", at a time (not chosen yet), as fast" in said(has_start=False)


def test_variants_have_their_shares_and_the_rule_for_a_winner() -> None:
    shares = "60 % get variant a (template winter_sale) and 40 % get variant b (template sale_b)."
    assert said(variants=A_AND_B).endswith(
        f" get one of 2 variants, now, as fast as the providers take messages. {shares}"
    )
    winner = {"metric": "read", "sample_percent": 10, "after_seconds": 14_400}
    assert said(variants=A_AND_B, winner=winner).endswith(
        f"Of a sample of 10 % of the recipients, {shares} 4 h later, the other recipients get the"
        " variant with the highest share of opened messages."
    )


def test_the_sentence_of_a_finished_job_is_about_the_past() -> None:
    text = said(variants=A_AND_B, holdout_percent=5, state=BulkJobState.FINISHED)
    assert "60 % were to get variant a" in text
    assert "5 % of the recipients were to get no message" in text


def test_the_shares_of_the_variants_are_those_of_the_recipients_outside_of_the_holdout() -> None:
    text = said(variants=A_AND_B, holdout_percent=5)
    assert " 5 % of the recipients get no message, for comparison. Of the others, 60 % get" in text
    winner = {"metric": "read", "sample_percent": 10, "after_seconds": 60}
    assert "Of a sample of 10 % of the others, 60 %" in said(
        variants=A_AND_B, holdout_percent=5, winner=winner
    )


def test_a_job_that_ended_before_its_start_does_not_start_now() -> None:
    text = said(schedule={"starts_at": AGO}, state=BulkJobState.CANCELLED)
    assert ", on Wednesday 18 November 2026 12:30 UTC, as" in text


def test_a_variant_of_the_texts_of_a_template_is_named() -> None:
    variants = [{"name": "a", "percent": 50}, {"name": "b", "percent": 50, "template_variant": "b"}]
    assert said(variants=variants).endswith(
        "50 % get variant a (template winter_sale) and 50 % get variant b (template winter_sale,"
        " variant b of its texts)."
    )


def test_a_variant_without_a_template_has_that_of_the_job() -> None:
    variants = [{"name": "a", "percent": 50}, {"name": "b", "percent": 50, "template_id": None}]
    assert said(variants=variants).count("(template winter_sale)") == 2


def test_holdout_and_test_group_are_named() -> None:
    group = {"test_group_size": 1_000, "test_group_seconds": 3_600}
    assert said(schedule=group, holdout_percent=5).endswith(
        " 5 % of the recipients get no message, for comparison. The first 1,000 recipients are a"
        " test group; the others follow 1 h later."
    )
    one = {"test_group_size": 1, "test_group_seconds": 60}
    assert "The first recipient is a test group; the others follow 1 min" in said(schedule=one)
