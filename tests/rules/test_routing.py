"""Which provider a delivery tries, and that it keeps to it."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

import pytest

from notifications.core.rules.routing import RoutingRule, choose
from providers.contract import Channel


def _sms(provider: str, region: str = "", *, rank: int = 0, weight: int = 1) -> RoutingRule:
    return RoutingRule(
        channel=Channel.SMS, provider=provider, region=region, rank=rank, weight=weight
    )


def _push(provider: str, platform: str = "") -> RoutingRule:
    return RoutingRule(channel=Channel.PUSH, provider=provider, platform=platform)


SMS = [_sms("world"), _sms("america", "+1"), _sms("bahamas", "+1242"), _sms("germany", "+49")]


@pytest.mark.parametrize(
    ("address", "provider"),
    [
        ("+4915112345678", "germany"),
        ("+12125550100", "america"),
        ("+12425550100", "bahamas"),
        ("+5511987654321", "world"),
    ],
)
def test_the_longest_region_decides_alone(address: str, provider: str) -> None:
    assert choose(SMS, address=address, kind="").order(UUID(int=1)) == (provider,)


def test_a_row_that_names_the_platform_comes_before_one_that_does_not() -> None:
    rules = [_push("any"), _push("apns", "apns_token")]
    assert choose(rules, address="", kind="apns_token").order(UUID(int=1)) == ("apns",)
    assert choose(rules, address="", kind="fcm_token").order(UUID(int=1)) == ("any",)


def test_where_no_rule_fits_there_is_no_provider() -> None:
    choice = choose([_sms("germany", "+49")], address="+1", kind="")
    assert choice.rules == ()
    assert choice.order(UUID(int=1)) == ()


def test_ranks_are_tried_in_turn_by_all_deliveries_alike() -> None:
    rules = [_sms("last", rank=2), _sms("first"), _sms("second", rank=1)]
    assert choose(rules, address="", kind="").same_for_all == ("first", "second", "last")


def test_a_delivery_draws_the_same_order_each_time() -> None:
    rules = [_sms("a"), _sms("b"), _sms("spare", rank=1)]
    there, back = (choose(each, address="", kind="") for each in (rules, rules[::-1]))
    for number in range(100):
        order = there.order(UUID(int=number))
        assert order == back.order(UUID(int=number))
        assert order[-1] == "spare"


def test_weights_are_shares() -> None:
    choice = choose([_sms("a", weight=3), _sms("b")], address="", kind="")
    first = Counter(choice.order(UUID(int=number))[0] for number in range(4_000))
    assert first["a"] / 4_000 == pytest.approx(0.75, abs=0.03)


def test_a_new_provider_takes_its_share_and_moves_no_other_delivery() -> None:
    two = choose([_sms("a"), _sms("b")], address="", kind="")
    three = choose([_sms("a"), _sms("b"), _sms("c")], address="", kind="")
    moved = 0
    for number in range(3_000):
        before, after = (each.order(UUID(int=number))[0] for each in (two, three))
        moved += after == "c"
        assert after in {before, "c"}
    assert moved / 3_000 == pytest.approx(1 / 3, abs=0.04)
