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
from providers.chat.markup import ZERO_WIDTH_SPACE, Counted, telegram_text, text_at
from providers.chat.services import SERVICES
from providers.contract import Channel
from tests.providers.chat.services_fake import CASES, Case, fields
from tests.providers.messages import message

HOSTILE: Final = (
    "Your code is 123456 <do not share>",
    "<https://a.example/login/abc>",
    "Hello <name>, your order",
    "if a<b and c>d then e & f",
    '<a href="https://evil.example">Your bank</a>',
    "AT&amp;T, &nbsp;x, 100 &euro; &lt;b&gt;",
    "</b></b><b>bold",
    "@**all** and @*team* of Zulip",
    "New comment by @everyone @here @all @channel <!channel> <!here|x>",
    "<@U1> <@all> <users/all> <at>all</at> <@&1234> <!subteam^S1>",
    "[bank.example](https://evil.example) ![x](https://evil.example/y.png)",
    "[bank.example][1] and [1]: https://evil.example",
    "<https://evil.example|bank.example>",
    "*b* _i_ ~s~ `c` ||spoiler|| # h > q - l 1. n",
    "&#64;channel &commat;here &#x40;all &#X40;everyone",
    "<https://evil.example|https://bank.example>",
    "see <https://a.example/a_b?x=1&y=2> now, or https://a.example/c_d",
    "<https://evil.example|Open your bank: <https://bank.example>",
)
TITLES: Final = ("", "Order <1> & [bank](https://evil.example) @all")


def payload(case: Case, *, title: str, body: str) -> dict[str, Any]:
    given = message(case.address, Channel.CHAT, title=title, body=body)
    request = draft(given, service=SERVICES[case.scheme], sender="Shop")
    return fields(case, request.body)


def front_door(case: Case, *, title: str, body: str, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the payload that Apprise itself sends for a plain text."""
    found: list[dict[str, Any]] = []

    def keep(*_: object, **sent: object) -> NoReturn:
        given: Any = sent.get("data") or sent["params"]
        found.append(_texts(given) if isinstance(given, dict) else orjson.loads(given))
        raise requests.ConnectionError

    asset = AppriseAsset(
        app_id="Shop", app_desc="Shop", app_url="", image_url_mask=None, image_url_logo=None
    )
    module_name, _, name = SERVICES[case.scheme].plugin.rpartition(".")
    module = importlib.import_module(f"apprise.plugins.{module_name}")
    plugin_class = vars(module)[name]
    plugin = plugin_class(**plugin_class.parse_url(case.address) | {"asset": asset})
    ours = vars(module)["requests"]
    patch.setattr(
        module, "requests", SimpleNamespace(**vars(ours) | {"post": keep, "request": keep})
    )
    plugin.request_rate_per_sec = 0
    apprise = Apprise(asset=asset)
    apprise.add(plugin)
    apprise.notify(body=body, title=title, body_format="text")
    return found[0]


def _texts(form: dict[str, Any]) -> dict[str, str]:
    return {
        key: value.decode() if isinstance(value, bytes) else value for key, value in form.items()
    }


def shown(case: Case, given: dict[str, Any]) -> str:
    """Return the text of a payload, as far as the service's escapes are known."""
    read = _SHOWN.get(case.scheme, text_at("text"))
    return read(given).replace(ZERO_WIDTH_SPACE, "").replace("\r\n", "\n")


def _slack(given: dict[str, Any]) -> str:
    return "\n".join(given["attachments"][0][name] for name in ("title", "text"))


def _card(given: dict[str, Any]) -> str:
    blocks = given["attachments"][0]["content"]["body"]
    # Apprise escapes the text of a card, and forgets its title.
    return re.sub(r"\\(.)", r"\1", "\n".join(each["text"] for each in blocks))


def _titled(title: str, text: str) -> Counted:
    def read(given: dict[str, Any]) -> str:
        # Apprise writes the sender's name in place of an empty title.
        return "\n".join([*({given.get(title) or ""} - {"", "Shop"}), given[text]])

    return read


_PUSH: Final = _titled("title", "message")
_SHOWN: Final[dict[str, Counted]] = {
    "tgram": lambda given: " ".join(telegram_text(given).split()),
    "slack": _slack,
    "workflows": _card,
    "discord": lambda given: str(given["content"]).replace("\r", ""),
    "wxteams": text_at("markdown"),
    "mmosts": lambda given: html.unescape(given["text"].replace(ZERO_WIDTH_SPACE, "")),
    "zulip": _titled("topic", "content"),
    "pover": _PUSH,
    "ntfy": _PUSH,
    "ntfys": _PUSH,
    "gotifys": _PUSH,
    "lark": text_at("content", "text"),
    "feishu": text_at("content", "text"),
    "dingtalk": text_at("text", "content"),
    "wecombot": text_at("text", "content"),
    "line": text_at("messages", 0, "text"),
}


WRITTEN_BY_APPRISE: Final = {
    name: case for name, case in CASES.items() if case.scheme not in {"gchat", "nctalks"}
}
"""Google Chat has a test of its own: Apprise's text of an address in angle brackets has a stray
backslash (`<https://a.example\\>`), and `<URL|text>` stays a link that hides its target. Apprise
puts the sender's name before a text without a title for Nextcloud Talk."""


@pytest.mark.parametrize("case", WRITTEN_BY_APPRISE.values(), ids=WRITTEN_BY_APPRISE)
def test_each_text_reads_as_apprise_itself_would_send_the_text(
    monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    for title, body in product(TITLES, HOSTILE):
        ours = payload(case, title=title, body=body)
        with monkeypatch.context() as patch:
            theirs = front_door(case, title=title, body=body, patch=patch)
        assert shown(case, ours) == shown(case, theirs)


@given(
    title=st.text(st.characters(codec="utf-8")),
    body=st.text(st.characters(codec="utf-8")),
)
def test_telegram_shows_each_character_that_was_given(title: str, body: str) -> None:
    title, body = f"<{title}", f"<{body}>"
    sent = payload(CASES["telegram"], title=title, body=body)
    assert sent["parse_mode"] == "HTML"
    assert telegram_text(sent) == f"{title}\n{body}"
    tags = re.findall(r"<[^>]*>", sent["text"])
    assert tags == ["<b>", "</b>"]
    assert html.unescape(sent["text"]) == f"<b>{title}</b>\n{body}"


@given(
    title=st.text(st.characters(codec="utf-8")),
    body=st.text(st.characters(codec="utf-8")),
)
def test_google_chat_reads_no_bracket_and_no_entity_in_a_text(title: str, body: str) -> None:
    title, body = f"<{title}", f"<{body}>&lt;"
    text = payload(CASES["google chat"], title=title, body=body)["text"]
    assert not set(text) & set("<>")
    assert html.unescape(text) == f"*{title}*\n{body}"


def test_google_chat_gets_the_address_of_a_link_as_written() -> None:
    body = "see <https://a.example/a_b?x=1&y=2> now, or https://a.example/c_d"
    sent = payload(CASES["google chat"], title="", body=body)
    assert sent["text"] == (
        "see &lt;https://a.example/a_b?x=1&amp;y=2&gt; now, or https://a.example/c_d"
    )


def test_telegram_keeps_blank_lines_and_indents() -> None:
    sent = payload(CASES["telegram"], title="", body="a\n\n  b\tc")
    assert sent["text"] == "a\n\n  b\tc"


_LINKS: Final = ("](", "]:", "][")
_RINGING: Final = ("@everyone", "@here", "@all", "@channel", "<@U1", "@**all")
_FORBIDDEN: Final[dict[str, tuple[str, ...]]] = {
    "slack": ("<!", "<@", "<https", "<users/all>"),
    "discord": ("](",),
    "mmosts": (*_LINKS, "<!", *_RINGING),
    "rockets": ("](", "<!", *_RINGING),
    "wxteams": ("](", "<!", *_RINGING),
    "workflows": ("](", "</at>"),
    "tgram": ("<a", "<https", "<!"),
    "gchat": ("<", ">"),
    "zulip": (*_LINKS, *_RINGING),
    "nctalks": (*_LINKS, *_RINGING),
    "matrixs": _RINGING,
    "lark": ("<at", "</at"),
    "feishu": ("<at", "</at"),
    "wecombot": ("<@",),
    # A mention is a field of its own, and nothing in a text is read.
    **dict.fromkeys(
        ("dingtalk", "line", "viber", "threema", "pover", "ntfy", "ntfys", "gotifys"), ()
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("place", ["title", "body"])
def test_no_text_rings_a_channel_or_hides_the_target_of_a_link(case: Case, place: str) -> None:
    body, title = (" ".join(HOSTILE), "Order") if place == "body" else ("It", " ".join(HOSTILE))
    sent = payload(case, title=title, body=body)
    if case.scheme == "zulip":
        sent.pop("topic")  # rings no user
    raw = orjson.dumps(sent).decode()
    assert sent.get("allowed_mentions", {"parse": []}) == {"parse": []}
    assert case.scheme != "discord" or "allowed_mentions" in sent
    assert '"entities"' not in raw, "Teams rings those whom a card names in `entities`"
    assert [each for each in _FORBIDDEN[case.scheme] if each in raw] == []
    tags = set(re.findall(r"<[^>]*>", sent.get("html", "")))
    assert tags <= {"<strong>", "</strong>", "<br>"}
    if case.scheme == "mmosts":
        assert _SLACK_LINK_IN_MATTERMOST.search(sent["text"]) is None
        assert not set(_RINGING) & set(html.unescape(sent["text"]).split())


_SLACK_LINK_IN_MATTERMOST: Final = re.compile(r"<([^\n<\|>]+)\|([^\|\n>]+)>")
"""The server's own `linkWithTextRegex`, in app/webhook.go."""


@pytest.mark.parametrize(
    "name", ["mattermost", "rocket.chat", "webex", "zulip", "nextcloud talk", "matrix"]
)
def test_a_mailbox_in_a_text_stays_a_mailbox(name: str) -> None:
    body = "Write to first.last_9@shop-example or ask é@b-c"
    sent = shown_raw(payload(CASES[name], title="", body=body))
    assert "9@shop" in sent
    assert "é@b" in sent


def test_mattermost_shows_character_references_and_angle_brackets_as_written() -> None:
    sent = payload(CASES["mattermost"], title="", body="AT&amp;T &#64;all <https://a|b> R&D <c>")
    assert html.unescape(sent["text"]).replace(ZERO_WIDTH_SPACE, "") == (
        "AT&amp;T &#64;all <https://a|b> R&D <c>"
    )


def shown_raw(given: dict[str, Any]) -> str:
    return next(
        str(given[key]) for key in ("text", "markdown", "content", "message") if key in given
    )


def test_a_notification_of_slack_has_title_and_text() -> None:
    for name in ("slack webhook", "slack bot"):
        (attachment,) = payload(CASES[name], title="A & B", body="<c>")["attachments"]
        assert attachment["fallback"] == "A &amp; B\n&lt;c&gt;"
        (attachment,) = payload(CASES[name], title="", body="x" * 500)["attachments"]
        assert attachment["fallback"] == "x" * 500
        (attachment,) = payload(CASES[name], title="", body="x" * 2_000)["attachments"]
        assert attachment["fallback"] == "x" * 499 + "…"


def test_a_notification_of_slack_ends_between_two_emoji() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    sent = payload(CASES["slack webhook"], title="T", body="a" * 496 + family)
    assert sent["attachments"][0]["fallback"] == "T\n" + "a" * 496 + "…"


def test_a_long_title_of_a_card_is_wrapped() -> None:
    sent = payload(CASES["teams"], title="Order 1 is on its way", body="It is ready")
    title, body = sent["attachments"][0]["content"]["body"]
    assert (title["id"], title["wrap"], body["wrap"]) == ("title", True, True)
    assert title["text"] == "Order 1 is on its way"
