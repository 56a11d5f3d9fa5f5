"""A staging environment reaches the permitted addresses alone."""

from __future__ import annotations

import pytest

from notifications.core.rules.allowed import AllowList

LIST = AllowList.of(["u_1", "Maria@Example.com", "@shop.example", "+4930", "device-token-1"])


@pytest.mark.parametrize(
    ("user_id", "address"),
    [
        ("u_1", "anything"),
        ("u_2", "maria@example.com"),
        ("u_2", "MARIA@EXAMPLE.COM"),
        ("u_2", "anybody@Shop.Example"),
        ("u_2", "+493012345678"),
        ("u_2", "whatsapp:+493012345678"),
        ("u_2", "device-token-1"),
    ],
)
def test_who_is_on_the_list_is_reached(user_id: str, address: str) -> None:
    assert LIST.allows(user_id=user_id, address=address)


@pytest.mark.parametrize(
    ("user_id", "address"),
    [
        ("u_12", "anything"),
        ("U_1", "anything"),
        ("u_2", "ana.maria@example.com"),
        ("u_2", "maria@example.com.evil.example"),
        ("u_2", "anybody@sub.shop.example"),
        ("u_2", "anybody@notshop.example"),
        ("u_2", "+4989123456"),
        ("u_2", "whatsapp:+4989123456"),
        ("u_2", "Device-Token-1"),
    ],
)
def test_nobody_else_is(user_id: str, address: str) -> None:
    assert not LIST.allows(user_id=user_id, address=address)


def test_without_domains_and_numbers_only_what_is_written_counts() -> None:
    assert not AllowList.of(["u_1"]).allows(user_id="u_2", address="+4930")


@pytest.mark.parametrize(
    "wrong", ["+", "+0", "+49-30", "+4930*", "@", "@shop example", "@.example"]
)
def test_an_entry_that_would_allow_by_accident_is_refused_and_not_repeated(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"^entry 2 is an invalid ") as refused:
        AllowList.of(["u_1", wrong])
    assert f"{wrong} " not in str(refused.value)
