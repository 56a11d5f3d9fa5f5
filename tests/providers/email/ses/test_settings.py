"""Settings of SES, and what a person at a shell sees."""

from __future__ import annotations

import pytest

from providers import registry
from providers.conformance import Act
from providers.contract import Finding, Misconfigured
from providers.email import ses
from providers.email.mime import mailbox
from providers.email.ses import Config, Ses
from providers.errors import ConfigurationError
from providers.transport import Transport
from tests.providers.aws.fakes import ACCOUNT, KEY_ID, REGION, SECRET, TOPIC, AwsFake, json_answer
from tests.providers.email.ses.world import FROM, SECONDS, made, mails, outcomes

SETTINGS = {
    "NOTIFY_SES_REGION": REGION,
    "NOTIFY_SES_FROM": "Shop <no-reply@shop.example>",
    "NOTIFY_SES_ACCESS_KEY_ID": KEY_ID,
    "NOTIFY_SES_SECRET_ACCESS_KEY": SECRET,
    "NOTIFY_SES_TOPICS": TOPIC,
}


@pytest.mark.parametrize(
    ("account", "said"),
    [
        (
            {"SendQuota": {"Max24HourSend": 50000.0, "MaxSendRate": 14.0, "SentLast24Hours": 12.0}},
            [("quota", True, "12 of 50,000 in 24 hours, 14 a second")],
        ),
        (
            {
                "SendQuota": {"Max24HourSend": 200.0, "MaxSendRate": 1.0, "SentLast24Hours": 200.0},
                "EnforcementStatus": "PROBATION",
                "SendingEnabled": False,
                "ProductionAccessEnabled": False,
            },
            [
                ("quota", False, "200 of 200 in 24 hours, 1 a second"),
                ("account", False, "under review: PROBATION"),
                ("account", False, "sending is paused"),
                ("account", False, "in the sandbox: mail goes to verified addresses only"),
            ],
        ),
        ([], [("reachability", False, "not an answer of this service")]),
    ],
)
def test_check_tells_the_quota(
    server: AwsFake, provider: Ses, account: object, said: list[tuple[str, bool, str]]
) -> None:
    server.answer = lambda _request: json_answer(account)
    found = [(each.subject, each.is_good, each.detail) for each in provider.check(deadline=SECONDS)]
    assert found == [("credentials", True, "accepted"), *said]
    assert [request.target for request in server.requests] == [ses.ACCOUNT]


def test_check_tells_what_is_wrong(server: AwsFake, provider: Ses) -> None:
    server.act(Act.BAD_CREDENTIALS)
    (found,) = provider.check(deadline=SECONDS)
    said = "HTTP 403 UnrecognizedClientException: Refused: [address]"
    assert found == Finding(subject="credentials", is_good=False, detail=said)
    server.stop()
    (found,) = provider.check(deadline=SECONDS)
    assert found == Finding(subject="reachability", is_good=False, detail="no answer: connect")


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("NOTIFY_SES_REGION", ""),
        ("NOTIFY_SES_REGION", "hunter2"),
        ("NOTIFY_SES_FROM", ""),
        ("NOTIFY_SES_FROM", "hunter2"),
        ("NOTIFY_SES_ENDPOINT", "hunter2"),
        ("NOTIFY_SES_ACCESS_KEY_ID", ""),
        ("NOTIFY_SES_SECRET_ACCESS_KEY", ""),
        ("NOTIFY_SES_TOPICS", "arn:aws:sns:hunter2"),
        ("NOTIFY_SES_CONFIGURATION_SET", "hunter2!"),
        ("NOTIFY_SES_BULK", "hunter2"),
        ("NOTIFY_SES_CODES", "hunter2"),
    ],
)
def test_a_wrong_setting_is_named_at_start(setting: str, text: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        registry.build_all(SETTINGS | {setting: text})
    assert str(refused.value).startswith(f"{setting}: ")
    assert "hunter2" not in str(refused.value)


def test_the_endpoint_is_the_regions() -> None:
    hosts = {
        region: Config(**ACCOUNT | {"region": region}, from_=mailbox(FROM)).endpoint_of("email")  # type: ignore[arg-type] # texts
        for region in ("eu-west-1", "cn-north-1")
    }
    assert hosts == {
        "eu-west-1": "https://email.eu-west-1.amazonaws.com",
        "cn-north-1": "https://email.cn-north-1.amazonaws.com.cn",
    }


def test_without_keys_in_the_settings_nothing_is_looked_up_at_start() -> None:
    settings = {name: text for name, text in SETTINGS.items() if "KEY" not in name}
    assert registry.build_all(settings)["ses"].capabilities.gives_receipts


def test_without_any_keys_it_is_our_fault_and_nobodys_bounce(
    server: AwsFake, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("providers.aws.credentials._find", lambda: None)
    provider = made(server, transport, access_key_id="", secret_access_key="")
    found = outcomes(provider, mails(60))
    assert {type(each) for each in found} == {Misconfigured}
    (finding,) = provider.check(deadline=SECONDS)
    assert (finding.subject, finding.is_good) == ("credentials", False)
    assert server.requests == []
