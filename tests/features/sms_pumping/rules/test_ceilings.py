"""The ceilings of a number follow limits, baselines and overrides."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.features.sms_pumping.rules import baselines
from notifications.features.sms_pumping.rules.baselines import EVERYBODY, TOTAL, Traffic
from notifications.features.sms_pumping.rules.ceilings import (
    NO_CEILING,
    PREFIX_SHARE,
    Ceiling,
    CeilingLimits,
    NumberCeilings,
    Override,
    Policy,
    Share,
)

_NOW = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
_PRODUCER = 7
_LEARNED = baselines.learn(
    [Traffic("4915112", EVERYBODY, 40, 9_000, 20), Traffic("4917612", EVERYBODY, 5, 100, 20)],
    [
        Traffic(TOTAL, EVERYBODY, 900, 100_000, 20),
        Traffic("DE", EVERYBODY, 800, 90_000, 20),
        Traffic("NG", EVERYBODY, 50, 1_000, 20),
        Traffic(TOTAL, _PRODUCER, 30, 999, 20),
        Traffic("DE", _PRODUCER, 30, 999, 20),
    ],
)


def _of(policy: Policy, number: str = "+4915112345678", country: str = "DE") -> NumberCeilings:
    found = policy.of(number, country=country, producer_id=_PRODUCER, now=_NOW)
    assert found is not None
    return found


def test_a_new_installation_has_the_floors_of_address_and_prefix_alone() -> None:
    assert _of(Policy()) == NumberCeilings(
        10, Share(50, PREFIX_SHARE), Share(NO_CEILING), Share(NO_CEILING)
    )


def test_the_ceiling_of_a_prefix_is_three_times_the_usual_peak_above_the_floor() -> None:
    policy = Policy(baselines=_LEARNED)
    assert _of(policy).prefix.floor == 120
    assert _of(policy, "+4917612345678").prefix.floor == 50


def test_the_ceiling_of_a_prefix_grows_with_the_p0_of_the_producer() -> None:
    policy = Policy(p0_by_producer={_PRODUCER: 4_800, 8: 9_000})
    assert _of(policy).prefix.floor == pytest.approx(288)
    others = policy.of("+4915112345678", country="DE", producer_id=9, now=_NOW)
    assert others is not None
    assert others.prefix.floor == 50


def test_the_usual_country_may_have_all_traffic_and_a_rare_one_its_share() -> None:
    policy = Policy(baselines=_LEARNED)
    assert _of(policy).country == Share(2_400, 1.0)
    rare = _of(policy, "+2348031234567", "NG").country
    assert rare.floor == 150
    assert rare.share == pytest.approx(0.03)
    assert _of(policy, "+9613123456", "LB").country == Share(100, 0.0)


def test_a_producer_without_enough_history_has_no_ceiling_of_its_own() -> None:
    assert _of(Policy(baselines=_LEARNED)).producer_country == Share(NO_CEILING)


@pytest.mark.parametrize(("days", "total"), [(6, 5_000), (28, 999)])
def test_too_little_history_gives_no_ceilings_of_countries(days: int, total: int) -> None:
    learned = baselines.learn([], [Traffic(TOTAL, EVERYBODY, 10, total, days)])
    assert _of(Policy(baselines=learned)).country == Share(NO_CEILING)


def test_the_longest_override_of_a_prefix_replaces_the_ceiling_until_its_end() -> None:
    later = _NOW + dt.timedelta(hours=4)
    wide = Override(Ceiling.PREFIX, "49", 500)
    narrow = Override(Ceiling.PREFIX, "49151", None, later)
    policy = Policy(overrides=(narrow, wide))
    assert _of(policy).prefix == Share(NO_CEILING)
    after = policy.of("+4915112345678", country="DE", producer_id=_PRODUCER, now=later)
    assert after is not None
    assert after.prefix == Share(500)


def test_overrides_of_a_number_and_a_country() -> None:
    policy = Policy(
        baselines=_LEARNED,
        overrides=(
            Override(Ceiling.ADDRESS, "4915112345678", None),
            Override(Ceiling.COUNTRY, "DE", 0),
        ),
    )
    assert _of(policy).address == NO_CEILING
    assert _of(policy).country == _of(policy).producer_country == Share(0)
    assert _of(policy, "+4915112345679").address == CeilingLimits().address


def test_a_fallback_has_the_ceiling_of_its_number_and_overrides_alone() -> None:
    def of(policy: Policy) -> NumberCeilings:
        found = policy.of(
            "+4915112345678", country="DE", producer_id=_PRODUCER, now=_NOW, is_fallback=True
        )
        assert found is not None
        return found

    none = Share(NO_CEILING)
    assert of(Policy(baselines=_LEARNED)) == NumberCeilings(10, none, none, none)
    attacked = Policy(
        overrides=(Override(Ceiling.PREFIX, "4915", 5), Override(Ceiling.COUNTRY, "DE", 9))
    )
    assert of(attacked) == NumberCeilings(10, Share(5), Share(9), Share(9))


def test_a_fictional_number_has_the_ceilings_of_an_unknown_country() -> None:
    found = Policy().of("+15552000007", country="??", producer_id=_PRODUCER, now=_NOW)
    assert found is not None
    assert (found.address, found.prefix.floor) == (10, 50)


@pytest.mark.parametrize("number", ["", "maria@example.com"])
def test_an_address_that_is_no_number_has_no_ceilings(number: str) -> None:
    assert Policy().of(number, country="??", producer_id=_PRODUCER, now=_NOW) is None
