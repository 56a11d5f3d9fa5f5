"""SMTP with encryption and a login: certificates are verified, and nothing leaves in the clear."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword
from aiosmtpd.smtp import Session as SmtpSession

from providers import conformance
from providers.conformance import Subject
from providers.contract import (
    Accepted,
    Channel,
    Finding,
    Misconfigured,
    Outcome,
    Rejected,
    Unavailable,
)
from providers.email.mime import mailbox
from providers.email.smtp import Config, Smtp, server_url
from tests.providers.email.certificates import DAY, Authority
from tests.providers.fakes import SmtpFake
from tests.providers.messages import message

SOON = timedelta(seconds=30)
HERE = "127.0.0.1"
PASSWORD = "p@ss/word"
LOGIN = "shop:p%40ss%2Fword@"
SCHEMES = {"starttls": "smtp://{}{}:{}?starttls=1", "implicit": "smtps://{}{}:{}"}


# aiosmtpd does not see that a transport was encrypted from the first byte.
pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")


class Logins:
    """aiosmtpd's authenticator; keeps who tried."""

    def __init__(self) -> None:
        self.tried: list[bytes] = []

    def __call__(
        self,
        server: SMTP,
        session: SmtpSession,
        envelope: Envelope,
        mechanism: str,
        data: LoginPassword,
    ) -> AuthResult:
        del server, session, envelope, mechanism
        self.tried.append(data.login)
        return AuthResult(success=data.password == PASSWORD.encode(), handled=False)


class Server:
    """A mail server that wants a login, and encryption of one kind."""

    def __init__(self, kind: str, tls: ssl.SSLContext) -> None:
        self.kind = kind
        self.logins = Logins()
        options: dict[str, Any] = {"authenticator": self.logins, "auth_required": True}
        if kind == "starttls":
            self.fake = SmtpFake(tls_context=tls, require_starttls=True, **options)
        else:
            self.fake = SmtpFake(tls=tls, auth_require_tls=False, **options)

    def url(self, *, login: str = LOGIN, host: str = HERE) -> str:
        return SCHEMES[self.kind].format(login, host, self.fake.port)

    def close(self) -> None:
        self.fake.close()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(params=SCHEMES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(kind: str, authority: Authority) -> Iterator[Server]:
    with closing(Server(kind, authority.server_context(HERE))) as it:
        yield it


def adapter(url: str, *, trusts: Authority | None) -> Smtp:
    config = Config(url=server_url(url), from_=mailbox("Shop <no-reply@shop.example>"))
    return Smtp(config, ssl_context=trusts.client_context() if trusts else None)


def outcome(url: str, *, trusts: Authority | None) -> Outcome:
    with closing(adapter(url, trusts=trusts)) as smtp:
        (result,) = smtp.send([message("maria@mailbox.example")], deadline=SOON)
    return result.outcome


def finding(url: str, *, trusts: Authority | None) -> Finding:
    with closing(adapter(url, trusts=trusts)) as smtp:
        (found,) = smtp.check(deadline=SOON)
    assert PASSWORD not in repr(found)
    return found


def test_a_refused_login_does_not_show_the_mailbox_that_logs_in(authority: Authority) -> None:
    def refuse(_server: object, _session: object, _envelope: object, *login: object) -> AuthResult:
        del login
        text = "535 5.7.8 authentication failed for no-reply@shop.example"
        return AuthResult(success=False, handled=False, message=text)

    fake = SmtpFake(
        tls=authority.server_context(HERE), authenticator=refuse, auth_require_tls=False
    )
    with closing(fake):
        url = f"smtps://no-reply%40shop.example:guess@{HERE}:{fake.port}"
        refused = f"{finding(url, trusts=authority)} {outcome(url, trusts=authority)}"
    assert "authentication failed for [address]" in refused
    assert "no-reply" not in refused


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_adapter_keeps_the_contract_encrypted(
    check: Callable[[Subject], None], server: Server, authority: Authority
) -> None:
    with closing(adapter(server.url(), trusts=authority)) as provider:
        check(
            Subject(
                provider=provider,
                server=server.fake,
                channel=Channel.EMAIL,
                address="maria@mailbox.example",
                secrets=[PASSWORD],
            )
        )


def test_a_login_happens_once_a_connection(server: Server, authority: Authority) -> None:
    with closing(adapter(server.url(), trusts=authority)) as smtp:
        for _ in range(3):
            (result,) = smtp.send([message("maria@mailbox.example")], deadline=SOON)
            assert isinstance(result.outcome, Accepted)
    assert server.logins.tried == [b"shop"]
    assert len(server.fake.contents) == 3


def test_a_wrong_password_is_our_mistake(server: Server, authority: Authority) -> None:
    refused = outcome(server.url(login="shop:guess@"), trusts=authority)
    assert isinstance(refused, Misconfigured)
    assert refused.code == "535 5.7.8"
    assert not server.fake.senders


def test_a_missing_login_is_our_mistake(server: Server, authority: Authority) -> None:
    refused = outcome(server.url(login=""), trusts=authority)
    assert isinstance(refused, Misconfigured)
    assert refused.code.startswith("530")
    assert not server.fake.senders


@pytest.fixture(params=["another_host", "expired", "not_yet", "self_signed", "unknown_authority"])
def impostor(
    request: pytest.FixtureRequest, kind: str, authority: Authority, tmp_path: Path
) -> Iterator[Server]:
    """A server without a valid certificate for the configured host."""
    match request.param:
        case "another_host":
            context = authority.server_context("mail.example", "127.0.0.2")
        case "expired":
            context = authority.server_context(HERE, starts_in=-4 * DAY)
        case "not_yet":
            context = authority.server_context(HERE, starts_in=DAY)
        case "self_signed":
            context = authority.server_context(HERE, self_signed=True)
        case _:
            context = Authority(tmp_path).server_context(HERE)
    with closing(Server(kind, context)) as it:
        yield it


def test_a_certificate_that_does_not_hold_stops_everything(
    impostor: Server, authority: Authority
) -> None:
    assert outcome(impostor.url(), trusts=authority) == Unavailable(code="tls")
    found = finding(impostor.url(), trusts=authority)
    assert not found.is_good
    assert found.detail == "SSLCertVerificationError"
    assert not impostor.logins.tried
    assert not impostor.fake.senders


def test_certificates_are_verified_unless_told_whom_to_trust(server: Server) -> None:
    assert outcome(server.url(), trusts=None) == Unavailable(code="tls")


def test_no_login_and_no_mail_leaves_in_the_clear(authority: Authority) -> None:
    logins = Logins()
    with closing(SmtpFake(authenticator=logins)) as plain:  # offers no STARTTLS
        url = SCHEMES["starttls"].format(LOGIN, HERE, plain.port)
        assert isinstance(outcome(url, trusts=authority), Misconfigured)
        assert not finding(url, trusts=authority).is_good
    assert not logins.tried
    assert not plain.senders


def test_a_server_that_does_not_speak_tls_is_unavailable(authority: Authority) -> None:
    with closing(SmtpFake()) as plain:
        url = SCHEMES["implicit"].format("", HERE, plain.port)
        assert outcome(url, trusts=authority) == Unavailable(code="tls")
    assert not plain.senders


def test_a_check_tells_a_server_that_lets_us_in(server: Server, authority: Authority) -> None:
    found = finding(server.url(), trusts=authority)
    assert found == Finding(
        subject=f"127.0.0.1:{server.fake.port}", is_good=True, detail="signed in"
    )
    assert server.logins.tried == [b"shop"]
    assert not server.fake.senders


@pytest.mark.parametrize(
    ("password", "is_good"), [("w\u00f6rd", True), ("w\u00f6rt", False)], ids=["right", "wrong"]
)
def test_a_password_may_have_characters_beyond_ascii(
    password: str, authority: Authority, *, is_good: bool
) -> None:
    def sign_in(*call: object) -> AuthResult:
        [given] = [each for each in call if isinstance(each, LoginPassword)]
        right = LoginPassword(b"shop", "w\u00f6rd".encode())
        return AuthResult(success=given == right, handled=False)

    tls = authority.server_context(HERE)
    with closing(SmtpFake(tls=tls, authenticator=sign_in, auth_require_tls=False)) as fake:
        url = f"smtps://shop:{quote(password)}@{HERE}:{fake.port}"
        found = finding(url, trusts=authority)
    assert found.is_good is is_good
    assert is_good or "535" in found.detail


def test_a_check_tells_a_refused_login(server: Server, authority: Authority) -> None:
    found = finding(server.url(login="shop:guess@"), trusts=authority)
    assert not found.is_good
    assert "535" in found.detail


def test_a_check_tells_that_nobody_listens(server: Server, authority: Authority) -> None:
    server.fake.stop()
    found = finding(server.url(), trusts=authority)
    assert not found.is_good
    assert found.detail == "ConnectionRefusedError"


def test_a_refused_recipient_is_refused_encrypted_too(server: Server, authority: Authority) -> None:
    server.fake.act(conformance.Act.REJECT)
    refused = outcome(server.url(), trusts=authority)
    assert isinstance(refused, Rejected)
