"""SMTP against a real mail server: what it accepts is in the mailbox, what it refuses is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from providers.contract import Accepted, Message, Misconfigured, Outcome, Rejected, Unavailable
from providers.email.mime import mailbox
from providers.email.smtp import Config, Smtp, server_url
from tests.providers.email import exim
from tests.providers.email.certificates import Authority
from tests.providers.email.exim import Exim
from tests.providers.messages import message

SOON = timedelta(seconds=30)
MARIA = "maria@mailbox.example"
LOGIN = "{}:{}@".format(*exim.LOGIN)

pytestmark = pytest.mark.skipif(
    exim.PROGRAM is None, reason="exim4 is missing: apt-get install exim4-daemon-light"
)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def server(authority: Authority) -> Iterator[Exim]:
    # Not pytest's folder, whose parents only we may enter.
    with TemporaryDirectory(prefix="exim-") as folder:
        certificate = authority.server_file("127.0.0.1")
        with closing(Exim(Path(folder), certificate=certificate)) as it:
            it.start()
            yield it


def adapter(server: Exim, authority: Authority, *, login: str = LOGIN) -> Smtp:
    url = server_url(f"smtp://{login}127.0.0.1:{server.port}?starttls=1")
    config = Config(url=url, from_=mailbox("Pizza Ärger <no-reply@shop.example>"))
    return Smtp(config, ssl_context=authority.client_context())


@pytest.fixture
def smtp(server: Exim, authority: Authority) -> Iterator[Smtp]:
    with closing(adapter(server, authority)) as it:
        yield it


def outcomes(smtp: Smtp, *batch: Message) -> list[Outcome]:
    found = {each.delivery_id: each.outcome for each in smtp.send(batch, deadline=SOON)}
    return [found[each.delivery_id] for each in batch]


def test_an_accepted_mail_is_in_the_mailbox_as_it_was_written(server: Exim, smtp: Smtp) -> None:
    body = "Grüße € 😀\n.\n..two dots\n" + "long " * 400 + "\nFrom the start\nend"
    sent = message(MARIA, title="Pizza fertig 🍕", body=body, html="<p>Ü</p>")
    assert outcomes(smtp, sent) == [Accepted(message_id=f"{sent.delivery_id}@shop.example")]
    (mail,) = server.mails(1)
    assert mail["Envelope-to"] == MARIA
    assert mail["Subject"] == "Pizza fertig 🍕"
    assert mail["From"] == "Pizza Ärger <no-reply@shop.example>"
    assert mail["Message-ID"] == f"<{sent.delivery_id}@shop.example>"
    text, html = (mail.get_body((kind,)) for kind in ("plain", "html"))
    assert text is not None
    assert html is not None
    assert text.get_content() == body + "\n"
    assert html.get_content() == "<p>Ü</p>\n"
    assert " P=esmtpsa " in server.journal  # encrypted, and logged in


def test_a_batch_arrives_once_each(server: Exim, smtp: Smtp) -> None:
    batch = [message(MARIA) for _ in range(40)]
    assert all(isinstance(outcome, Accepted) for outcome in outcomes(smtp, *batch))
    expected = sorted(f"<{each.delivery_id}@shop.example>" for each in batch)
    assert sorted(mail["Message-ID"] for mail in server.mails(40)) == expected


def test_a_greylisted_mail_is_taken_at_the_second_try(server: Exim, smtp: Smtp) -> None:
    sent = message("grey@mailbox.example")
    (first,) = outcomes(smtp, sent)
    assert isinstance(first, Unavailable)
    assert first.code == "451 4.7.1"
    (second,) = outcomes(smtp, sent)
    assert isinstance(second, Accepted)
    assert len(server.mails(1)) == 1


def test_one_refusal_does_not_harm_its_neighbours(server: Exim, smtp: Smtp) -> None:
    gone, relayed, huge, good = outcomes(
        smtp,
        message("nobody@mailbox.example"),
        message("maria@elsewhere.example"),
        message(MARIA, body="x" * exim.SIZE_LIMIT_KIB * 1024),
        message(MARIA),
    )
    assert isinstance(gone, Rejected)
    assert (gone.code, gone.contact_is_dead) == ("550 5.1.1", True)
    assert isinstance(relayed, Misconfigured)
    assert relayed.code == "550 5.7.1"
    assert isinstance(huge, Rejected)
    assert huge.code.startswith("552")
    assert isinstance(good, Accepted)
    assert len(server.mails(1)) == 1


def test_a_wrong_password_is_our_mistake(server: Exim, authority: Authority) -> None:
    with closing(adapter(server, authority, login="shop:guess@")) as smtp:
        (refused,) = outcomes(smtp, message(MARIA))
        (found,) = smtp.check(deadline=SOON)
    assert isinstance(refused, Misconfigured)
    assert refused.code.startswith("535")
    assert not found.is_good


def test_a_check_gets_in(smtp: Smtp) -> None:
    (found,) = smtp.check(deadline=SOON)
    assert found.is_good
