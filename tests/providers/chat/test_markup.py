"""The text that a chat service shows, compared with the text that was given."""

from __future__ import annotations

import html
import importlib
import re
from itertools import product
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import orjson
import pytest
import requests
from apprise import Apprise, AppriseAsset
from hypothesis import given
from hypothesis import strategies as st

from providers.chat.draft import draft
from providers.chat.markup import shown_by_telegram
from providers.chat.services import SERVICES
from providers.contract import Channel
from tests.providers.chat.services_fake import CASES, Case
from tests.providers.messages import message

HOSTILE: Final = (
    "Your code is 123456 <do not share>",
    "<https://a.example/login/abc>",
    "Hello <name>, your order",
    "if a<b and c>d then e & f",
    '<a href="https://evil.example">Your bank</a>',
    "AT&amp;T, &nbsp;x, 100 &euro; &lt;b&gt;",
    "</b></b><b>bold",
    "New comment by @everyone @here @all @channel <!channel> <!here|x>",
    "<@U1> <@all> <users/all> <at>all</at> <@&1234> <!subteam^S1>",
    "[bank.example](https://evil.example) ![x](https://evil.example/y.png)",
    "[bank.example][1] and [1]: https://evil.example",
    "<https://evil.example|bank.example>",
    "*b* _i_ ~s~ `c` ||spoiler|| # h > q - l 1. n",
)
TITLES: Final = ("", "Order <1> & [bank](https://evil.example) @all")


def payload(case: Case, *, title: str, body: str) -> dict[str, Any]:
    given = message(case.address, Channel.CHAT, title=title, body=body)
    request = draft(given, service=SERVICES[case.scheme], sender="Shop")
    found: dict[str, Any] = orjson.loads(request.body)
    return found


def front_door(case: Case, *, title: str, body: str, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the payload that Apprise itself sends for a plain text."""
    found: list[dict[str, Any]] = []

    def keep(*_: object, data: str | bytes, **__: object) -> NoReturn:
        found.append(orjson.loads(data))
        raise requests.ConnectionError

    asset = AppriseAsset(
        app_id="Shop", app_desc="Shop", app_url="", image_url_mask=None, image_url_logo=None
    )
    module_name, _, name = SERVICES[case.scheme].plugin.partition(".")
    module = importlib.import_module(f"apprise.plugins.{module_name}")
    plugin_class = vars(module)[name]
    plugin = plugin_class(**plugin_class.parse_url(case.address) | {"asset": asset})
    ours = vars(module)["requests"]
    patch.setattr(
        module, "requests", SimpleNamespace(**vars(ours) | {"post": keep, "request": keep})
    )
    apprise = Apprise(asset=asset)
    apprise.add(plugin)
    apprise.notify(body=body, title=title, body_format="text")
    return found[0]


def shown(case: Case, given: dict[str, Any]) -> str:
    """Return the text of a payload, as far as the service's escapes are known."""
    match case.scheme:
        case "tgram":
            found = " ".join(shown_by_telegram(given).split())
        case "slack":
            found = "\n".join(given["attachments"][0][name] for name in ("title", "text"))
        case "workflows":
            blocks = given["attachments"][0]["content"]["body"]
            found = "\n".join(each["text"] for each in blocks)
        case "discord":
            found = given["content"]
        case "wxteams":
            found = given["markdown"]
        case _:
            found = given["text"]
    return found


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_text_reads_as_apprise_itself_would_send_the_text(
    monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    for title, body in product(TITLES, HOSTILE):
        ours = payload(case, title=title, body=body)
        with monkeypatch.context() as patch:
            theirs = front_door(case, title=title, body=body, patch=patch)
        assert shown(case, ours) == shown(case, theirs)


@given(
    title=st.text(st.characters(exclude_categories=("Cs", "Cc"))),
    body=st.text(st.characters(exclude_categories=("Cs",))),
)
def test_telegram_shows_each_character_that_was_given(title: str, body: str) -> None:
    title, body = f"<{title}", f"<{body}>"
    sent = payload(CASES["telegram"], title=title, body=body)
    assert sent["parse_mode"] == "HTML"
    assert shown_by_telegram(sent) == f"{title}\n{body}"
    tags = re.findall(r"<[^>]*>", sent["text"])
    assert tags == ["<b>", "</b>"]
    assert html.unescape(sent["text"]) == f"<b>{title}</b>\n{body}"


def test_telegram_keeps_blank_lines_and_indents() -> None:
    sent = payload(CASES["telegram"], title="", body="a\n\n  b\tc")
    assert sent["text"] == "a\n\n  b\tc"
