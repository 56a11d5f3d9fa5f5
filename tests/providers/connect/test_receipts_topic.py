"""The topic of receipts: the stand-in for what moto lacks, and moto's SNS as a second reader."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from providers.aws.settings import Account
from providers.connect.account import CannotConnect
from providers.connect.receipts_topic import EventSource, ReceiptsTopic
from tests.providers.aws.fakes import KEY_ID, REGION, SECRET
from tests.providers.aws.moto_server import client, moto
from tests.providers.connect.aws_stand_in import ACCOUNT_ID, AwsStandIn

URL = "https://notify.shop.example/v1/receipts/ses"
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT_ID}:notify-ses"
SETTINGS = Account(region=REGION, access_key_id=KEY_ID, secret_access_key=SECRET)


class _Topic(ReceiptsTopic):
    """A topic that records the pauses instead of waiting."""

    def __init__(self, trusted: frozenset[str], *, allow_sha1: bool = False) -> None:
        self.pauses: list[float] = []
        super().__init__(
            SETTINGS,
            source=EventSource(provider="ses", principal="ses.amazonaws.com"),
            trusted=trusted,
            allow_sha1=allow_sha1,
            receipts_url=URL,
            pause=self.pauses.append,
        )

    def connect(self) -> list[str]:
        changes = self.plan()
        for change in changes:
            change.apply()
        return [each.subject for each in changes]


def topic(*trusted: str, allow_sha1: bool = False) -> _Topic:
    return _Topic(frozenset(trusted or (TOPIC,)), allow_sha1=allow_sha1)


def test_a_subscription_is_made_once_sns_has_the_confirmation(aws: AwsStandIn) -> None:
    aws.confirms_after = 2
    found = topic()
    assert found.connect() == ["topic", "policy", "subscription"]
    assert len(found.pauses) == 2
    assert found.plan() == []


def test_a_subscription_that_nobody_confirms_is_an_error_and_asked_for_again(
    aws: AwsStandIn,
) -> None:
    aws.confirms_after = 1_000
    with pytest.raises(CannotConnect, match=r"is .* reachable from the internet"):
        topic().connect()
    (again,) = topic().plan()
    assert again.detail == f"ask SNS again for the confirmation of {URL}"
    aws.confirms_after = 0
    again.apply()
    assert topic().plan() == []
    assert len(aws.subscriptions) == 1


def _unsubscribe(aws: AwsStandIn) -> None:
    aws.subscriptions.clear()


def _move_the_url(aws: AwsStandIn) -> None:
    (each,) = aws.subscriptions.values()
    each["Endpoint"] = "https://old.shop.example/v1/receipts/ses"


def _deliver_raw(aws: AwsStandIn) -> None:
    (each,) = aws.subscriptions.values()
    each["RawMessageDelivery"] = "true"


def _sign_with_sha1(aws: AwsStandIn) -> None:
    del aws.topics[TOPIC]["SignatureVersion"]


def _forget_the_policy(aws: AwsStandIn) -> None:
    aws.topics[TOPIC]["Policy"] = json.dumps({"Version": "2008-10-17", "Statement": []})


@pytest.mark.parametrize(
    ("destroy", "repaired"),
    [
        (_unsubscribe, "subscription"),
        (_move_the_url, "subscription"),
        (_deliver_raw, "subscription"),
        (_sign_with_sha1, "topic"),
        (_forget_the_policy, "policy"),
    ],
)
def test_a_destroyed_part_is_repaired(
    aws: AwsStandIn, destroy: Callable[[AwsStandIn], None], repaired: str
) -> None:
    topic().connect()
    destroy(aws)
    assert topic().connect() == [repaired]
    assert topic().plan() == []


def test_the_subscription_of_another_url_stays(aws: AwsStandIn) -> None:
    topic().connect()
    _move_the_url(aws)
    topic().connect()
    assert len(aws.subscriptions) == 2


def test_the_statements_of_others_stay_in_the_policy(aws: AwsStandIn) -> None:
    topic().connect()
    sids = [each["Sid"] for each in json.loads(aws.topics[TOPIC]["Policy"])["Statement"]]
    assert sids == ["__default_statement_ID", "notify-ses"]


def test_sha1_stays_where_the_settings_allow_it(aws: AwsStandIn) -> None:
    topic().connect()
    _sign_with_sha1(aws)
    assert topic(allow_sha1=True).plan() == []


def test_a_topic_of_another_account_is_left_to_a_person(aws: AwsStandIn) -> None:
    foreign = topic(f"arn:aws:sns:{REGION}:999999999999:events")
    assert foreign.plan() == []
    (finding,) = foreign.findings()
    assert "another account or region" in finding.detail
    assert aws.writes == []


def test_a_topic_with_a_key_of_aws_is_bad(aws: AwsStandIn) -> None:
    topic().connect()
    assert list(topic().findings()) == []
    aws.topics[TOPIC]["KmsMasterKeyId"] = "alias/aws/sns"
    (finding,) = topic().findings()
    assert "no service can publish" in finding.detail


def test_of_several_topics_the_accounts_own_is_connected(aws: AwsStandIn) -> None:
    mine = f"arn:aws:sns:{REGION}:{ACCOUNT_ID}:events"
    assert topic(f"arn:aws:sns:{REGION}:999999999999:events", mine).arn == mine
    assert aws.writes == []


def test_motos_sns_takes_the_topic_the_policy_and_the_subscription(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = moto()
    monkeypatch.setenv("AWS_ENDPOINT_URL_SNS", url)
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
    # moto does not give SignatureVersion back, so the topic may sign with SHA-1 here.
    found = topic(allow_sha1=True)
    assert found.connect() == ["topic", "policy", "subscription"]
    assert found.plan() == []
    (made,) = client("sns", url).list_subscriptions_by_topic(TopicArn=TOPIC)["Subscriptions"]
    assert (made["Protocol"], made["Endpoint"]) == ("https", URL)
