"""Which mailboxes are taken: the same at the door and at every adapter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.mailboxes import MalformedAddress, check


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("maria@example.com", "maria@example.com"),
        ("Maria.K+news@Example.COM", "Maria.K+news@example.com"),
        ("o'hara{x}@x-y.example", "o'hara{x}@x-y.example"),
        ("maria@localhost", "maria@localhost"),
        # RFC 5891: these four are other domains than IDNA 2003 makes of them
        ("maria@faß.de", "maria@xn--fa-hia.de"),
        ("maria@βόλος.com", "maria@xn--nxasmm1c.com"),
        ("maria@نامه\u200c\u0627ی.com", "maria@xn--mgba3gch31f060k.com"),
        ("maria@ශ්\u200dරී.com", "maria@xn--10cl1a0b660p.com"),
        ("maria@BÜCHER.example", "maria@xn--bcher-kva.example"),
        ("a" * 64 + "@example.com", "a" * 64 + "@example.com"),
    ],
)
def test_a_mailbox_has_its_domain_in_ascii(text: str, expected: str) -> None:
    assert check(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "maria", "@example.com", "maria@", "maria@x..example", "maria@.example"),
        *("maria@example.", "maria@-x.example", "maria@x-.example", "maria@a_b.example"),
        *(".a@example.com", "a.@example.com", "a..b@example.com", "andré@example.com"),
        *('"a b"@example.com', "a b@example.com", "a@b@example.com", "a@[127.0.0.1]"),
        *("a" * 65 + "@example.com", "a@" + "b" * 64 + ".example", "a@" + "b." * 127 + "example"),
        *(
            "a@x.example\n",
            "a@x.example\r\nBcc: e@evil.example",
            "a@b c.example",
            "a@\ud83c.example",
        ),
        *("a@☃\u2028.example", "a@" + "ß" * 300, "<a@x.example>", "a@x.example>"),
    ],
)
def test_anything_else_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(MalformedAddress) as refused:
        check(text)
    assert "@" not in text or text not in str(refused.value)


@given(st.text(max_size=300))
def test_what_is_taken_is_safe_in_an_envelope(text: str) -> None:
    try:
        taken = check(text)
    except MalformedAddress:
        return
    assert taken.isascii()
    assert taken.isprintable()
    assert not set(taken) & set(' <>()[],;:\\"')
    assert check(taken) == taken
