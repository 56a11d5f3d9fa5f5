"""The look of the producer's brand on the page of an inbox."""

from __future__ import annotations

from notifications.core.models import Recipient
from notifications.core.rules.brand import Brand
from notifications.features.brands import rows as brands
from tests.api.conftest import Caller, MakeCaller

INBOX = "/v1/inbox/maria"


def test_the_page_has_the_look_of_the_producers_brand(
    caller: Caller, make_caller: MakeCaller, maria: Recipient
) -> None:
    del maria
    before = caller.get(INBOX)
    assert before.json()["brand"] is None
    put = {"name": "Shop", "color": "#b91c1c", "font": "georgia"}
    assert caller.send("PUT", "/v1/brand", put).status_code == 200
    brands.forget()
    answer = caller.send("GET", INBOX, b"", If_None_Match=before.headers["ETag"])
    assert answer.json()["brand"] == {
        "name": "Shop",
        "logo_url": "",
        "logo_alt": "Shop",
        "font": "Georgia, Times New Roman, serif",
        "color": "#b91c1c",
        "color_on_dark": Brand(color="#b91c1c").color_on_dark,
    }
    known = {"If_None_Match": answer.headers["ETag"]}
    assert caller.send("GET", INBOX, b"", **known).status_code == 304
    assert make_caller(name="other").get(INBOX).json()["brand"] is None
    brands.forget()
