"""The pages of docs/start show what `check_providers` and `send_one` print.

Each console block runs against a mail server, moto's server or a stand-in of the vendor. A comment
`<!-- when: NAME -->` before a block chooses how the server answers.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from django.core.management import CommandError, call_command

from notifications.core.delivery import routing
from notifyproj import environment
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.supervisor import demo
from notifyproj.devstack.supervisor.programs import Ports
from providers import registry
from providers.conformance import Act
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.transport import Transport
from tests.certificate import make_certificate
from tests.providers.answering import AnsweringFake
from tests.providers.aws.fakes import KEY_ID, REGION, SECRET, AwsFake, SesSpeaker, json_answer
from tests.providers.aws.moto_server import client, moto
from tests.providers.chat import whatsapp_fake as whatsapp
from tests.providers.chat.whatsapp_fake import whatsapp_fake
from tests.providers.email import exim
from tests.providers.email.certificates import Authority
from tests.providers.email.exim import Exim
from tests.providers.push.credentials import account_json, p256_pem
from tests.providers.push.vendors import ApnsFake, ExpoFake, FcmFake, PushFake, apns_error
from tests.providers.sms.twilio_fake import ACCOUNT, NUMBER, TOKEN, twilio_fake

PAGES: Final = Path(__file__).parents[2] / "docs" / "start"
_BLOCK: Final = re.compile(
    r"(?:<!-- when: (?P<when>\w+) -->\n)?"
    r"```console\n\$ manage\.py (?P<command>.+)\n(?P<shown>[^`]*)```"
)
_PLACES: Final = re.compile(
    r"^## Where the settings go\n(.*?)^## Check\n", re.MULTILINE | re.DOTALL
)
_ROUTES: Final = re.compile(r"export NOTIFY_ROUTES='(.*)'")
_VARIABLE: Final = (
    (re.compile(r"in \d+ ms"), "in N ms"),
    (re.compile(r"(?<=Its id: )(?:wamid\.)?[\w-]+"), "ID"),
    (re.compile(r"(?:127\.0\.0\.1|localhost):\d+"), "smtp.example.com:587"),
)
ACTS: Final[Mapping[str, Act]] = {
    "rejected": Act.REJECT,
    "throttled": Act.THROTTLE,
    "unavailable": Act.UNAVAILABLE,
    "wrong_credentials": Act.BAD_CREDENTIALS,
}


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """A server, the settings that lead to it, and the ways in which it can answer."""

    settings: Mapping[str, str]
    answers: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    changed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Settings that differ, by the name in the comment."""


@contextmanager
def _smtp(folder: Path) -> Iterator[Vendor]:
    authority = Authority(folder)
    certificate = authority.server_file("127.0.0.1")
    with ExitStack() as stack:
        # Not pytest's folder: exim runs as another user.
        own = stack.enter_context(TemporaryDirectory(prefix="exim-"))
        server = stack.enter_context(closing(Exim(Path(own), certificate=certificate)))
        server.start()
        url = f"smtp://{{}}127.0.0.1:{server.port}?starttls=1"
        yield Vendor(
            settings={
                "NOTIFY_SMTP_URL": url.format("{}:{}@".format(*exim.LOGIN)),
                "NOTIFY_SMTP_FROM": "Example <notify@example.com>",
                "SSL_CERT_FILE": str(authority.client_file()),
            },
            changed={
                "wrong_password": {"NOTIFY_SMTP_URL": url.format("shop:wrong@")},
                "unknown_certificate": {"SSL_CERT_FILE": ""},
                "stopped": {"NOTIFY_SMTP_URL": "smtp://127.0.0.1:9"},
            },
        )


def _acting(server: PushFake | AnsweringFake) -> Mapping[str, Callable[[], object]]:
    return {"": partial(server.act, Act.ACCEPT)} | {
        name: partial(server.act, act) for name, act in ACTS.items()
    }


@contextmanager
def _fcm(folder: Path) -> Iterator[Vendor]:
    certificate = folder / "localhost.pem"
    with closing(FcmFake(certificate=certificate)) as server:
        yield Vendor(
            settings={
                "NOTIFY_FCM_CREDENTIALS": account_json(server.url + "/token"),
                "NOTIFY_FCM_URL": server.url,
                "SSL_CERT_FILE": str(certificate),
            },
            answers=_acting(server),
        )


class _Apns(ApnsFake):
    """Knows no device whose token is zeros, as `check_providers` asks."""

    def answer(self, act: Act, request: ServerRequest) -> ServerAnswer:
        if act is Act.ACCEPT and set(request.path.rpartition("/")[2]) == {"0"}:
            return apns_error(400, "BadDeviceToken")
        return super().answer(act, request)


@contextmanager
def _apns(folder: Path) -> Iterator[Vendor]:
    certificate = folder / "localhost.pem"
    with closing(_Apns(certificate=certificate)) as server:
        yield Vendor(
            settings={
                "NOTIFY_APNS_KEY": p256_pem(),
                "NOTIFY_APNS_KEY_ID": "ABC123DEFG",
                "NOTIFY_APNS_TEAM_ID": "DEF123GHIJ",
                "NOTIFY_APNS_TOPIC": "com.example.shop",
                "NOTIFY_APNS_URL": server.url,
                "SSL_CERT_FILE": str(certificate),
            },
            answers=_acting(server),
        )


@contextmanager
def _expo(folder: Path) -> Iterator[Vendor]:
    certificate = folder / "localhost.pem"
    with closing(ExpoFake(certificate=certificate)) as server:
        yield Vendor(
            settings={
                "NOTIFY_EXPO_ACCESS_TOKEN": "access-token",
                "NOTIFY_EXPO_URL": server.url,
                "SSL_CERT_FILE": str(certificate),
            },
            answers=_acting(server),
        )


@contextmanager
def _twilio(_folder: Path) -> Iterator[Vendor]:
    with closing(twilio_fake()) as server:
        yield Vendor(
            settings={
                "NOTIFY_TWILIO_ACCOUNT_SID": ACCOUNT,
                "NOTIFY_TWILIO_AUTH_TOKEN": TOKEN,
                "NOTIFY_TWILIO_FROM": NUMBER,
                "NOTIFY_TWILIO_URL": server.origin,
            },
            answers=_acting(server),
        )


@contextmanager
def _whatsapp(_folder: Path) -> Iterator[Vendor]:
    with closing(whatsapp_fake()) as server:
        yield Vendor(
            settings=whatsapp.ENVIRON | {"NOTIFY_WHATSAPP_URL": server.origin},
            answers=_acting(server),
        )


def _answer_account(server: AwsFake, **fields: bool) -> None:
    """Answer GetAccount, which moto's server does not know."""
    server.act(Act.ACCEPT)
    quota = {"Max24HourSend": 50000.0, "MaxSendRate": 14.0, "SentLast24Hours": 12.0}
    server.answer = lambda _request: json_answer({"SendQuota": quota, **fields})


@contextmanager
def _ses(_folder: Path) -> Iterator[Vendor]:
    url = moto()
    with closing(AwsFake(SesSpeaker())) as account:
        client("ses", url).verify_email_identity(EmailAddress="notify@example.com")
        at_account = {"NOTIFY_SES_ENDPOINT": account.url}
        yield Vendor(
            settings={
                "NOTIFY_SES_REGION": REGION,
                "NOTIFY_SES_FROM": "notify@example.com",
                "NOTIFY_SES_ACCESS_KEY_ID": KEY_ID,
                "NOTIFY_SES_SECRET_ACCESS_KEY": SECRET,
                "NOTIFY_SES_ENDPOINT": url,
            },
            answers={
                "account": partial(_answer_account, account, ProductionAccessEnabled=True),
                "new_account": partial(_answer_account, account, ProductionAccessEnabled=False),
                "wrong_credentials": partial(account.act, Act.BAD_CREDENTIALS),
            },
            changed={
                "account": at_account,
                "new_account": at_account,
                "wrong_credentials": at_account,
                "not_verified": {"NOTIFY_SES_FROM": "other@example.org"},
            },
        )


VENDORS: Final = {
    "smtp": _smtp,
    "fcm": _fcm,
    "apns": _apns,
    "expo": _expo,
    "twilio": _twilio,
    "ses": _ses,
    "whatsapp": _whatsapp,
}


def _blocks(page: str) -> list[re.Match[str]]:
    return list(_BLOCK.finditer((PAGES / f"{page}.md").read_text()))


def _printed(command: str) -> str:
    """Run a command as a script would; returns what a terminal shows."""
    name, *arguments = shlex.split(command)
    output = io.StringIO()
    options = ["--yes"] if name == "send_one" and "--yes" not in arguments else []
    try:
        call_command(name, *arguments, *options, stdout=output)
    except CommandError as error:
        output.write(f"CommandError: {error}\n")
    return output.getvalue()


def _normal(text: str) -> list[str]:
    for pattern, name in _VARIABLE:
        text = pattern.sub(name, text)
    return [" ".join(line.split()) for line in text.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Has a certificate: one for all pages, because libcurl keeps the first that it has read."""
    folder = tmp_path_factory.mktemp("first_messages")
    make_certificate(folder / "localhost.pem")
    return folder


@pytest.mark.parametrize("page", VENDORS)
def test_a_page_shows_what_the_commands_print(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page == "smtp" and exim.PROGRAM is None:
        pytest.skip("exim4 is missing: apt-get install exim4-daemon-light")
    blocks = _blocks(page)
    commands = {block["command"].split()[0] for block in blocks}
    assert commands == {"check_providers", "send_one"}
    for name in ("NOTIFY_SANDBOX_URL", "NOTIFY_SANDBOX_SECRET"):
        monkeypatch.delenv(name)
    with ExitStack() as stack:
        vendor = stack.enter_context(VENDORS[page](folder))
        stack.callback(routing.forget)
        # Handles of the process's transport may trust other authorities since an earlier test.
        defaults = registry.build_all.__kwdefaults__
        assert defaults is not None
        monkeypatch.setitem(defaults, "transport", Transport())
        for block in blocks:
            when = block["when"] or ""
            assert when in {"", *vendor.answers, *vendor.changed}, when
            vendor.answers.get(when, vendor.answers.get("", lambda: None))()
            for name, value in {**vendor.settings, **vendor.changed.get(when, {})}.items():
                monkeypatch.setenv(name, value)
            routing.forget()
            assert _normal(_printed(block["command"])) == _normal(block["shown"]), block["command"]


def test_each_page_says_the_same_about_the_place_of_its_settings() -> None:
    texts = [(PAGES / f"{page}.md").read_text() for page in VENDORS]
    found = [_PLACES.findall(text) for text in texts]
    assert {_ROUTES.sub("ROUTES", place) for [place] in found} == {
        _ROUTES.sub("ROUTES", found[0][0])
    }
    assert '=== "Demo"' in found[0][0]
    assert '=== "Compose"' in found[0][0]


@pytest.mark.parametrize("page", VENDORS)
def test_the_demo_starts_with_the_settings_of_a_page(
    page: str, folder: Path, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page == "smtp" and exim.PROGRAM is None:
        pytest.skip("exim4 is missing: apt-get install exim4-daemon-light")
    monkeypatch.setattr(demo, "VAR", tmp_path)
    monkeypatch.delenv("NOTIFY_ROUTES")
    text = (PAGES / f"{page}.md").read_text()
    [routes] = _ROUTES.findall(text)
    usual = demo._settings(stack.urls(), ports=Ports())
    changed = set(routes.split(",")) - set(usual["NOTIFY_ROUTES"].split(","))
    assert {f"NOTIFY_ROUTES='{each}'" for each in changed} == set(
        re.findall(r"^NOTIFY_ROUTES=.*$", text, re.MULTILINE)
    )
    with VENDORS[page](folder) as vendor:
        environment.load({**usual, **vendor.settings, "NOTIFY_ROUTES": routes})
