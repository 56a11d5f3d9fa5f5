"""An account of End User Messaging, from empty to connected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from providers.aws import texts
from providers.connect.account import CannotConnect
from providers.connect.aws_eum import DESTINATION, AwsEumAccount
from providers.contract import Pace
from providers.sms.aws_eum import Config
from tests.providers.aws.fakes import ACCOUNT, REGION
from tests.providers.connect.applying import bad, connect, listed
from tests.providers.connect.aws_stand_in import ACCOUNT_ID, AwsStandIn, Refused, number

URL = "https://notify.shop.example/v1/receipts/aws_eum"
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT_ID}:notify-aws-eum"
POOL = f"arn:aws:sms-voice:{REGION}:{ACCOUNT_ID}:pool/pool-7"


def account(aws: AwsStandIn, **changed: Any) -> AwsEumAccount:  # noqa: ANN401 - any setting
    fields = {
        **ACCOUNT,
        "endpoint": aws.url,
        "configuration_set": "notify",
        "topics": frozenset({TOPIC}),
        **changed,
    }
    return AwsEumAccount(Config(**fields), receipts_url=URL)


def test_an_empty_account_gets_every_part_and_then_nothing(aws: AwsStandIn) -> None:
    made = connect(account(aws))
    assert made == [
        *("topic", "policy", "subscription", "configuration set", "event destination"),
    ]
    destination = aws.sms_sets["notify"][DESTINATION]
    assert destination["MatchingEventTypes"] == ["TEXT_ALL"]
    assert destination["SnsDestination"] == {"TopicArn": TOPIC}
    before = len(aws.writes)
    assert connect(account(aws)) == []
    assert len(aws.writes) == before
    assert bad(account(aws)) == []


def test_a_plan_changes_nothing(aws: AwsStandIn) -> None:
    assert len(account(aws).plan()) == 5
    assert aws.writes == []


def _disable(aws: AwsStandIn) -> None:
    aws.sms_sets["notify"][DESTINATION]["Enabled"] = False


def _lead_elsewhere(aws: AwsStandIn) -> None:
    aws.sms_sets["notify"][DESTINATION]["SnsDestination"] = {"TopicArn": TOPIC + "-of-others"}


def _take_calls_only(aws: AwsStandIn) -> None:
    aws.sms_sets["notify"][DESTINATION]["MatchingEventTypes"] = ["VOICE_ALL"]


def _delete(aws: AwsStandIn) -> None:
    del aws.sms_sets["notify"][DESTINATION]


@pytest.mark.parametrize("destroy", [_disable, _lead_elsewhere, _take_calls_only, _delete])
def test_a_destroyed_event_destination_is_repaired(
    aws: AwsStandIn, destroy: Callable[[AwsStandIn], None]
) -> None:
    connect(account(aws))
    destroy(aws)
    assert connect(account(aws)) == ["event destination"]
    assert account(aws).plan() == []


def test_a_destination_that_takes_everything_is_enough(aws: AwsStandIn) -> None:
    connect(account(aws))
    destination = aws.sms_sets["notify"].pop(DESTINATION)
    by_hand = {"EventDestinationName": "by-hand", "MatchingEventTypes": ["ALL"]}
    aws.sms_sets["notify"]["by-hand"] = {**destination, **by_hand}
    assert account(aws).plan() == []


def test_missing_settings_are_named_with_their_values(aws: AwsStandIn) -> None:
    topic, configuration_set = bad(account(aws, configuration_set="", topics=frozenset()))
    assert topic.startswith(f"set NOTIFY_AWS_EUM_TOPICS={TOPIC},")
    assert configuration_set.startswith("set NOTIFY_AWS_EUM_CONFIGURATION_SET=notify,")


def test_the_sender_is_a_number_a_pool_or_any_number(aws: AwsStandIn) -> None:
    aws.numbers = [
        number(PhoneNumber="+14255550100", PhoneNumberId="phone-1"),
        number(PhoneNumber="+14255550101", PhoneNumberId="phone-2", PoolId="pool-7"),
        number(PhoneNumber="+14255550102", PhoneNumberId="phone-3", PoolId="pool-7"),
        number(PhoneNumber="+14255550103", PhoneNumberId="phone-4", Status="PENDING"),
        number(PhoneNumber="+14255550104", PhoneNumberId="phone-5", NumberCapabilities=["VOICE"]),
    ]
    counts = {
        chosen: next(account(aws, origination=chosen).findings()).detail.split()[0]
        for chosen in ("", "+14255550100", "phone-2", "pool-7", POOL)
    }
    assert counts == {"": "3", "+14255550100": "1", "phone-2": "1", "pool-7": "2", POOL: "2"}
    assert bad(account(aws, origination="phone-4")) == [
        "the number or pool of the settings has no active number"
    ]
    assert bad(account(aws, origination="SHOP")) == []
    aws.numbers = []
    assert bad(account(aws)) == ["the account has no active number"]


def test_the_rate_is_the_sum_of_the_numbers_that_send(aws: AwsStandIn) -> None:
    aws.numbers = [
        number(PhoneNumberId="phone-1", MessagingLimits={"RateLimits": {"SMS": 3, "MMS": 1}}),
        number(PhoneNumberId="phone-2", MessagingLimits={"RateLimits": {"SMS": 100}}),
    ]
    assert account(aws).rate() == texts.pace(103)
    assert account(aws, origination="phone-1").rate() == Pace(burst=30, per_second=3)
    assert account(aws, per_second=7).rate() is None
    aws.numbers = [number(MessagingLimits={})]
    assert account(aws).rate() is None


def test_the_opt_out_lists_of_the_numbers_are_read_to_their_last_page(aws: AwsStandIn) -> None:
    aws.numbers = [number(OptOutListName="Default"), number(OptOutListName="brand")]
    aws.opted_out = {
        "Default": [f"+4930123450{n}" for n in range(5)],
        "brand": ["+493012345099"],
        "of-others": ["+493012345098"],
    }
    assert listed(account(aws)) == [
        *((f"+4930123450{n}", "opt_out") for n in range(5)),
        ("+493012345099", "opt_out"),
    ]
    assert aws.calls.count("describe_opted_out_numbers") == 4
    aws.numbers = []
    assert len(listed(account(aws))) == 5


def test_wrong_credentials_are_one_line(aws: AwsStandIn) -> None:
    aws.refuse_all = Refused("UnrecognizedClientException", "The token is invalid.")
    with pytest.raises(CannotConnect, match=r"^credentials: UnrecognizedClientException: "):
        account(aws).plan()
