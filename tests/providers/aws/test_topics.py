"""What SNS posts: who is believed, and where we are willing to go for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest

from providers.aws.topics import Topics
from providers.contract import ReceiptRequest
from providers.errors import CannotVerify, InvalidSignature, MalformedReceipt
from tests.providers.aws.fakes import TOPIC
from tests.providers.aws.signed_posts import (
    CERTIFICATE_URL,
    CONFIRM_URL,
    Signer,
    SnsServer,
    request,
    stamp,
)

SNS = Signer()


@pytest.fixture
def server() -> Iterator[SnsServer]:
    with closing(SnsServer(SNS)) as it:
        yield it


@pytest.fixture
def topics(server: SnsServer) -> Topics:
    return Topics(frozenset({TOPIC}), transport=server)


@pytest.mark.parametrize("subject", [{}, {"Subject": "Amazon SES Email Event Notification"}])
def test_what_sns_signed_is_opened(topics: Topics, subject: dict[str, str]) -> None:
    post = SNS.post('{"a": "grüße"}', **subject)
    assert topics.open(request(post)) == '{"a": "grüße"}'


def test_sha1_is_taken_where_the_setting_says_so(topics: Topics, server: SnsServer) -> None:
    post = request(SNS.post("sha1", version="1"))
    with pytest.raises(InvalidSignature, match="ALLOW_SHA1"):
        topics.open(post)
    assert server.fetched == [], "a post that is refused anyway fetches nothing"
    allowing = Topics(frozenset({TOPIC}), transport=server, allow_sha1=True)
    assert allowing.open(post) == "sha1"
    assert allowing.open(request(SNS.post("sha256"))) == "sha256"


def test_a_repeat_is_opened_again_and_the_certificate_is_fetched_once(
    topics: Topics, server: SnsServer
) -> None:
    post = request(SNS.post("once"))
    assert [topics.open(post), topics.open(post)] == ["once", "once"]
    assert server.fetched == [CERTIFICATE_URL]


@pytest.mark.parametrize("field", ["Message", "MessageId", "Timestamp", "Subject", "Type"])
def test_a_changed_field_is_a_forgery(topics: Topics, field: str) -> None:
    near = stamp(timedelta(minutes=1))
    changed = {"Type": "UnsubscribeConfirmation", "Timestamp": near}.get(field, "changed")
    post = SNS.post("true", Subject="a subject") | {field: changed}
    with pytest.raises(InvalidSignature, match="does not match"):
        topics.open(request(post))


@pytest.mark.parametrize("signature", ["", "not base64!", "AAAA"])
def test_a_missing_or_broken_signature_is_a_forgery(topics: Topics, signature: str) -> None:
    with pytest.raises(InvalidSignature, match="does not match"):
        topics.open(request(SNS.post("true") | {"Signature": signature}))


def test_a_signature_of_the_other_version_is_a_forgery(topics: Topics) -> None:
    with pytest.raises(InvalidSignature, match="does not match"):
        topics.open(request(SNS.post("true", version="1") | {"SignatureVersion": "2"}))


def test_another_key_under_the_right_url_is_a_forgery(topics: Topics) -> None:
    with pytest.raises(InvalidSignature, match="does not match"):
        topics.open(request(Signer().post("true")))


@pytest.mark.parametrize(
    "url",
    [
        "http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-01.pem",
        "https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-01.pem",
        "https://evil.example/SimpleNotificationService-01.pem",
        "https://sns.eu-west-1.amazonaws.com@evil.example/SimpleNotificationService-01.pem",
        "https://bucket.s3.amazonaws.com/SimpleNotificationService-01.pem",
        "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-01.pem?x=1",
        "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-01.pem\n",
        "",
    ],
)
def test_a_certificate_from_elsewhere_is_not_even_fetched(
    topics: Topics, server: SnsServer, url: str
) -> None:
    with pytest.raises(InvalidSignature):
        topics.open(request(SNS.post("true", SigningCertURL=url)))
    assert server.fetched == []


def test_a_strangers_topic_is_not_believed_though_sns_signed(
    topics: Topics, server: SnsServer
) -> None:
    post = SNS.post("true", TopicArn="arn:aws:sns:eu-west-1:999999999999:events")
    with pytest.raises(InvalidSignature, match="topic of ours"):
        topics.open(request(post))
    assert server.fetched == []


def test_a_version_that_is_not_known_is_not_believed(topics: Topics) -> None:
    with pytest.raises(InvalidSignature, match="version"):
        topics.open(request(SNS.post("true") | {"SignatureVersion": "3"}))


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"Type": 1}', b"null"])
def test_what_is_no_post_of_sns_is_refused(topics: Topics, body: bytes) -> None:
    with pytest.raises(InvalidSignature):
        topics.open(ReceiptRequest(url="", headers={}, body=body))


def test_an_expired_certificate_signs_nothing() -> None:
    expired = Signer(valid_for=timedelta(days=-1))
    with closing(SnsServer(expired)) as server:
        topics = Topics(frozenset({TOPIC}), transport=server)
        with pytest.raises(InvalidSignature, match="not valid now"):
            topics.open(request(expired.post("true")))


def test_a_certificate_that_cannot_be_had_now_says_nothing_about_the_post(
    topics: Topics, server: SnsServer
) -> None:
    server.status = 503
    with pytest.raises(CannotVerify, match="503"):
        topics.open(request(SNS.post("true")))
    server.status = 200
    assert topics.open(request(SNS.post("true"))) == "true"


def test_no_answer_for_a_certificate_says_nothing_either(topics: Topics, server: SnsServer) -> None:
    server.stop()
    with pytest.raises(CannotVerify, match="connect"):
        topics.open(request(SNS.post("true")))


def test_what_is_no_certificate_signs_nothing(topics: Topics, server: SnsServer) -> None:
    server._pem = b"<html>404</html>"
    with pytest.raises(InvalidSignature, match="no certificate"):
        topics.open(request(SNS.post("true")))


@pytest.mark.parametrize(
    "timestamp",
    [stamp(timedelta(hours=3)), stamp(timedelta(hours=-3)), "", "soon", "2026-03-29T12:00:00"],
    ids=["future", "past", "empty", "no timestamp", "no timezone"],
)
def test_a_post_of_another_day_is_not_opened_though_sns_signed(
    topics: Topics, server: SnsServer, timestamp: str
) -> None:
    with pytest.raises(InvalidSignature, match="Timestamp"):
        topics.open(request(SNS.post("true", Timestamp=timestamp)))
    assert server.fetched == []


def test_a_url_without_a_certificate_is_fetched_once_a_minute(
    topics: Topics, server: SnsServer
) -> None:
    server._pem = b"<html>404</html>"
    for _ in range(3):
        with pytest.raises(InvalidSignature, match="no certificate"):
            topics.open(request(SNS.post("true")))
    assert len(server.fetched) == 1


def test_made_up_certificates_are_fetched_one_at_a_time_and_soon_forgotten(
    topics: Topics, server: SnsServer
) -> None:
    server._pem = b"<html>404</html>"
    host = CERTIFICATE_URL.partition("Simple")[0]
    for number in range(40):
        url = f"{host}SimpleNotificationService-{number:032x}.pem"
        with pytest.raises(InvalidSignature, match="no certificate"):
            topics.open(request(SNS.post("true", SigningCertURL=url)))
    assert len(topics._missed_at) == 16
    with topics._fetching, pytest.raises(CannotVerify, match="being fetched"):
        topics.open(request(SNS.post("true")))


def test_a_process_holds_only_so_many_certificates(topics: Topics) -> None:
    host = CERTIFICATE_URL.partition("Simple")[0]
    for number in range(20):
        url = f"{host}SimpleNotificationService-{number:032x}.pem"
        assert topics.open(request(SNS.post("true", SigningCertURL=url))) == "true"
    assert len(topics._certificates) == 16


def test_a_subscription_is_confirmed_where_sns_says(topics: Topics, server: SnsServer) -> None:
    assert topics.open(request(SNS.post("hello", kind="SubscriptionConfirmation"))) is None
    assert server.fetched == [CERTIFICATE_URL, CONFIRM_URL]


def test_a_subscription_is_confirmed_nowhere_else(topics: Topics, server: SnsServer) -> None:
    url = "https://169.254.169.254/?Action=ConfirmSubscription"
    post = SNS.post("hello", kind="SubscriptionConfirmation", SubscribeURL=url)
    with pytest.raises(MalformedReceipt):
        topics.open(request(post))
    assert server.fetched == [CERTIFICATE_URL]


def test_a_forged_subscription_is_not_confirmed(topics: Topics, server: SnsServer) -> None:
    post = SNS.post("hello", kind="SubscriptionConfirmation") | {"Token": "mine"}
    with pytest.raises(InvalidSignature):
        topics.open(request(post))
    assert CONFIRM_URL not in server.fetched


def test_a_confirmation_that_sns_does_not_take_is_asked_for_again(
    topics: Topics, server: SnsServer
) -> None:
    topics.open(request(SNS.post("the certificate is known from here on")))
    server.status = 403
    with pytest.raises(CannotVerify, match="confirmation"):
        topics.open(request(SNS.post("hello", kind="SubscriptionConfirmation")))


def test_an_unsubscription_is_left_as_it_is(topics: Topics, server: SnsServer) -> None:
    assert topics.open(request(SNS.post("bye", kind="UnsubscribeConfirmation"))) is None
    assert server.fetched == [CERTIFICATE_URL]
