"""What an address cannot make us do."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.chat.apprise_chat import AppriseChat, Config
from providers.chat.draft import draft
from providers.chat.services import SERVICES
from providers.contract import Channel, Outcome, Rejected
from providers.rounds import Unsendable
from providers.transport import Transport
from tests.providers.chat.services_fake import CASES, HOOK, MATTERMOST_HOOK, TOKEN
from tests.providers.fakes import free_port
from tests.providers.messages import message


def send(address: str, *, allow_private: bool = False) -> Outcome:
    config = Config(schemes=frozenset(SERVICES), allow_private=allow_private)
    with closing(Transport()) as transport:
        provider = AppriseChat(config, transport=transport)
        batch = [message(address, Channel.CHAT)]
        (result,) = provider.send(batch, deadline=timedelta(seconds=30))
    return result.outcome


def code_of(address: str) -> str:
    outcome = send(address)
    assert isinstance(outcome, Rejected)
    assert not outcome.contact_is_dead
    return outcome.code


@pytest.mark.parametrize(
    "address",
    [
        "json://127.0.0.1/",
        "jsons://example.com/",
        "xml://example.com/",
        "mailto://user:password@example.com",
        "mmost://chat.example.com/" + MATTERMOST_HOOK,
        "https://hooks.slack.com/services/" + HOOK,
        "syslog://",
        "slack",
        "",
    ],
)
def test_an_address_of_no_service_of_ours_is_rejected(address: str) -> None:
    assert code_of(address) == "unsupported_address"


@pytest.mark.parametrize(
    "address",
    [
        f"mmosts://127.0.0.1/{MATTERMOST_HOOK}",
        f"mmosts://169.254.169.254/{MATTERMOST_HOOK}",
        f"mmosts://chat.example.com:5432/{MATTERMOST_HOOK}",
        "workflows://10.0.0.1/643e69f83c8944/438a3ee3d3ee4c2b",
        f"mmosts://localhost/{MATTERMOST_HOOK}",
        f"zulip://news@127.0.0.1/{MATTERMOST_HOOK}/general",
        "nctalks://news:password@10.0.0.1/room",
        "ntfys://169.254.169.254/topic",
        "gotifys://127.0.0.1:6379/Aabcdefghijklmn",
        "matrixs://token@127.0.0.1:8008/?mode=hookshot",
    ],
)
def test_an_address_that_leads_into_our_network_is_rejected(address: str) -> None:
    assert code_of(address) == "forbidden_address"


@pytest.mark.parametrize(
    "rest",
    [
        "user:password@alerts",
        "push_.example.com/alerts",
        "-push.example.com/alerts",
        "push.example.com/alerts?mode=cloud",
    ],
)
def test_an_address_of_an_own_server_never_leads_to_the_public_server(rest: str) -> None:
    assert code_of(f"ntfys://{rest}") == "unsupported_address"


@pytest.mark.parametrize(
    "address",
    [
        *("ntfy://127.1/t", "ntfy://0x7f.1/t", "ntfy://über.example/t", "ntfy://token@127.1/t"),
        *(
            "ntfy://localhost",
            "ntfy://2130706433",
            "ntfy://0x7f000001/",
            "ntfy://user:pw@localhost",
            "ntfy://LocalHost",
            "ntfy://0X7F000001",
        ),
        *(
            f"zulip://news@{host}/{MATTERMOST_HOOK}/general"
            for host in ("localhost", "LOCALHOST", "2130706433", "chat.example.com:8443")
        ),
    ],
)
def test_a_host_is_never_read_as_a_name_at_the_public_server(address: str) -> None:
    assert code_of(address) == "unsupported_address"


@pytest.mark.parametrize(
    "address",
    ["ntfy://my-topic_1", "ntfy://tk_abc@alerts/", f"zulip://news@acme/{MATTERMOST_HOOK}/a"],
)
def test_a_name_at_the_public_server_is_taken(address: str) -> None:
    service = SERVICES[address.partition("://")[0]]
    assert draft(message(address, Channel.CHAT), service=service, sender="Shop").url


def test_a_private_server_is_called_where_that_is_allowed() -> None:
    address = f"mmosts://127.0.0.1:{free_port()}/{MATTERMOST_HOOK}"
    assert type(send(address, allow_private=True)).__name__ == "Unavailable"


@pytest.mark.parametrize(
    "address",
    [
        "slack://xoxb-1234-1234-abc124/someone@example.com",
        "slack://xoxb-1234-1234-abc124/%23a/%23b",
        f"tgram://{TOKEN}",
        f"tgram://{TOKEN}/1/2",
        "rockets://user:password@chat.example.com/%23general",
        "matrixs://hooks.example.com/?mode=hookshot",
        "dingtalk://secret@643e69f83c8944aa",
        "ntfys://ntfy.example.com/a/b",
        "ntfy://ntfy.example.com/topic",
        f"zulip://news@acme/{MATTERMOST_HOOK}/a/b",
    ],
)
def test_what_needs_more_than_one_post_is_rejected(address: str) -> None:
    assert code_of(address) == "unsupported_address"


@pytest.mark.parametrize(
    "address",
    [
        "matrixs://token@matrix.example.com/!room:example.com",
        "matrixs://user:password@matrix.example.com/%23room",
    ],
)
def test_an_address_that_needs_a_sign_in_is_rejected(address: str) -> None:
    assert code_of(address) == "unsupported_message"


@pytest.mark.parametrize("scheme", ["slack", "discord", "workflows", "tgram"])
@pytest.mark.parametrize(
    "option",
    [
        "?template={}",
        "?thread=1&template={}",
        "?thread=1;template={}",
        "?Template={}",
        "?%74emplate={}",
        "%3Ftemplate={}",
        "&template={}",
        "?+template={}",
        "?thread=%26template={}",
    ],
)
def test_no_option_makes_us_read_a_file(scheme: str, option: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"content": "hunter2", "text": "hunter2", "type": "message"}')
    case = next(case for case in CASES.values() if case.scheme == scheme)
    address = case.address.partition("?")[0] + option.format(secret)
    given = message(address, Channel.CHAT)
    try:
        body = draft(given, service=SERVICES[scheme], sender="Shop").body
    except Unsendable as error:
        body = error.outcome.code.encode()
    assert b"hunter2" not in body


@pytest.mark.parametrize("option", ["verify=no", "to=%23other", "overflow=split", "retry=5", "x"])
def test_other_options_are_refused_by_name(option: str) -> None:
    assert code_of(f"slack://{HOOK}?{option}") == "unsupported_address"


@given(
    scheme=st.sampled_from(sorted(SERVICES)),
    rest=st.text(st.sampled_from("abcXYZ019:/@%#?&=+-_.~[]é\u0000\n 1"), max_size=80)
    | st.sampled_from([case.address.partition("://")[2] for case in CASES.values()]),
)
def test_any_other_text_is_one_post_to_the_service_or_rejected(scheme: str, rest: str) -> None:
    service = SERVICES[scheme]
    try:
        request = draft(message(f"{scheme}://{rest}", Channel.CHAT), service=service, sender="Shop")
    except Unsendable:
        return
    assert re.match(service.target, request.url)


def test_apprise_is_loaded_by_the_first_message_and_not_before() -> None:
    program = (
        "import sys, providers.registry as r; from providers.transport import Transport;"
        "r.build_all({'NOTIFY_APPRISE_SCHEMES': 'slack'}, transport=Transport());"
        "sys.exit('apprise' in sys.modules or 'requests' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
