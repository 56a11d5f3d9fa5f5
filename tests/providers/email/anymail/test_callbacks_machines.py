"""Openings and clicks of machines give no receipt, those of persons do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing

import pytest

from providers.contract import Receipt, ReceiptKind
from providers.transport import Transport
from tests.providers.email.anymail.test_standings import WRITE, Event, in_json, receipts_of

PERSON = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148"
APPLES_PROXY = "Mozilla/5.0"
AGENTS: Mapping[str, Callable[[str], Event]] = {
    "brevo": lambda agent: {"event": "click", "user_agent": agent},
    "mailgun": lambda agent: {"event": "opened", "client-info": {"user-agent": agent}},
    "mailjet": lambda agent: {"event": "open", "agent": agent},
    "mailtrap": lambda agent: {"event": "open", "user_agent": agent},
    "mandrill": lambda agent: {"event": "open", "user_agent": agent, "msg": {}},
    "postal": lambda agent: {"url": "https://shop.example/", "user_agent": agent},
    "postmark": lambda agent: {"RecordType": "Open", "UserAgent": agent},
    "resend": lambda agent: {"type": "email.clicked", "data": {"click": {"userAgent": agent}}},
    "sendgrid": lambda agent: {"event": "open", "useragent": agent},
    "unisender_go": lambda agent: {"status": "opened", "delivery_info": {"user_agent": agent}},
}
"""An opening by each service, or a click where only that names the agent. SparkPost is below."""

pytestmark = pytest.mark.filterwarnings(
    "ignore::anymail.exceptions.AnymailNotSupportedWarning"  # of SendGrid
)


@pytest.fixture
def transport() -> Iterator[Transport]:
    with closing(Transport()) as it:
        yield it


def kinds(receipts: object) -> list[ReceiptKind]:
    assert isinstance(receipts, list)
    assert all(isinstance(each, Receipt) for each in receipts)
    return [each.kind for each in receipts]


def from_sparkpost(event: Event, transport: Transport) -> list[ReceiptKind]:
    said = in_json([{"msys": {"track_event": {"transmission_id": "1", **event}}}])
    return kinds(receipts_of("sparkpost", said, transport))


@pytest.mark.parametrize("service", AGENTS)
@pytest.mark.parametrize("agent", [APPLES_PROXY, "ms-office; MSOffice 16", "axios/1.6"])
def test_a_machine_that_the_agent_names_reads_nothing(
    transport: Transport, service: str, agent: str
) -> None:
    for name, expected in ((agent, []), (PERSON, [ReceiptKind.READ]), ("", [ReceiptKind.READ])):
        said = WRITE[service](AGENTS[service](name))
        assert kinds(receipts_of(service, said, transport)) == expected


@pytest.mark.parametrize(
    ("service", "event", "reads"),
    [
        ("brevo", {"event": "proxy_open"}, False),
        ("brevo", {"event": "unique_proxy_open"}, False),
        ("brevo", {"event": "unique_opened"}, True),
        ("mailgun", {"event": "opened", "client-info": {"bot": "apple"}}, False),
        ("mailgun", {"event": "clicked", "client-info": {"bot": "generic"}}, False),
        ("mailgun", {"event": "clicked", "client-info": {"bot": ""}}, True),
        ("sendgrid", {"event": "open", "sg_machine_open": True, "useragent": PERSON}, False),
        ("sendgrid", {"event": "open", "sg_machine_open": False, "useragent": PERSON}, True),
    ],
)
def test_a_machine_that_the_service_flags_reads_nothing(
    transport: Transport, service: str, event: Event, *, reads: bool
) -> None:
    found = kinds(receipts_of(service, WRITE[service](event), transport))
    assert found == ([ReceiptKind.READ] if reads else [])


@pytest.mark.parametrize(
    ("event", "reads"),
    [
        ({"type": "open", "is_prefetched": True, "user_agent": PERSON}, False),
        ({"type": "open", "is_prefetched": False, "user_agent": PERSON}, True),
        ({"type": "click", "user_agent": APPLES_PROXY}, False),
        ({"type": "click", "user_agent": PERSON}, True),
    ],
)
def test_a_prefetch_of_sparkpost_reads_nothing(
    transport: Transport, event: Event, *, reads: bool
) -> None:
    assert from_sparkpost(event, transport) == ([ReceiptKind.READ] if reads else [])


def test_a_machine_ends_no_address_and_hides_no_bounce(transport: Transport) -> None:
    said = WRITE["sendgrid"]({"event": "bounce", "type": "bounce", "useragent": APPLES_PROXY})
    assert kinds(receipts_of("sendgrid", said, transport)) == [ReceiptKind.BOUNCED]
