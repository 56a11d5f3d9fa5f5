"""A process remembers the ids of recipients, and a reader may ask again."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from notifications.core.models import Recipient
from notifications.core.rules.lane import Mode
from notifications.core.store.cached import recipient_ids

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty() -> None:
    recipient_ids.forget()


def _find(user_id: str = "maria", *, renew: bool = False) -> int | None:
    return recipient_ids.find(mode=Mode.LIVE, user_id=user_id, renew=renew)


def test_a_known_recipient_costs_no_query(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    maria = Recipient.objects.create(mode=Mode.LIVE, user_id="maria")
    assert _find() == maria.pk
    with django_assert_num_queries(0):
        assert _find() == maria.pk


def test_an_unknown_recipient_is_found_once_created() -> None:
    assert _find() is None
    Recipient.objects.create(mode=Mode.TEST, user_id="maria")
    assert _find() is None
    maria = Recipient.objects.create(mode=Mode.LIVE, user_id="maria")
    assert _find() == maria.pk


def test_a_recipient_created_again_is_found_with_renew() -> None:
    Recipient.objects.create(mode=Mode.LIVE, user_id="maria")
    first = _find()
    Recipient.objects.all().delete()
    assert _find() == first
    assert _find(renew=True) is None
    again = Recipient.objects.create(mode=Mode.LIVE, user_id="maria")
    assert _find() == again.pk != first


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipient_ids, "MAX_KEPT", 1)
    for name in ("ana", "maria"):
        Recipient.objects.create(mode=Mode.LIVE, user_id=name)
        assert _find(name) is not None
    assert len(recipient_ids._kept) == 1
