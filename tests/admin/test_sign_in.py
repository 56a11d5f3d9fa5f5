"""Signing in: limits, the second factor, and sessions that can be ended."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from notifications.core import conf
from notifications.core.models import AuditEntry, SignIn
from notifications.core.store.postgres import second_factors
from notifications.core.store.redis import state

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

PASSWORD = "a-long-password"
HOME, ATTACKER = "192.0.2.1", "198.51.100.7"
PAGE = "/admin/second-factor/"


@pytest.fixture(autouse=True)
def _no_tries() -> Iterator[None]:
    state.client().flushdb()
    yield
    state.client().flushdb()


@pytest.fixture
def _requires(monkeypatch: pytest.MonkeyPatch) -> None:
    required = dataclasses.replace(conf.current(), requires_second_factor=True)
    monkeypatch.setattr(conf, "current", lambda: required)


def sign_in(
    password: str = PASSWORD, *, name: str = "operator", address: str = HOME, code: str = ""
) -> Reply:
    return enter(Client(REMOTE_ADDR=address), name, password, code)


def enter(client: Client, name: str, password: str = PASSWORD, code: str = "") -> Reply:
    """Send the form as a browser does."""
    form = {"username": name, "password": password, "code": code, "next": "/admin/"}
    return client.post(
        "/admin/login/", urlencode(form), content_type="application/x-www-form-urlencoded"
    )


def said(reply: Reply) -> str:
    return str(reply.context["form"].non_field_errors())


def code_of(device: TOTPDevice) -> str:
    return f"{totp(device.bin_key, t0=device.t0, step=device.step):06}"


def test_wrong_passwords_are_throttled_before_they_are_hashed(
    operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    del operator
    asked: list[str] = []

    def refused(*_given: object, **_more: object) -> None:
        asked.append("a password")

    monkeypatch.setattr(ModelBackend, "authenticate", refused)
    replies = [sign_in("wrong") for _ in range(8)]
    assert "Too many tries. Wait" in said(replies[-1])
    assert len(asked) < 8
    assert "Too many tries" in said(sign_in())


def test_a_strangers_tries_do_not_lock_the_operator_out(operator: User) -> None:
    del operator
    assert sign_in().status_code == 302
    for number in range(40):
        sign_in("wrong", address=f"198.51.100.{number}")
    assert "Too many tries" in said(sign_in(address="203.0.113.9"))
    assert sign_in().status_code == 302


def test_one_address_tries_few_accounts(operator: User) -> None:
    del operator
    replies = [sign_in("wrong", name=f"user{number}", address=ATTACKER) for number in range(35)]
    assert "Too many tries" in said(replies[-1])
    assert sign_in(address=HOME).status_code == 302


def test_without_the_state_redis_an_operator_gets_in(
    operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    del operator

    def away(*_asked: object) -> object:
        raise state.Away

    monkeypatch.setattr(state, "call", away)
    assert sign_in().status_code == 302


def test_a_second_factor_is_set_up_asked_for_and_taken_away(operator: User) -> None:
    client = Client()
    client.force_login(operator)
    assert client.get(PAGE).status_code == 200
    device = TOTPDevice.objects.get(user=operator)
    assert client.post(PAGE, {"code": "000000"}).status_code == 200
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    assert "Your recovery codes" in client.post(PAGE, {"code": code_of(device)}).content.decode()
    assert "second factor" in said(sign_in())
    assert "second factor" in said(sign_in(code="123456"))
    TOTPDevice.objects.update(
        throttling_failure_count=0, throttling_failure_timestamp=None, last_t=-1
    )
    assert sign_in(code=code_of(device)).status_code == 302
    assert sign_in("wrong", code=code_of(device)).status_code == 200
    TOTPDevice.objects.update(last_t=-1)
    assert client.post(PAGE, {"code": code_of(device)}).status_code == 302
    assert not TOTPDevice.objects.filter(confirmed=True).exists()
    operations = set(AuditEntry.objects.values_list("operation", flat=True))
    assert {"add_second_factor", "remove_second_factor"} <= operations
    shown = str(list(AuditEntry.objects.values_list("before", "after")))
    assert device.key not in shown


@pytest.mark.usefixtures("_requires")
def test_where_it_is_required_no_other_page_opens_without_it(operator: User) -> None:
    client = Client()
    client.force_login(operator)
    for path in ("/admin/", "/admin/notifications/producer/"):
        answer = client.get(path)
        assert (answer.status_code, answer["Location"]) == (302, PAGE)
    client.get(PAGE)
    device = TOTPDevice.objects.get(user=operator)
    assert client.post(PAGE, {"code": code_of(device)}).status_code == 200
    assert client.get("/admin/").status_code == 200


def test_sessions_are_listed_and_ended(operator: User, viewer: User) -> None:
    phone, laptop, other = Client(), Client(), Client()
    for client, user in ((phone, operator), (laptop, operator), (other, viewer)):
        assert enter(client, user.username).status_code == 302
    path = "/admin/notifications/signin/"
    assert other.get(path).context["cl"].result_count == 1
    assert laptop.get(path).context["cl"].result_count == 3
    [first] = SignIn.objects.filter(session_key=phone.session.session_key)
    ending = {"action": "end", "_selected_action": [first.pk]}
    assert other.post(path, ending).status_code in {200, 302}
    assert phone.get("/admin/").status_code == 200
    assert laptop.post(path, ending).status_code == 302
    assert phone.get("/admin/").status_code == 302
    assert laptop.get("/admin/").status_code == 200
    first.refresh_from_db()
    assert first.ended_by == "operator"
    assert Session.objects.count() == 2


def test_the_form_sent_twice_in_one_session_is_one_sign_in(operator: User, viewer: User) -> None:
    client = Client()
    for _ in range(2):
        assert enter(client, operator.username).status_code == 302
    assert SignIn.objects.get().session_key == client.session.session_key
    assert client.get("/admin/").status_code == 200
    assert enter(client, viewer.username).status_code == 302
    assert SignIn.objects.latest("pk").user == viewer


def test_a_session_lasts_a_shift() -> None:
    assert settings.SESSION_COOKIE_AGE <= 12 * 60 * 60


def test_a_session_stays_listed_after_its_password_was_changed(operator: User) -> None:
    client = Client()
    enter(client, operator.username)
    changed = {
        "old_password": PASSWORD,
        "new_password1": "q8-Zebra-gate",
        "new_password2": "q8-Zebra-gate",
    }
    assert client.post("/admin/password_change/", changed).status_code == 302
    assert client.get("/admin/").status_code == 200
    assert SignIn.objects.get().session_key == client.session.session_key


def test_an_owner_resets_a_lost_second_factor(door: Client, viewer: User) -> None:
    TOTPDevice.objects.create(user=viewer, confirmed=True, name="lost")
    assert "second factor" in said(sign_in(name="viewer"))
    chosen = {"action": "reset", "_selected_action": [viewer.pk]}
    assert door.post("/admin/auth/user/", chosen).status_code == 302
    assert sign_in(name="viewer").status_code == 302


def _with_codes(user: User) -> tuple[Client, TOTPDevice, list[str]]:
    """Set up a second factor; returns the browser, the app's device and the recovery codes."""
    client = Client()
    client.force_login(user)
    client.get(PAGE)
    device = TOTPDevice.objects.get(user=user)
    codes = client.post(PAGE, {"code": code_of(device)}).context["codes"]
    TOTPDevice.objects.update(last_t=-1)
    return client, device, codes


def test_a_recovery_code_is_shown_once_and_signs_in_once(operator: User) -> None:
    client, device, codes = _with_codes(operator)
    assert len(codes) == len(set(codes)) == 10
    page = client.get(PAGE)
    assert "no-store" in page["Cache-Control"]
    assert "Recovery codes left: 10." in page.content.decode()
    assert not any(code in page.content.decode() for code in codes)
    assert "second factor" in said(sign_in(code="abcdefgh"))
    StaticDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    typed = f" {codes[0][:4].upper()} {codes[0][4:]} "
    assert sign_in(code=typed).status_code == 302
    assert "second factor" in said(sign_in(code=codes[0]))
    assert sign_in(code=code_of(device)).status_code == 302, "the app is not slowed down"
    assert "Recovery codes left: 9." in client.get(PAGE).content.decode()
    entry = AuditEntry.objects.get(operation="use_recovery_code")
    assert (entry.by, entry.before, entry.after) == ("operator", {"codes": 10}, {"codes": 9})
    entries = str(list(AuditEntry.objects.values()))
    assert not any(code in entries for code in codes)


def test_new_recovery_codes_end_the_old_ones(operator: User) -> None:
    client, device, old = _with_codes(operator)
    refused = client.post(PAGE, {"code": "000000", "renew": "1"})
    assert refused.context["codes"] == []
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    new = client.post(PAGE, {"code": code_of(device), "renew": "1"}).context["codes"]
    assert not set(new) & set(old)
    assert "second factor" in said(sign_in(code=old[0]))
    StaticDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    assert sign_in(code=new[0]).status_code == 302
    assert client.get("/admin/").status_code == 200
    assert AuditEntry.objects.filter(operation="make_recovery_codes").count() == 2


def test_a_recovery_code_takes_the_factor_of_a_lost_phone_away(operator: User) -> None:
    client, _, codes = _with_codes(operator)
    assert client.post(PAGE, {"code": codes[3]}).status_code == 302
    assert not StaticDevice.objects.exists()
    assert not TOTPDevice.objects.filter(confirmed=True).exists()
    assert sign_in().status_code == 302


@pytest.mark.django_db(transaction=True)
def test_two_who_send_one_recovery_code_at_once_use_it_once(operator: User) -> None:
    _, _, codes = _with_codes(operator)

    def use(_number: int) -> bool:
        try:
            return second_factors.match(operator, codes[0]) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(use, range(4))) == 1
    assert second_factors.recovery_codes_left(operator) == 9
