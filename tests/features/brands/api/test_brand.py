"""A producer reads, sets and removes its brand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from notifications.core import conf
from notifications.core.models import AuditEntry
from notifications.core.rules import colors
from notifications.core.rules.lane import Mode
from notifications.core.store.cached import brands
from notifications.features.brands import models, rows
from tests.api.conftest import Caller, MakeCaller

WHOLE = {
    "name": "Shop",
    "logo_url": "https://cdn.shop.example/logo.png",
    "color": "#B91C1C",
    "links": [{"label": "Help", "url": "https://shop.example/help"}],
    "reply_to": "Help@SHOP.example",
}


def test_a_brand_is_set_read_and_removed(caller: Caller) -> None:
    before = caller.get("/v1/brand").json()
    assert (before["is_own"], before["name"], before["color"]) == (False, "", "#1d4ed8")
    told = caller.send("PUT", "/v1/brand", WHOLE).json()
    assert told == caller.get("/v1/brand").json()
    assert (told["is_own"], told["color"], told["color_text"]) == (True, "#b91c1c", "#ffffff")
    assert colors.ratio(told["color_on_dark"], "#18191d") >= colors.LEAST_RATIO
    assert told["links"] == WHOLE["links"]
    assert told["reply_to"] == "Help@shop.example"
    again = caller.send("PUT", "/v1/brand", {"name": "Shop 2"}).json()
    assert (again["name"], again["logo_url"], again["links"]) == ("Shop 2", "", [])
    assert models.Brand.objects.count() == 1
    for _ in range(2):
        assert caller.send("DELETE", "/v1/brand").status_code == 204
    assert not models.Brand.objects.exists()
    operations = AuditEntry.objects.order_by("id").values_list("operation", flat=True)
    assert list(operations)[:3] == ["put_brand", "put_brand", "delete_brand"]


def test_a_producer_reads_the_brand_of_the_installation(caller: Caller) -> None:
    models.Brand.objects.create(name="All")
    told = caller.get("/v1/brand").json()
    assert (told["is_own"], told["name"]) == (False, "All")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "/name"),
        ("name", "  ", "must not be empty"),
        ("name", "Shop\u0007", "control characters"),
        ("color", "#ffcc00", "the nearest darker shade with enough contrast is #8f7300"),
        ("color", "red", "six hexadecimal digits"),
        ("font", "papyrus", "/font"),
        ("logo_url", "http://shop.example/logo.png", "https URL"),
        ("logo_url", "https://", "https URL"),
        ("logo_url", "https://a.example:99999/", "https URL"),
        ("logo_url", 'https://a.example/"onload', "quotes"),
        ("logo_url", "https://a.example; script-src *", "https URL"),
        ("logo_url", "https://a.example;script-src/logo.png", "https URL"),
        ("logo_url", "https://a.example,b.example/logo.png", "https URL"),
        ("logo_url", "https://größe.example/logo.png", "host in ASCII"),
        ("logo_url", "https://user@a.example/logo.png", "https URL"),
        ("website_url", "javascript:alert(1)", "https URL"),
        ("links", [{"label": "x", "url": "javascript:alert(1)"}], "link 1 must be an https URL"),
        ("links", [{"label": "a", "url": "https://a.example"}] * 6, "/links"),
        ("links", [{"label": "a\nb", "url": "https://a.example"}], "link 1 must have a label"),
        ("reply_to", "help", "must be a mailbox"),
        ("reply_to", "a@b.example\r\nBcc: c@d.example", "/reply_to"),
        ("sender_address", "news@shop.example", "NOTIFY_MAIL_SENDERS permits no sender"),
        ("sender_name", "Shop\u0000", "/sender_name"),
        ("logo", "https://a.example", "/logo"),
    ],
)
def test_a_wrong_brand_is_refused_with_field_and_remedy(
    caller: Caller, field: str, value: object, said: str
) -> None:
    answer = caller.send("PUT", "/v1/brand", {"name": "Shop", field: value})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert f"/{field}" in answer.content.decode()
    assert not models.Brand.objects.exists()


def test_a_name_with_a_line_end_becomes_one_line(caller: Caller) -> None:
    told = caller.send(
        "PUT", "/v1/brand", {"name": "Shop", "sender_name": "A\r\nBcc: b@c.example"}
    ).json()
    assert told["sender_name"] == "A Bcc: b@c.example"


def test_the_setting_permits_addresses_and_domains(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    senders = frozenset({"@shop.example", "one@other.example"})
    permitted = replace(conf.current(), mail_senders=senders)
    monkeypatch.setattr(conf, "current", lambda: permitted)
    for address in ("News@shop.EXAMPLE", "one@other.example"):
        answer = caller.send("PUT", "/v1/brand", {"name": "Shop", "sender_address": address})
        assert answer.status_code == 200, answer.content
    for address in ("two@other.example", "a@sub.shop.example", "a@evilshop.example"):
        answer = caller.send("PUT", "/v1/brand", {"name": "Shop", "sender_address": address})
        assert "the senders of NOTIFY_MAIL_SENDERS are @shop.example" in answer.content.decode()


def test_a_change_acts_within_two_seconds_without_a_restart(caller: Caller) -> None:
    caller.send("PUT", "/v1/brand", {"name": "Shop"})
    rows.forget()  # as the next second does
    assert brands.of(caller.producer.pk).name == "Shop"


def test_a_test_key_reads_and_does_not_write(make_caller: MakeCaller) -> None:
    tester = make_caller(mode=Mode.TEST)
    assert tester.get("/v1/brand").status_code == 200
    assert tester.send("PUT", "/v1/brand", {"name": "Shop"}).status_code == 403
    reader = make_caller(scopes=["brands:read"])
    assert reader.send("DELETE", "/v1/brand").status_code == 403
    assert (
        make_caller(scopes=["templates:write"]).send("PUT", "/v1/brand", WHOLE).status_code == 403
    )
