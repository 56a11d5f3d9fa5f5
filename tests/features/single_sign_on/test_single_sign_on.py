"""Single sign-on: against a real identity provider, and against one that lies."""

from __future__ import annotations

import dataclasses
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from io import StringIO
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice
from pytest_django import Settings

from notifications.core import conf
from notifications.core.models import AuditEntry, ExternalIdentity, SignIn
from notifications.core.rules.single_sign_on import SecondFactorBy
from notifications.features.single_sign_on import metadata
from tests.features.single_sign_on.identity_provider import (
    LyingProvider,
    consent,
    lying_provider,
    options,
    real_provider,
    set_person,
)

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

START, CALLBACK = "/admin/single-sign-on/", "/admin/single-sign-on/callback/"
BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "notifications.features.single_sign_on.backend.SingleSignOn",
]

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def real() -> Iterator[str]:
    with real_provider() as issuer:
        yield issuer


@pytest.fixture
def issuer(real: str, settings: Settings) -> str:
    metadata.forget()
    settings.SINGLE_SIGN_ON = options(real)
    settings.AUTHENTICATION_BACKENDS = BACKENDS
    return real


@pytest.fixture
def liar(settings: Settings) -> Iterator[LyingProvider]:
    metadata.forget()
    with lying_provider() as provider:
        settings.SINGLE_SIGN_ON = options(provider.issuer)
        settings.AUTHENTICATION_BACKENDS = BACKENDS
        yield provider


def sign_in(client: Client, subject: str) -> Reply:
    """Go to the real provider and come back; returns the page after the callback."""
    went = client.get(START)
    back = urlsplit(consent(went.headers["Location"], subject))
    return client.get(f"{back.path}?{back.query}", follow=True)


def come_back(client: Client, liar: LyingProvider, **query: str) -> Reply:
    """Start, let the liar sign a token with the right nonce, and come back."""
    sent = parse_qs(urlsplit(client.get(START).headers["Location"]).query)
    liar.nonce = liar.nonce or sent["nonce"][0]
    return client.get(CALLBACK, {"code": "c", "state": sent["state"][0], **query}, follow=True)


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def roles(user: User) -> set[str]:
    return set(user.groups.values_list("name", flat=True))


def test_the_first_sign_in_makes_an_account_with_the_role_of_the_group(issuer: str) -> None:
    set_person(issuer, "maria", email="Maria@example.com", groups=["oncall", "football"])
    client = Client()
    reply = sign_in(client, "maria")
    assert reply.status_code == 200
    user = User.objects.get(username="maria@example.com")
    assert roles(user) == {"role: operator"}
    assert (user.is_staff, user.is_superuser, user.has_usable_password()) == (True, False, False)
    assert ExternalIdentity.objects.get().subject == "maria"
    assert SignIn.objects.get().user == user
    made = AuditEntry.objects.filter(by="single sign-on").values_list("operation", flat=True)
    assert set(made) == {"add_user", "sync_roles"}


def test_the_session_key_changes_at_the_sign_in(issuer: str) -> None:
    set_person(issuer, "kim", email="kim@example.com", groups=["oncall"])
    client = Client()
    client.get(START)
    before = client.session.session_key
    sign_in(client, "kim")
    assert is_signed_in(client)
    assert client.session.session_key != before


def test_roles_follow_the_groups_and_the_last_group_takes_access(issuer: str) -> None:
    set_person(issuer, "rosa", email="rosa@example.com", groups=["oncall"])
    client = Client()
    sign_in(client, "rosa")
    user = User.objects.get(username="rosa@example.com")
    user.groups.add(Group.objects.create(name="reviewers"))
    set_person(issuer, "rosa", email="rosa@example.com", groups=["writers"])
    sign_in(Client(), "rosa")
    assert roles(user) == {"role: editor", "reviewers"}
    set_person(issuer, "rosa", email="rosa@example.com", groups=[])
    late = Client()
    reply = sign_in(late, "rosa")
    assert "None of your groups" in reply.content.decode()
    assert not is_signed_in(late)
    assert roles(user) == {"reviewers"}
    assert client.get("/admin/").status_code == 302  # the open sessions are ended, too


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"groups": ["football"]}, "None of your groups"),
        ({"email_verified": False}, "not verified"),
        ({"email_verified": "true"}, "not verified"),
        ({"email": ""}, "no e-mail address"),
        ({"email": "anna@elsewhere.example"}, "may not sign in here"),
    ],
)
def test_who_may_not_sign_in_is_told_why(
    liar: LyingProvider, settings: Settings, claims: dict[str, object], said: str
) -> None:
    settings.SINGLE_SIGN_ON = options(liar.issuer, domains=("example.com",))
    liar.claims = claims
    client = Client()
    reply = come_back(client, liar)
    assert said in reply.content.decode()
    assert not is_signed_in(client)
    assert not User.objects.exists()
    assert AuditEntry.objects.get().operation == "refuse_sign_in"


def test_a_local_owner_with_the_same_address_is_not_taken_over(
    liar: LyingProvider, operator: User
) -> None:
    User.objects.filter(pk=operator.pk).update(email="ANNA@example.com")
    client = Client()
    reply = come_back(client, liar)
    assert "A local account has your e-mail address" in reply.content.decode()
    assert not is_signed_in(client)
    assert not ExternalIdentity.objects.exists()


def test_an_owner_links_a_local_account_deliberately(liar: LyingProvider, operator: User) -> None:
    User.objects.filter(pk=operator.pk).update(email="anna@example.com")
    out = StringIO()
    call_command("link_identity", "operator", "anna", issuer=liar.issuer, stdout=out)
    client = Client()
    come_back(client, liar)
    assert client.session["_auth_user_id"] == str(operator.pk)
    other = User.objects.create_user("other")
    with pytest.raises(CommandError, match="belongs to the account operator"):
        call_command("link_identity", other.username, "anna", issuer=liar.issuer)
    with pytest.raises(CommandError, match="no account nobody"):
        call_command("link_identity", "nobody", "anna", issuer=liar.issuer)


def test_an_account_that_is_switched_off_stays_out(liar: LyingProvider) -> None:
    come_back(Client(), liar)
    User.objects.update(is_active=False)
    client = Client()
    liar.nonce = ""
    assert "switched off" in come_back(client, liar).content.decode()
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"iss": "https://evil.example"},
        {"aud": "another client"},
        {"aud": ["notify", "another client"]},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
    ],
)
def test_a_token_with_a_wrong_claim_is_refused(
    liar: LyingProvider, claims: dict[str, object]
) -> None:
    liar.claims = claims
    client = Client()
    assert "could not be verified" in come_back(client, liar).content.decode()
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    "key",
    ["none", "a secret of the tests, long enough for HS256", rsa.generate_private_key(65537, 2048)],
)
def test_a_token_with_another_signature_is_refused(
    liar: LyingProvider, key: rsa.RSAPrivateKey | str
) -> None:
    liar.signs_with = key
    client = Client()
    assert "could not be verified" in come_back(client, liar).content.decode()
    assert not is_signed_in(client)


def test_the_user_info_of_another_subject_is_refused(liar: LyingProvider) -> None:
    liar.user_info = {"sub": "somebody", "groups": ["oncall"]}
    client = Client()
    come_back(client, liar)
    assert not is_signed_in(client)


def test_a_state_of_another_browser_is_refused(liar: LyingProvider) -> None:
    attacker, victim = Client(), Client()
    state = parse_qs(urlsplit(attacker.get(START).headers["Location"]).query)["state"][0]
    for start in (False, True):
        if start:
            victim.get(START)
        victim.get(CALLBACK, {"code": "c", "state": state})
        assert not is_signed_in(victim)
    assert liar.token_requests == []


def test_a_state_works_once(liar: LyingProvider) -> None:
    client = Client()
    sent = parse_qs(urlsplit(client.get(START).headers["Location"]).query)
    liar.nonce = sent["nonce"][0]
    query = {"code": "c", "state": sent["state"][0]}
    client.get(CALLBACK, query)
    client.post("/admin/logout/")
    client.get(CALLBACK, query)
    assert not is_signed_in(client)


def test_the_password_form_does_not_accept_a_code(liar: LyingProvider) -> None:
    liar.claims = {"nonce": None}
    client = Client()
    form = {"username": "anna", "password": "x"}
    client.post("/admin/login/?code=c&state=s", form)
    assert not is_signed_in(client)
    assert liar.token_requests == []


def test_the_code_is_exchanged_with_the_verifier_of_its_challenge(liar: LyingProvider) -> None:
    client = Client()
    sent = parse_qs(urlsplit(client.get(START).headers["Location"]).query)
    liar.nonce = sent["nonce"][0]
    client.get(CALLBACK, {"code": "c", "state": sent["state"][0]})
    [exchange] = liar.token_requests
    hashed = urlsafe_b64encode(sha256(exchange["code_verifier"].encode()).digest())
    assert sent["code_challenge_method"] == ["S256"]
    assert sent["code_challenge"] == [hashed.rstrip(b"=").decode()]


@pytest.mark.parametrize(
    "discovery",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://169.254.169.254/latest"},
        {"jwks_uri": None},
    ],
)
def test_a_wrong_discovery_document_causes_no_further_call(
    liar: LyingProvider, discovery: dict[str, object]
) -> None:
    liar.discovery = discovery
    reply = Client().get(START, follow=True)
    assert "gives no usable answer" in reply.content.decode()
    assert liar.token_requests == []


def test_a_provider_that_is_away_leaves_the_password(settings: Settings, operator: User) -> None:
    metadata.forget()
    settings.SINGLE_SIGN_ON = options("http://127.0.0.1:9")
    settings.AUTHENTICATION_BACKENDS = BACKENDS
    client = Client()
    assert "gives no usable answer" in client.get(START, follow=True).content.decode()
    assert client.login(username=operator.username, password="a-long-password")


def test_passwords_can_be_switched_off(
    liar: LyingProvider, settings: Settings, operator: User
) -> None:
    del liar
    settings.PASSWORD_SIGN_IN = False
    client = Client()
    page = client.get("/admin/login/?next=/admin/auth/user/").content.decode()
    assert "Sign in with Example ID" in page
    assert "next=%2Fadmin%2Fauth%2Fuser%2F" in page
    assert 'name="password"' not in page
    form = {"username": operator.username, "password": "a-long-password"}
    assert "switched off here" in client.post("/admin/login/", form).content.decode()
    assert not is_signed_in(client)


def test_the_sign_in_returns_to_the_page_and_to_no_other_site(liar: LyingProvider) -> None:
    for wanted, there in (
        ("/admin/auth/user/", "/admin/auth/user/"),
        ("https://evil.example/", "/admin/"),
    ):
        client = Client()
        sent = parse_qs(urlsplit(client.get(START, {"next": wanted}).headers["Location"]).query)
        liar.nonce = sent["nonce"][0]
        reply = client.get(CALLBACK, {"code": "c", "state": sent["state"][0]})
        assert reply.headers["Location"] == there


def test_the_second_factor_is_the_providers_or_ours(
    liar: LyingProvider, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    required = dataclasses.replace(conf.current(), requires_second_factor=True)
    monkeypatch.setattr(conf, "current", lambda: required)
    client = Client()
    assert come_back(client, liar).redirect_chain[-1][0] == "/admin/"
    settings.SINGLE_SIGN_ON = options(liar.issuer, second_factor=SecondFactorBy.SERVICE)
    assert client.get("/admin/").headers["Location"] == "/admin/second-factor/"


def test_an_account_with_a_second_factor_is_asked_for_the_code(
    liar: LyingProvider, settings: Settings
) -> None:
    settings.SINGLE_SIGN_ON = options(liar.issuer, second_factor=SecondFactorBy.SERVICE)
    come_back(Client(), liar)
    device = TOTPDevice.objects.create(user=User.objects.get(), name="app", confirmed=True)
    client = Client()
    liar.nonce = ""
    page = come_back(client, liar).content.decode()
    assert "Enter the code of your second factor" in page
    assert "Take it away" not in page
    assert "Wrong code" in client.post("/admin/second-factor/", {"code": "1"}).content.decode()
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    code = f"{totp(device.bin_key, t0=device.t0, step=device.step):06}"
    assert client.post("/admin/second-factor/", {"code": code}).status_code == 302
    assert client.get("/admin/").status_code == 200


def test_the_sign_out_offers_the_sign_out_of_the_provider(liar: LyingProvider) -> None:
    client = Client()
    come_back(client, liar)
    page = client.post("/admin/logout/").content.decode()
    assert "Sign out of Example ID too" in page
    assert not is_signed_in(client)
    went = client.get("/admin/single-sign-on/end/").headers["Location"]
    assert went.startswith(f"{liar.issuer}/end?client_id=notify&post_logout_redirect_uri=")


def test_without_an_issuer_the_page_has_a_password_form_only() -> None:
    client = Client()
    page = client.get("/admin/login/").content.decode()
    assert 'name="password"' in page
    assert "single-sign-on" not in page
    assert "gives no usable answer" in client.get(START, follow=True).content.decode()
