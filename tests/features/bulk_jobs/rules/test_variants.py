"""Variants of a bulk job are chosen by a hash, in the wanted shares."""

from __future__ import annotations

import uuid
from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.features.bulk_jobs.rules import variants
from notifications.features.bulk_jobs.rules.variants import Variant

_PEOPLE = 20_000


def _job(**given: object) -> SimpleNamespace:
    return SimpleNamespace(**{
        "id": uuid.UUID(int=7),
        "template": 1,
        "variants": [
            {"name": "a", "template": 11, "percent": 30},
            {"name": "b", "template": 12, "template_variant": "short", "percent": 70},
        ],
        "holdout_percent": 0,
        "winner_rule": None,
        "winner": "",
        **given,
    })


def test_the_shares_are_as_asked_and_the_holdout_comes_first() -> None:
    job = _job(holdout_percent=20)
    found = Counter(
        variant and variant.name for variant in (variants.choose(job, n) for n in range(_PEOPLE))
    )
    assert found[None] / _PEOPLE == pytest.approx(0.2, abs=0.01)
    assert found["a"] / _PEOPLE == pytest.approx(0.8 * 0.3, abs=0.01)
    assert found["b"] / _PEOPLE == pytest.approx(0.8 * 0.7, abs=0.01)


@given(job_id=st.uuids(), recipient=st.integers(0, 2**63 - 1))
def test_a_recipient_always_gets_the_same_variant(job_id: uuid.UUID, recipient: int) -> None:
    one, again = _job(id=job_id), _job(id=job_id)
    assert variants.choose(one, recipient) == variants.choose(again, recipient)


def test_a_job_without_variants_sends_its_own_template() -> None:
    assert variants.choose(_job(variants=[]), 1) == Variant("", 1)


def test_the_sample_keeps_its_variants_and_all_others_get_the_winner() -> None:
    job = _job(winner_rule={"sample_percent": 10}, holdout_percent=5)
    before = {n: variants.choose(job, n) for n in range(_PEOPLE)}
    job.winner = "b"
    sample = [n for n in range(_PEOPLE) if variants.is_in_sample(job, n)]
    assert len(sample) / _PEOPLE == pytest.approx(0.1, abs=0.01)
    after = {n: variants.choose(job, n) for n in range(_PEOPLE)}
    assert all(after[n] == before[n] for n in sample)
    rest = {after[n] for n in after.keys() - set(sample)}
    assert rest == {None, Variant("b", 12, "short")}
    assert {n for n in after if after[n] is None} == {n for n in before if before[n] is None}


def test_holdout_sample_and_variant_are_independent() -> None:
    job = _job(winner_rule={"sample_percent": 50}, holdout_percent=50)
    found = Counter(
        (variants.is_in_sample(job, n), variant and variant.name)
        for n in range(_PEOPLE)
        for variant in [variants.choose(job, n)]
    )
    for in_sample in (True, False):
        assert found[in_sample, None] / _PEOPLE == pytest.approx(0.25, abs=0.01)
        assert found[in_sample, "a"] / _PEOPLE == pytest.approx(0.25 * 0.3, abs=0.01)


def test_without_a_rule_for_a_winner_the_sample_is_the_audience() -> None:
    assert all(variants.is_in_sample(_job(), n) for n in range(100))
