"""Who goes into which call, and whose answer is whose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import orjson
import pytest

from providers.conformance import Act
from providers.contract import Accepted, Channel, Rejected, Unanswered
from providers.email import ses, ses_bodies
from providers.email.ses import Ses
from providers.mail_headers import MailHeaders
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.transport import Transport
from tests.providers.aws.fakes import AwsFake, SesSpeaker, json_answer
from tests.providers.email.ses.world import bodies, entries_in, made, mails, outcomes
from tests.providers.messages import message


def test_one_mail_is_a_simple_mail_with_our_tag(server: AwsFake, transport: Transport) -> None:
    provider = made(server, transport, configuration_set="notify")
    (mail,) = mails(1, title="Bestellung\nfertig", html="<b>grüße</b>")
    outcomes(provider, [mail])
    (request,) = server.requests
    assert request.path == ses.SINGLE
    assert orjson.loads(request.body) == {
        "FromEmailAddress": "=?utf-8?b?R3LDvMOfZQ==?= <no-reply@shop.example>",
        "ConfigurationSetName": "notify",
        "Destination": {"ToAddresses": ["p0@mailbox.example"]},
        "Content": {
            "Simple": {
                "Subject": {"Data": "Bestellung fertig", "Charset": "UTF-8"},
                "Body": {
                    "Text": {"Data": "Your order is ready.", "Charset": "UTF-8"},
                    "Html": {"Data": "<b>grüße</b>", "Charset": "UTF-8"},
                },
                "Headers": [{"Name": "Auto-Submitted", "Value": "auto-generated"}],
            }
        },
        "EmailTags": [{"Name": "delivery_id", "Value": str(mail.delivery_id)}],
    }


@pytest.mark.parametrize("number", [1, 2])
def test_each_mail_says_where_its_own_person_unsubscribes(
    server: AwsFake, provider: Ses, number: int
) -> None:
    batch = [
        message(f"p{n}@mailbox.example", Channel.EMAIL, unsubscribe_url=f"https://us.example/u/{n}")
        for n in range(number)
    ]
    outcomes(provider, batch)
    (said,) = bodies(server)
    own = [
        [
            {"Name": "List-Unsubscribe", "Value": f"<https://us.example/u/{n}>"},
            {"Name": "List-Unsubscribe-Post", "Value": "List-Unsubscribe=One-Click"},
        ]
        for n in range(number)
    ]
    if number == 1:
        assert said["Content"]["Simple"]["Headers"][1:] == own[0]
    else:
        assert [entry["ReplacementHeaders"] for entry in said["BulkEmailEntries"]] == own


def test_mails_of_two_brands_go_into_two_calls(server: AwsFake, provider: Ses) -> None:
    shop = MailHeaders(
        sender_name="Shop", sender_address="news@shop.example", reply_to="a@b.example"
    )
    batch = [
        message(f"p{n}@mailbox.example", Channel.EMAIL, mail=shop if n % 2 else MailHeaders())
        for n in range(6)
    ]
    found = outcomes(provider, batch)
    assert all(isinstance(each, Accepted) for each in found)
    of_shop, plain = sorted(bodies(server), key=lambda said: "ReplyToAddresses" not in said)
    assert of_shop["FromEmailAddress"] == "Shop <news@shop.example>"
    assert of_shop["ReplyToAddresses"] == ["a@b.example"]
    assert plain["FromEmailAddress"] == "=?utf-8?b?R3LDvMOfZQ==?= <no-reply@shop.example>"
    assert "ReplyToAddresses" not in plain
    assert [len(said["BulkEmailEntries"]) for said in (of_shop, plain)] == [3, 3]


@pytest.mark.parametrize("number", [1, 2])
def test_each_mail_has_its_own_list_and_thread(server: AwsFake, provider: Ses, number: int) -> None:
    batch = [
        message(
            f"p{n}@mailbox.example",
            Channel.EMAIL,
            mail=MailHeaders(list_id=f"l{n}.example", thread_id=f"{n}@example"),
        )
        for n in range(number)
    ]
    outcomes(provider, batch)
    (said,) = bodies(server)
    own = [
        [
            {"Name": "List-Id", "Value": f"<l{n}.example>"},
            {"Name": "In-Reply-To", "Value": f"<{n}@example>"},
            {"Name": "References", "Value": f"<{n}@example>"},
        ]
        for n in range(number)
    ]
    if number == 1:
        assert said["Content"]["Simple"]["Headers"][1:] == own[0]
    else:
        assert [entry["ReplacementHeaders"] for entry in said["BulkEmailEntries"]] == own


def test_a_bulk_call_carries_finished_parts(server: AwsFake, provider: Ses) -> None:
    batch = mails(2, html='<a href="/{{x}}">grüße</a>')
    outcomes(provider, batch)
    (said,) = bodies(server)
    template = said["DefaultContent"]["Template"]
    assert template["TemplateContent"] == {
        "Subject": "{{subject}}", "Text": "{{text}}", "Html": "{{html}}",
    }  # fmt: skip
    for mail, entry in zip(batch, said["BulkEmailEntries"], strict=True):
        data = entry["ReplacementEmailContent"]["ReplacementTemplate"]["ReplacementTemplateData"]
        assert orjson.loads(data) == {
            "subject": mail.title, "text": mail.body, "html": '<a href="/{{x}}">grüße</a>',
        }  # fmt: skip
        assert entry["Destination"] == {"ToAddresses": [mail.address]}
        assert entry["ReplacementTags"] == [{"Name": "delivery_id", "Value": str(mail.delivery_id)}]


@pytest.mark.parametrize(
    ("number", "calls"), [(2, [2]), (50, [50]), (51, [1, 50]), (120, [20, 50, 50])]
)
def test_a_batch_goes_in_calls_of_fifty(
    server: AwsFake, provider: Ses, number: int, calls: list[int]
) -> None:
    found = outcomes(provider, mails(number))
    assert all(isinstance(each, Accepted) for each in found)
    assert entries_in(server) == calls


def test_mails_with_other_parts_go_in_other_calls(server: AwsFake, provider: Ses) -> None:
    batch = mails(3) + mails(2, html="<p>", body="") + mails(4, html="<p>")
    found = outcomes(provider, batch)
    assert Counter(type(each) for each in found) == {Accepted: 9}
    shapes = {tuple(b["DefaultContent"]["Template"]["TemplateContent"]) for b in bodies(server)}
    assert shapes == {("Subject", "Text"), ("Subject", "Html"), ("Subject", "Text", "Html")}


def test_each_entry_gets_its_own_answer_by_its_place(server: AwsFake, provider: Ses) -> None:
    def answer(request: ServerRequest) -> ServerAnswer:
        tags = SesSpeaker().keys(request)
        lines: list[Mapping[str, str]] = [{"Status": "SUCCESS", "MessageId": tag} for tag in tags]
        lines[1] = {"Status": "MESSAGE_REJECTED", "Error": "Refused: p1@mailbox.example"}
        return json_answer({"BulkEmailEntryResults": lines})

    server.answer = answer
    batch = mails(3)
    first, second, third = outcomes(provider, batch)
    assert first == Accepted(message_id=str(batch[0].delivery_id))
    assert second == Rejected(
        code="MESSAGE_REJECTED", detail="Refused: [address]", another_provider_may_accept=True
    )
    assert third == Accepted(message_id=str(batch[2].delivery_id))


@pytest.mark.parametrize("lines", [[], [{"Status": "SUCCESS"}], [{}, {}], None])
def test_an_answer_that_does_not_say_whose_is_whose_is_no_answer(
    server: AwsFake, provider: Ses, lines: object
) -> None:
    server.answer = lambda _request: json_answer({"BulkEmailEntryResults": lines})
    assert outcomes(provider, mails(2)) == [Unanswered(code="unreadable_answer")] * 2


def test_an_unreadable_yes_to_one_mail_is_a_yes(server: AwsFake, provider: Ses) -> None:
    server.answer = lambda _request: ServerAnswer(status=200, body=b"<html>")
    assert outcomes(provider, mails(1)) == [Accepted()]


def test_a_bulk_call_that_is_not_answered_leaves_all_its_mails_unanswered(
    server: AwsFake, provider: Ses
) -> None:
    server.act(Act.CUT)
    assert outcomes(provider, mails(60)) == [Unanswered(code="cut")] * 60


def test_a_refused_bulk_call_is_taken_apart_so_that_one_mail_harms_no_other(
    server: AwsFake, provider: Ses
) -> None:
    def answer(request: ServerRequest) -> ServerAnswer:
        if b"p7@" in request.body:
            return SesSpeaker.error("BadRequestException")
        return SesSpeaker().accept(request)

    server.answer = answer
    found = outcomes(provider, mails(20))
    assert found.pop(7) == Rejected(code="BadRequestException", detail="why")
    assert {type(each) for each in found} == {Accepted}
    assert len(server.requests) == 21


@pytest.mark.parametrize("code", ["SendingPausedException", "TooManyRequestsException"])
def test_a_call_refused_for_our_own_sake_is_not_taken_apart(
    server: AwsFake, provider: Ses, code: str
) -> None:
    server.answer = lambda _request: SesSpeaker.error(code)
    outcomes(provider, mails(20))
    assert len(server.requests) == 1


def test_the_switch_sends_each_mail_alone(server: AwsFake, transport: Transport) -> None:
    outcomes(made(server, transport, bulk=False), mails(5))
    assert [request.path for request in server.requests] == [ses.SINGLE] * 5


def test_what_is_too_long_for_an_entry_goes_alone(server: AwsFake, provider: Ses) -> None:
    long = mails(1, body="ü" * ses_bodies.TEMPLATE_DATA_LIMIT)
    outcomes(provider, [*mails(2), *long])
    assert sorted(request.path for request in server.requests) == [ses.BULK, ses.SINGLE]


def test_a_bulk_call_stays_below_its_limit_in_bytes(server: AwsFake, provider: Ses) -> None:
    outcomes(provider, mails(10, html='"' * 100_000))
    assert max(len(request.body) for request in server.requests) < 1_000_000
    assert len(server.requests) > 1


def test_a_bad_mail_is_rejected_here_and_its_neighbours_go(
    server: AwsFake, provider: Ses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ses, "SIZE_LIMIT_BYTES", 1_000)
    bad = message("nobody", Channel.EMAIL)
    big = message("p@mailbox.example", Channel.EMAIL, html="x" * 1_001)
    good = message("p@mailbox.example", Channel.EMAIL)
    first, second, third = outcomes(provider, [bad, big, good])
    assert isinstance(first, Rejected)
    assert first.code == "malformed_address"
    assert second == Rejected(
        code="payload_too_large", detail="1,032 bytes of text and attachments, at most 1,000"
    )
    assert isinstance(third, Accepted)
    assert len(server.requests) == 1
