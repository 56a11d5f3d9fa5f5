"""Texts, titles and names in the requests to chat services."""

from __future__ import annotations

import orjson
import pytest

from providers.contract import Accepted, Rejected
from providers.sandbox_server.wire import ServerAnswer
from providers.transport import Transport
from tests.providers.answering import AnsweringFake
from tests.providers.chat.services_fake import CASES, MATTERMOST_HOOK, fields
from tests.providers.chat.test_apprise_chat import adapter, chat
from tests.providers.trying import outcomes

IN_BYTES = ("webex", "wecom", "threema", "ntfy", "gotify")


def test_a_form_puts_no_text_and_no_secret_into_a_url(
    server: AnsweringFake, transport: Transport
) -> None:
    server.answer = ServerAnswer(status=200, body=b"0123456789abcdef")
    found = outcomes(adapter(server, transport), chat(CASES["threema"].address, body="50 % & more"))
    assert found == [Accepted(message_id="0123456789abcdef")]
    (request,) = server.requests
    assert request.target == "/send_simple"
    assert request.headers["content-type"].startswith("application/x-www-form-urlencoded")
    assert fields(CASES["threema"], request.body)["text"] == "Order\n50 % & more"


@pytest.mark.parametrize(
    ("address", "title"), [("zulip://news@acme/{}/ada@example.com", "Order"), ("", "x" * 61)]
)
def test_a_title_that_cannot_be_the_topic_stands_in_the_text_of_zulip(
    server: AnsweringFake, transport: Transport, address: str, title: str
) -> None:
    case = CASES["zulip"]
    to = address.format(MATTERMOST_HOOK) or case.address
    assert outcomes(adapter(server, transport), chat(to, title=title)) == [Accepted()]
    (request,) = server.requests
    sent = fields(case, request.body)
    assert sent["content"] == f"{title}\nIt is ready"
    assert len(sent["topic"]) <= 60


def test_names_and_titles_that_a_service_refuses_are_cut(
    server: AnsweringFake, transport: Transport
) -> None:
    provider = adapter(server, transport, FROM="The shop of Ada, Grace and Barbara")
    places = [CASES[name] for name in ("line", "viber", "pushover")]
    outcomes(provider, *(chat(case.address, title="x" * 251) for case in places))
    bodies = {request.target: request.body for request in server.requests}
    line, viber, pushover = (fields(case, bodies[case.target]) for case in places)
    assert line["messages"][0]["sender"]["name"] == "The shop of Ada, Gra"
    assert viber["sender"]["name"] == "The shop of Ada, Grace and B"
    assert pushover["title"] == "x" * 249 + "…"
    assert not {"sound", "device"} & pushover.keys(), "the recipient's own settings count"


@pytest.mark.parametrize(
    ("name", "room"),
    [
        # What is left beside the title `Order` and what the service puts between title and text
        ("discord", 2_000 - 6),
        ("telegram", 4_096 - 6),
        ("google chat", 4_096 - 8),
        ("mattermost", 16_383 - 7),
        ("rocket.chat", 5_000 - 8),
        ("webex", 7_439 - 8),
        ("slack bot", 35_000 - 5),
        ("nextcloud talk", 32_000 - 6),
        ("zulip", 10_000),
        ("line", 5_000 - 6),
        ("viber", 7_000 - 6),
        ("pushover", 1_024),
        ("wecom", 2_048 - 6),
        ("threema", 3_500 - 6),
        ("ntfy", 4_095),
        ("gotify", 65_535),
    ],
)
def test_a_text_loses_what_a_service_does_not_take(
    server: AnsweringFake, transport: Transport, name: str, room: int
) -> None:
    address = CASES[name].address
    for body in ("x" * room, "x" * (room + 1)):
        assert outcomes(adapter(server, transport), chat(address, body=body)) == [Accepted()]
    whole, cut = (
        orjson.dumps(fields(CASES[name], request.body)).decode() for request in server.requests
    )
    assert "x" * room in whole
    kept = room - (3 if name in IN_BYTES else 1)
    assert "x" * kept + "…" in cut
    assert "x" * (kept + 1) not in cut


def test_a_text_that_is_longer_in_json_fits_into_the_payload_of_ntfy(
    server: AnsweringFake, transport: Transport
) -> None:
    address = CASES["ntfy"].address
    outcomes(adapter(server, transport), chat(address, body='"' * 4_095, title="x" * 100))
    (request,) = server.requests
    assert len(request.body) <= 8_191
    assert fields(CASES["ntfy"], request.body)["message"].endswith('""…')


def test_a_card_of_teams_has_at_most_28_kilobytes_with_all_that_surrounds_the_text(
    server: AnsweringFake, transport: Transport
) -> None:
    address = CASES["teams"].address
    for body in ("x" * 27_000, "ü" * 20_000, "*" * 20_000, "👩‍👩‍👧 " * 2_000):
        assert outcomes(adapter(server, transport), chat(address, body=body)) == [Accepted()]
    whole, *cut = (request.body.decode() for request in server.requests)
    assert "x" * 27_000 in whole
    assert [27_990 < len(each.encode()) <= 28_000 for each in cut[:2]] == [True, True]
    assert all(len(each.encode()) <= 28_000 for each in cut)
    (text,) = (each["text"] for each in card(cut[2]) if each["id"] == "body")
    assert text.endswith("👩‍👩‍👧…"), "no emoji is cut in the middle"


def card(body: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = orjson.loads(body)["attachments"][0]["content"]["body"]
    return found


def test_a_title_that_fills_a_message_harms_no_neighbour(
    server: AnsweringFake, transport: Transport
) -> None:
    address = CASES["discord"].address
    found = outcomes(
        adapter(server, transport), chat(address, title="x" * 2_000), chat(address, body="y")
    )
    detail = "the title fills Discord (2,000 characters)"
    assert found == [Rejected(code="payload_too_large", detail=detail), Accepted()]


def test_a_message_without_a_text_says_its_title(
    server: AnsweringFake, transport: Transport
) -> None:
    address = CASES["discord"].address
    found = outcomes(
        adapter(server, transport), chat(address, body=""), chat(address, title="", body="")
    )
    assert isinstance(found[1], Rejected)
    assert found[0] == Accepted()
    (request,) = server.requests
    assert orjson.loads(request.body)["content"] == "Order"
