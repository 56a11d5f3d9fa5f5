"""The longest message of each service, and what a longer one loses."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from providers.chat.draft import draft
from providers.chat.limits import LIMITS, limits_under, shorten
from providers.chat.services import SERVICES
from providers.contract import Channel
from providers.graphemes import ELLIPSIS
from tests.providers.chat.services_fake import CASES, Case, fields
from tests.providers.messages import message


def test_each_service_has_a_limit() -> None:
    assert LIMITS.keys() == SERVICES.keys()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("text", ["a<&*. ", "日本語", "👨‍👩‍👧‍👦", "@all ](", "e\u0301"])
@pytest.mark.parametrize("title", ["", "Order <1>"])
def test_each_text_fits_after_the_escapes(case: Case, text: str, title: str) -> None:
    service, limit = SERVICES[case.scheme], LIMITS[case.scheme]
    given = message(
        case.address, Channel.CHAT, title=title, body=text * (limit.most // len(text) + 100)
    )
    request = draft(given, service=service, sender="Shop")
    counted = service.counted(fields(case, request.body))
    longest = 16 * len(text)  # what the escapes of one repetition may add
    assert limit.most - longest <= limit.size(counted) <= limit.most
    assert ELLIPSIS in counted


@given(text=st.text(min_size=1), most=st.integers(1, 30))
def test_a_text_is_cut_between_characters_and_as_late_as_possible(text: str, most: int) -> None:
    def fits(part: str) -> bool:
        return len(part) <= most

    short = shorten(text, fits, most=most)
    kept = short.removesuffix(ELLIPSIS)
    assert fits(short)
    assert text.startswith(kept)
    whole = regex.findall(r"\X", text)
    starts = ["".join(whole[:count]) for count in range(len(whole) + 1)]
    assert kept in [each.rstrip() for each in starts]
    longest = max(len(each) for each in starts if fits(each.rstrip() + ELLIPSIS))
    assert kept == text[:longest].rstrip()


def test_a_text_has_no_room_beside_a_title_that_fills_the_message() -> None:
    assert not shorten("text", lambda _: False, most=10)


def test_a_preview_names_the_services_that_show_a_part() -> None:
    assert limits_under("Order", "x" * 1_000) == []
    assert [str(each) for each in limits_under("Order", "x" * 4_090)] == [
        "Discord (2,000 characters)",
        "Google Chat (4,096 characters)",
        "Pushover (1,024 characters)",
        "Telegram (4,096 characters)",
        "Threema (3,500 bytes)",
        "WeCom (2,048 bytes)",
        "ntfy (4,095 bytes)",
    ]
    assert {each.service for each in limits_under("", "x" * 70_000)} == {
        limit.service for limit in LIMITS.values()
    }
