"""What a digest says of many."""

from __future__ import annotations

from notifications.features.digests import rules
from notifications.features.digests.rules import ITEMS, Told


def _likes(*names: str) -> list[Told]:
    return [Told({"who": name}, is_digest=False) for name in names]


def test_a_digest_counts_all_and_names_the_first() -> None:
    said = rules.variables(_likes(*"abcdefgh"), type_="LIKE")
    assert said == {"count": 8, "items": [{"who": name} for name in "abcde"], "type": "LIKE"}


def test_digests_add_up() -> None:
    earlier = Told(rules.variables(_likes(*"abc"), type_="LIKE"), is_digest=True)
    said = rules.variables([earlier, *_likes("d")], type_="LIKE")
    assert said["count"] == 4
    assert said["items"] == [{"who": name} for name in "abcd"]


def test_what_only_looks_like_a_digest_is_one_message() -> None:
    odd = [
        Told({"count": "many"}, is_digest=True),
        Told({"count": 7, "items": []}, is_digest=False),
    ]
    assert rules.variables(odd, type_="LIKE")["count"] == 2


def test_items_leave_room_for_the_rest() -> None:
    long = [Told({"text": "x" * 15_000}, is_digest=False)] * 5
    said = rules.variables(long, type_="LIKE")
    assert (said["count"], len(said["items"])) == (5, 2)
    assert len(said["items"]) < ITEMS
