"""Each audience expression finds the recipients that an evaluation in Python finds, each once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notifications.core import clock
from notifications.core.models import (
    Audience,
    Contact,
    Delivery,
    Notification,
    Preference,
    Recipient,
    RecipientList,
    RecipientListMember,
    Topic,
    TopicSubscriber,
)
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.core.rules.states import Status
from notifications.features.audiences import snapshots
from notifications.features.audiences.rows import estimates, members, topics
from notifications.features.audiences.rules.parse import parse
from providers.contract import Channel

pytestmark = pytest.mark.django_db

ADULTS: Final = {"attribute": "n", "at_least": 18}
PLANS: Final = ("pro", "free", 7, True, None, "7", "PRO")
"""Values of one attribute with different types; None: the recipient has no such attribute."""
TOPICS: Final[dict[str, Callable[[int], bool]]] = {
    "few": lambda n: n in {3, 40},
    "half": lambda n: n % 2 == 0,
    "none": lambda _n: False,
    "most": lambda n: n != 11,
}
ZONES: Final = ("Europe/Berlin", "", "Asia/Tokyo")
RECEIVED: Final = {5: Status.DELIVERED, 6: Status.FAILED, 7: Status.QUEUED, 8: Status.SUPPRESSED}


@pytest.fixture
def lists(make_delivery: Callable[..., UUID]) -> dict[str, int]:
    """Make sixty recipients with topics, lists and notifications; return the ids of two lists."""
    sent = {n: make_delivery(status) for n, status in RECEIVED.items()}
    Contact.objects.all().delete()
    Recipient.objects.all().delete()
    Recipient.objects.create(mode=Mode.TEST, user_id="u_1", attributes={"plan": "pro", "n": 20})
    Recipient.objects.bulk_create(map(_recipient, range(60)))
    rows = _rows()
    for n, delivery_id in sent.items():
        Delivery.objects.filter(id=delivery_id).update(recipient_id=rows[n].pk)
    for notification, n in zip(Notification.objects.order_by("id"), RECEIVED, strict=True):
        Notification.objects.filter(id=notification.id).update(recipient_id=rows[n].pk)
    Contact.objects.bulk_create(
        Contact(recipient=rows[n], channel=Channel.EMAIL, address=f"{n}@example.com")
        for n in range(0, 60, 3)
    )
    Preference.objects.create(recipient=rows[6], channels_off=[Channel.EMAIL])
    for name, is_in in TOPICS.items():
        topics.subscribe(Topic.objects.create(name=name), [f"u_{n}" for n in range(60) if is_in(n)])
    Audience.objects.create(name="adults", expression=ADULTS)
    return {kind: _fixed_list(kind, rows) for kind in ("upload", "snapshot")}


def _recipient(n: int) -> Recipient:
    plan = PLANS[n % len(PLANS)]
    values = {"n": n, "tags": ["a", "b"][: n % 3], "on": f"2026-11-{n % 28 + 1:02}"}
    return Recipient(
        user_id=f"u_{n}",
        locale=("en", "pt-BR", "pt_PT", "p")[n % 4],
        timezone=ZONES[n % 3],
        attributes=values if plan is None else {**values, "plan": plan},
    )


def _rows() -> list[Recipient]:
    return list(Recipient.objects.filter(mode=Mode.LIVE).order_by("pk"))


def _fixed_list(kind: str, rows: list[Recipient]) -> int:
    now = clock.now()
    made = RecipientList.objects.create(
        kind=ListKind(kind),
        state=ListState.READY,
        members=10,
        created_at=now,
        touched_at=now,
        expires_at=now,
    )
    RecipientListMember.objects.bulk_create(
        RecipientListMember(list_id=made.pk, recipient_id=each.pk) for each in rows[5:15]
    )
    return made.pk


Rule = Callable[[Recipient, Any], bool]
RULES: Final[dict[str, Rule]] = {
    "and": lambda row, parts: all(is_member(row, part) for part in parts),
    "or": lambda row, parts: any(is_member(row, part) for part in parts),
    "not": lambda row, part: not is_member(row, part),
    "topic": lambda row, name: TOPICS[name](_number(row)),
    "audience": lambda row, _name: is_member(row, ADULTS),
    "upload": lambda row, _id: 5 <= _number(row) < 15,
    "snapshot": lambda row, _id: 5 <= _number(row) < 15,
    "user_ids": lambda row, given: row.user_id in given,
    "reachable": lambda row, _channel: _number(row) % 3 == 0 and _number(row) != 6,
    "received": lambda row, what: _number(row) in {5, 7} and what["type"] == "TEST",
    "everyone": lambda _row, _true: True,
}
COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "is": lambda value, wanted: type(value) is type(wanted) and value == wanted,
    "in": lambda value, given: any(type(value) is type(one) and value == one for one in given),
    "at_least": lambda value, wanted: type(value) is int and value >= wanted,
    "at_most": lambda value, wanted: type(value) is int and value <= wanted,
    "before": lambda value, wanted: isinstance(value, str) and value < wanted,
    "after": lambda value, wanted: isinstance(value, str) and value >= wanted,
    "contains": lambda value, wanted: isinstance(value, list) and wanted in value,
}


def is_member(row: Recipient, expression: dict[str, Any]) -> bool:
    """Evaluate an expression for a recipient, straight from the definition."""
    [(name, value), *comparison] = expression.items()
    if name != "attribute":
        return RULES[name](row, value)
    [(operator, wanted)] = comparison
    if value == "locale":
        locale = row.locale.lower().replace("_", "-")
        return locale == wanted.lower() or locale.startswith(f"{wanted.lower()}-")
    if value == "timezone":
        return row.timezone in wanted
    if operator == "exists":
        return (value in row.attributes) is wanted
    return value in row.attributes and COMPARISONS[operator](row.attributes[value], wanted)


def _number(row: Recipient) -> int:
    return int(row.user_id.removeprefix("u_"))


PLAN = st.sampled_from([each for each in PLANS if each is not None])
CONDITIONS: Final = st.one_of(
    st.just({"everyone": True}),
    st.sampled_from([{"topic": name} for name in TOPICS]),
    st.sampled_from([{"upload": 0}, {"snapshot": 0}, {"audience": "adults"}]),
    st.lists(st.integers(0, 70), min_size=1, max_size=3).map(
        lambda each: {"user_ids": [f"u_{n}" for n in each]}
    ),
    PLAN.map(lambda plan: {"attribute": "plan", "is": plan}),
    st.lists(PLAN, min_size=1, max_size=30).map(lambda given: {"attribute": "plan", "in": given}),
    st.tuples(
        st.sampled_from(["n", "plan"]),
        st.sampled_from(["at_least", "at_most"]),
        st.integers(-1, 61) | st.floats(-1, 61),
    ).map(lambda each: {"attribute": each[0], each[1]: each[2]}),
    st.tuples(st.sampled_from(["before", "after"]), st.dates()).map(
        lambda each: {"attribute": "on", each[0]: each[1].isoformat()}
    ),
    st.sampled_from(["a", "b", "c"]).map(lambda tag: {"attribute": "tags", "contains": tag}),
    st.tuples(st.sampled_from(["plan", "n", "x"]), st.booleans()).map(
        lambda each: {"attribute": each[0], "exists": each[1]}
    ),
    st.sampled_from(["pt", "PT-br", "en", "p"]).map(lambda to: {"attribute": "locale", "is": to}),
    st.lists(st.sampled_from(ZONES[::2]), min_size=1).map(
        lambda given: {"attribute": "timezone", "in": given}
    ),
    st.just({"reachable": "email"}),
    st.sampled_from(["TEST", "OTHER"]).map(lambda kind: {"received": {"type": kind}}),
)
EXPRESSIONS: Final = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"and": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"or": parts}),
        inner.map(lambda part: {"not": part}),
    ),
    max_leaves=6,
)


def _with_lists(value: Any, lists: dict[str, int]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_with_lists(each, lists) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: lists[name] if name in lists else _with_lists(each, lists)
        for name, each in value.items()
    }


def _read(value: dict[str, Any], limit: int, **options: Any) -> list[int]:  # noqa: ANN401 - options
    expression = parse(value)
    first, last = members.bounds(expression, mode=Mode.LIVE)
    found: list[int] = []
    after = first - 1
    while True:
        page = members.page(
            expression, mode=Mode.LIVE, after=after, until=last, limit=limit, **options
        )
        found += [each.recipient_id for each in page]
        if len(page) < limit:
            return found
        after = found[-1]


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(drawn=EXPRESSIONS, limit=st.integers(7, 25))
def test_pages_bounds_and_estimate_agree_with_the_definition(
    lists: dict[str, int], drawn: dict[str, Any], limit: int
) -> None:
    value = _with_lists(drawn, lists)
    expected = [row.pk for row in _rows() if is_member(row, value)]
    assert _read(value, limit) == expected
    told = estimates.estimate(parse(value), mode=Mode.LIVE)
    assert (told.count, told.is_exact) == (len(expected), True)
    by_zone = [
        each
        for zone in members.zones(parse(value), mode=Mode.LIVE)
        for each in _read(value, limit, zones=[zone])
    ]
    assert sorted(by_zone) == expected


@pytest.mark.usefixtures("lists")
def test_subscriptions_between_two_pages_repeat_nobody_and_skip_no_subscriber() -> None:
    rows, half = _rows(), parse({"topic": "half"})
    topic = topics.find(mode=Mode.LIVE, name="half")
    assert topic is not None
    first = [
        each.recipient_id
        for each in members.page(half, mode=Mode.LIVE, after=0, until=2**62, limit=10)
    ]
    assert first == [row.pk for row in rows[0:20:2]]
    topics.unsubscribe(topic, ["u_0", "u_20", "u_22"])  # one that was read, and two that were not
    topics.subscribe(topic, ["u_1", "u_33"])
    rest = members.page(half, mode=Mode.LIVE, after=first[-1], until=2**62, limit=100)
    expected = [row.pk for n, row in enumerate(rows) if n == 33 or (n > 22 and n % 2 == 0)]
    assert [each.recipient_id for each in rest] == expected


@pytest.mark.usefixtures("lists")
def test_a_snapshot_keeps_who_matched_at_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "PAGE", 10)
    snapshot = snapshots.begin(parse(ADULTS), mode=Mode.LIVE, name="", by="test")
    assert not snapshots.advance(snapshot)
    rows = _rows()
    Recipient.objects.filter(pk=rows[20].pk).update(attributes={})  # read already
    Recipient.objects.filter(pk=rows[50].pk).update(attributes={})
    late = RecipientList.objects.get(pk=snapshot.pk)
    while not snapshots.advance(snapshot):
        assert snapshots.advance(late) in {True, False}  # a second process at an old cursor
        late.refresh_from_db()
        snapshot.refresh_from_db()
    snapshot.refresh_from_db()
    expected = [row.pk for n, row in enumerate(rows) if n >= 18 and n != 50]
    assert _read({"snapshot": snapshot.pk}, 7) == expected
    assert (snapshot.state, snapshot.members) == (ListState.READY, len(expected))


def test_a_topic_deleted_below_a_reader_ends_the_reading(lists: dict[str, int]) -> None:
    half = parse({"or": [{"topic": "half"}, {"upload": lists["upload"]}]})
    assert members.page(half, mode=Mode.LIVE, after=0, until=2**62, limit=5)
    topic = topics.find(mode=Mode.LIVE, name="half")
    assert topic is not None
    topics.delete(topic)
    with pytest.raises(ValueError, match="unknown topic half"):
        members.page(half, mode=Mode.LIVE, after=0, until=2**62, limit=5)
    assert TopicSubscriber.objects.filter(topic_id=topic.pk).exists()
