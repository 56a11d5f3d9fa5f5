"""Links, images and actions of in-app messages: allowed URLs, structure and the stored form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules import in_app
from notifications.core.rules.in_app import Action, InAppPart

SCHEMES = frozenset({"myapp"})
PARTS = st.builds(
    InAppPart,
    url=st.text(max_size=20),
    image_url=st.text(max_size=20),
    actions=st.lists(
        st.builds(Action, st.text(max_size=5), st.text(max_size=5), st.text(max_size=5)),
        max_size=4,
    ).map(tuple),
)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/",
        "/orders/1?x=1#top",
        "https://shop.example/@maria?to=a@b.example",
        "https://shop.example/ø?q=a%20b",
        "HTTPS://shop.example",
        "myapp:orders/1",
        "MyApp://orders",
    ],
)
def test_https_paths_and_the_schemes_of_apps_are_allowed(url: str) -> None:
    assert not in_app.url_fault(url, SCHEMES)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\tscript:alert(1)",
        "\x01javascript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "http://shop.example/",
        "//evil.example/x",
        "/\\evil.example",
        "\\\\evil.example",
        "https:/shop.example",
        "https:///x",
        "https:shop.example",
        "orders/1",
        "other:orders",
        "myapp:",
        "https://shop.example/a b",
        "https://shop.example@evil.example/x",
        "HTTPS://a:b@evil.example",
        "https://elpmaxe.\u202egpj.example/",
        "https://shop\u200b.example/",
        "https://shop.example/" + "x" * in_app.MAX_URL,
    ],
)
def test_no_other_url_reaches_an_inbox(url: str) -> None:
    assert in_app.url_fault(url, SCHEMES)


def test_no_setting_allows_a_scheme_that_a_browser_runs() -> None:
    assert in_app.url_fault("javascript:alert(1)", {"javascript"})


def test_an_image_has_no_scheme_of_an_app() -> None:
    part = InAppPart(url="myapp:x", image_url="myapp:x", actions=(Action("a", "A", "x:y"),))
    assert [place for place, _ in in_app.url_faults(part, SCHEMES)] == [
        ("actions", 0, "url"),
        ("image_url",),
    ]


def test_each_fault_of_the_structure_has_its_place() -> None:
    actions = (Action("yes", "Yes"), Action("yes", " "), Action("no!", "No"), Action("d", "D"))
    assert [place for place, _ in in_app.structure_faults(InAppPart(actions=actions))] == [
        ("actions",),
        ("actions", 1, "id"),
        ("actions", 1, "label"),
        ("actions", 2, "id"),
    ]


@given(PARTS.map(in_app.normalize))
def test_a_stored_part_is_read_again(part: InAppPart) -> None:
    assert in_app.read(in_app.written(part)) == part
    assert in_app.normalize(part) == part


@pytest.mark.parametrize("stored", [None, [], 1, {"actions": 1}, {"url": 1, "actions": [1, None]}])
def test_a_malformed_part_of_another_release_is_empty(stored: object) -> None:
    assert in_app.read(stored) == in_app.EMPTY


def test_a_long_text_is_cut_with_an_ellipsis() -> None:
    title, body = in_app.fit("t" * 201, "b" * 4_000)
    assert title == "t" * 199 + "…"
    assert body == "b" * 4_000


@pytest.mark.parametrize("unit", ["👨‍👩‍👧‍👦", "🇩🇪", "e\u0301", "क्षि", "\U0001f44b\U0001f3fd"])
def test_a_long_text_is_cut_between_the_characters_that_a_person_sees(unit: str) -> None:
    for offset in range(len(unit)):
        title, body = in_app.fit("t" * offset + unit * 200, "b" * offset + unit * 4_000)
        for shown, limit in ((title, 200), (body, 4_000)):
            kept = shown.removesuffix("…")[offset:]
            assert kept == unit * (len(kept) // len(unit))
            assert limit - len(unit) < len(shown) <= limit
