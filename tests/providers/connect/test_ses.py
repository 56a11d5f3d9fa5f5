"""An SES account, from empty to connected."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from providers.connect.account import CannotConnect
from providers.connect.ses import DESTINATION, EVENTS, SesAccount
from providers.contract import Pace
from providers.email.mime import mailbox
from providers.email.ses import Config
from tests.providers.aws.fakes import ACCOUNT, REGION
from tests.providers.connect.applying import bad, connect, listed
from tests.providers.connect.aws_stand_in import ACCOUNT_ID, AwsStandIn, Refused

URL = "https://notify.shop.example/v1/receipts/ses"
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT_ID}:notify-ses"


def account(aws: AwsStandIn, **changed: Any) -> SesAccount:  # noqa: ANN401 - any setting
    fields = {
        **ACCOUNT,
        "endpoint": aws.url,
        "from_": mailbox("Shop <no-reply@mail.shop.example>"),
        "configuration_set": "notify",
        "topics": frozenset({TOPIC}),
        **changed,
    }
    return SesAccount(Config(**fields), receipts_url=URL)


def test_an_empty_account_gets_every_part_and_then_nothing(aws: AwsStandIn) -> None:
    made = connect(account(aws))
    assert made == [
        *("topic", "policy", "subscription", "configuration set", "event destination"),
    ]
    assert aws.topics[TOPIC]["SignatureVersion"] == "2"
    assert [each["Endpoint"] for each in aws.subscriptions.values()] == [URL]
    destination = aws.ses_sets["notify"][DESTINATION]
    assert destination["Enabled"]
    assert set(destination["MatchingEventTypes"]) == set(EVENTS)
    before = len(aws.writes)
    assert connect(account(aws)) == []
    assert len(aws.writes) == before
    assert bad(account(aws)) == []


def test_a_plan_changes_nothing(aws: AwsStandIn) -> None:
    assert len(account(aws).plan()) == 5
    assert aws.writes == []


def _disable(aws: AwsStandIn) -> None:
    aws.ses_sets["notify"][DESTINATION]["Enabled"] = False


def _drop_bounces(aws: AwsStandIn) -> None:
    aws.ses_sets["notify"][DESTINATION]["MatchingEventTypes"].remove("BOUNCE")


def _lead_elsewhere(aws: AwsStandIn) -> None:
    aws.ses_sets["notify"][DESTINATION]["SnsDestination"]["TopicArn"] = TOPIC + "-of-others"


def _delete_destination(aws: AwsStandIn) -> None:
    del aws.ses_sets["notify"][DESTINATION]


@pytest.mark.parametrize("destroy", [_disable, _drop_bounces, _lead_elsewhere, _delete_destination])
def test_a_destroyed_event_destination_is_repaired(
    aws: AwsStandIn, destroy: Callable[[AwsStandIn], None]
) -> None:
    connect(account(aws))
    destroy(aws)
    assert connect(account(aws)) == ["event destination"]
    assert account(aws).plan() == []


def test_a_repair_keeps_the_opens_that_an_operator_chose(aws: AwsStandIn) -> None:
    connect(account(aws))
    destination = aws.ses_sets["notify"][DESTINATION]
    destination["MatchingEventTypes"].append("OPEN")
    destination["Enabled"] = False
    connect(account(aws))
    assert "OPEN" in aws.ses_sets["notify"][DESTINATION]["MatchingEventTypes"]


def test_a_destination_of_another_name_is_enough(aws: AwsStandIn) -> None:
    connect(account(aws))
    destinations = aws.ses_sets["notify"]
    destinations["by-hand"] = destinations.pop(DESTINATION)
    assert account(aws).plan() == []


def test_missing_settings_are_named_with_their_values(aws: AwsStandIn) -> None:
    unset = account(aws, configuration_set="", topics=frozenset())
    made = connect(unset)
    # Not before the settings name the topic: the receipts URL would refuse the confirmation.
    assert "subscription" not in made
    topic, configuration_set = bad(unset)
    assert topic.startswith(f"set NOTIFY_SES_TOPICS={TOPIC},")
    assert configuration_set.startswith("set NOTIFY_SES_CONFIGURATION_SET=notify,")
    assert connect(account(aws)) == ["subscription"]


def test_the_sender_is_verified_by_a_domain_above(aws: AwsStandIn) -> None:
    sender = next(account(aws).findings())
    assert (sender.is_good, sender.detail) == (True, "shop.example is verified, DKIM SUCCESS")
    aws.identities["shop.example"]["VerifiedForSendingStatus"] = False
    assert bad(account(aws)) == ["shop.example is not verified, DKIM SUCCESS"]


def test_a_sender_that_is_no_identity_is_bad_and_not_printed(aws: AwsStandIn) -> None:
    aws.identities.clear()
    (said,) = bad(account(aws))
    assert said == "neither mail.shop.example nor the mailbox is an identity of this region"
    aws.identities["no-reply@mail.shop.example"] = {"VerifiedForSendingStatus": True}
    sender = next(account(aws).findings())
    assert sender.detail == "the mailbox is verified, DKIM NOT_STARTED"


def test_the_suppression_list_is_read_to_its_last_page(aws: AwsStandIn) -> None:
    aws.suppressed = [(f"p{n}@mailbox.example", "BOUNCE") for n in range(4)]
    aws.suppressed.append(("angry@mailbox.example", "COMPLAINT"))
    assert listed(account(aws)) == [
        *((f"p{n}@mailbox.example", "bounce") for n in range(4)),
        ("angry@mailbox.example", "complaint"),
    ]
    assert aws.calls.count("list_suppressed_destinations") == 3


def test_a_list_that_repeats_a_page_ends(aws: AwsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    page = {
        "SuppressedDestinationSummaries": [
            {"EmailAddress": "a@mailbox.example", "Reason": "BOUNCE", "LastUpdateTime": 0}
        ],
        "NextToken": "again",
    }
    monkeypatch.setattr(aws, "_ses_list_suppressed_destinations", lambda _given: page)
    pages = account(aws).suppression_pages()
    assert [len(next(pages)) for _ in range(2)] == [1, 1]
    with pytest.raises(CannotConnect, match="suppression list: AWS repeats a page"):
        next(pages)


def test_the_rate_is_the_accounts_unless_the_settings_fix_one(aws: AwsStandIn) -> None:
    aws.quota["MaxSendRate"] = 90.0
    assert account(aws).rate() == Pace(burst=90, per_second=90)
    assert account(aws, per_second=5).rate() is None


def test_wrong_credentials_are_one_line_without_the_key(aws: AwsStandIn) -> None:
    aws.refuse_all = Refused(
        "InvalidClientTokenId", "The security token for a@b.example is invalid.", status=403
    )
    with pytest.raises(CannotConnect) as caught:
        account(aws).plan()
    assert str(caught.value) == (
        "credentials: InvalidClientTokenId: The security token for [address] is invalid."
    )


def test_no_address_is_logged(aws: AwsStandIn, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("", "boto3", "botocore", "urllib3"):
        caplog.set_level(logging.DEBUG, logger=name)
    aws.suppressed = [("gone@mailbox.example", "BOUNCE")]
    assert len(listed(account(aws))) == 1
    assert len(list(account(aws).findings())) == 1
    for secret in ("gone@", "gone%40", "no-reply@", "no-reply%40", ACCOUNT["secret_access_key"]):
        assert secret not in caplog.text


def test_an_unreachable_service_is_one_line(aws: AwsStandIn) -> None:
    gone = AwsStandIn()
    with closing(gone):
        away = account(aws, endpoint=gone.url)
    with pytest.raises(CannotConnect, match=r"^rate: AWS cannot be asked: \w+Error$"):
        away.rate()
