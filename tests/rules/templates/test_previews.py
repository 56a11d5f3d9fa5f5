"""The report of a preview about a text."""

from __future__ import annotations

from notifications.core.rules.templates import previews
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel


def test_a_preview_names_the_chat_services_that_cut_a_text() -> None:
    short = TextSource(channel=Channel.CHAT, locale="en", title="Order", body="It is ready")
    assert previews.preview(short, {}).problems == ()
    long = TextSource(channel=Channel.CHAT, locale="en", body="{{ text }}")
    shown = previews.preview(long, {"text": "x" * 4_500})
    (problem,) = shown.problems
    names = (
        "Discord (2,000 characters), Google Chat (4,096 characters), Pushover (1,024 characters),"
        " Telegram (4,096 characters), Threema (3,500 bytes), WeCom (2,048 bytes),"
        " ntfy (4,095 bytes)"
    )
    assert problem == f"The text is cut off at the end by {names}."


def test_a_preview_names_the_services_of_the_routes_alone() -> None:
    long = TextSource(channel=Channel.CHAT, locale="en", body="{{ text }}")
    given = {"text": "x" * 4_500}
    (problem,) = previews.preview(long, given, chat_schemes={"discord", "slack"}).problems
    assert problem == "The text is cut off at the end by Discord (2,000 characters)."
    assert previews.preview(long, given, chat_schemes=()).problems == ()
