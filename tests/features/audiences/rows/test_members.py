"""Pages and bounds of audiences on real rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from psycopg import sql

from notifications.core import clock
from notifications.core.models import (
    Audience,
    Contact,
    Delivery,
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
from notifications.core.store.postgres import erasure
from notifications.features.audiences.rows import members
from notifications.features.audiences.rows.compiled import AudienceSql, IdRange
from notifications.features.audiences.rows.resolve import resolve
from notifications.features.audiences.rules import canonical
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.audiences.rules.nodes import MAX_SEARCHES
from notifications.features.audiences.rules.parse import parse
from providers.contract import Channel

pytestmark = pytest.mark.django_db

ZONES = ("Europe/Berlin", "America/Sao_Paulo", "")


@pytest.fixture
def people() -> list[Recipient]:
    """Thirty recipients in live mode and one in test mode."""
    rows = [
        Recipient(
            user_id=f"u_{n}",
            locale=("en", "pt-BR", "de")[n % 3],
            timezone=ZONES[n % 3],
            phone_timezone="Asia/Tokyo" if n == 2 else "",
            attributes={
                "plan": ("free", "pro")[n % 2],
                "age": n,
                "vip": n % 5 == 0,
                "tags": ["a", "b"] if n % 3 == 0 else ["b"],
                **({"seen_on": f"2026-11-{n + 1:02}"} if n % 2 else {}),
            },
        )
        for n in range(30)
    ]
    Recipient.objects.bulk_create(rows)
    Recipient.objects.create(mode=Mode.TEST, user_id="u_1", attributes={"plan": "pro"})
    return list(Recipient.objects.filter(mode=Mode.LIVE).order_by("pk"))


def numbers(expression: Any, *, mode: Mode = Mode.LIVE, **options: Any) -> list[int]:  # noqa: ANN401 - JSON and options
    """The numbers of the user ids of an audience, read in pages of four."""
    ids: list[int] = []
    after, until = 0, 2**62
    while found := members.page(
        parse(expression), mode=mode, after=after, until=until, limit=4, **options
    ):
        ids += [each.recipient_id for each in found]
        after = ids[-1]
    assert ids == sorted(set(ids))
    names = dict(Recipient.objects.values_list("pk", "user_id"))
    return [int(names[each].removeprefix("u_")) for each in ids]


CASES: list[tuple[Any, Callable[[int], bool]]] = [
    ({"everyone": True}, lambda _: True),
    ({"user_ids": ["u_3", "u_5", "nobody"]}, lambda n: n in {3, 5}),
    ({"attribute": "plan", "is": "pro"}, lambda n: n % 2 == 1),
    ({"not": {"attribute": "plan", "is": "pro"}}, lambda n: n % 2 == 0),
    ({"attribute": "plan", "in": ["pro", "free"]}, lambda _: True),
    ({"attribute": "age", "in": list(range(0, 60, 2))}, lambda n: n % 2 == 0),
    ({"attribute": "age", "is": 7.0}, lambda n: n == 7),
    ({"attribute": "age", "at_least": 20}, lambda n: n >= 20),
    ({"attribute": "age", "at_most": 3.5}, lambda n: n <= 3),
    ({"attribute": "vip", "is": True}, lambda n: n % 5 == 0),
    ({"attribute": "tags", "contains": "a"}, lambda n: n % 3 == 0),
    ({"attribute": "seen_on", "exists": True}, lambda n: n % 2 == 1),
    ({"attribute": "seen_on", "exists": False}, lambda n: n % 2 == 0),
    ({"attribute": "seen_on", "before": "2026-11-10"}, lambda n: n % 2 == 1 and n < 9),
    ({"attribute": "seen_on", "after": "2026-11-10"}, lambda n: n % 2 == 1 and n >= 9),
    ({"not": {"attribute": "seen_on", "before": "2026-11-10"}}, lambda n: n % 2 == 0 or n >= 9),
    ({"attribute": "plan", "at_least": 1}, lambda _: False),
    ({"attribute": "none", "is": "x"}, lambda _: False),
    ({"attribute": "locale", "is": "pt"}, lambda n: n % 3 == 1),
    ({"attribute": "locale", "in": ["PT_br", "de"]}, lambda n: n % 3 in {1, 2}),
    ({"attribute": "timezone", "is": "Europe/Berlin"}, lambda n: n % 3 == 0),
    ({"attribute": "timezone", "is": "Asia/Tokyo"}, lambda n: n == 2),
    ({"attribute": "created_at", "after": {"days_ago": 1}}, lambda _: True),
    ({"attribute": "created_at", "before": "2026-01-01"}, lambda _: False),
    (
        {"and": [{"attribute": "plan", "is": "pro"}, {"attribute": "age", "at_least": 10}]},
        lambda n: n % 2 == 1 and n >= 10,
    ),
    (
        {"or": [{"user_ids": ["u_0"]}, {"not": {"attribute": "age", "at_most": 27}}]},
        lambda n: n == 0 or n > 27,
    ),
]


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(("expression", "is_member"), CASES)
def test_a_page_has_the_recipients_of_the_expression(
    expression: Any,  # noqa: ANN401 - JSON
    is_member: Callable[[int], bool],
) -> None:
    assert numbers(expression) == [n for n in range(30) if is_member(n)]


def subscribe(name: str, people: list[Recipient]) -> Topic:
    """Make a topic of recipients."""
    topic = Topic.objects.create(name=name)
    TopicSubscriber.objects.bulk_create(
        TopicSubscriber(topic_id=topic.pk, recipient_id=each.pk) for each in people
    )
    return topic


@pytest.mark.parametrize(
    ("expression", "is_member"),
    [
        ({"topic": "low"}, lambda n: n < 12),
        (
            {"and": [{"topic": "low"}, {"attribute": "plan", "is": "pro"}]},
            lambda n: n < 12 and n % 2,
        ),
        ({"and": [{"topic": "low"}, {"topic": "mid"}]}, lambda n: 8 <= n < 12),
        ({"or": [{"topic": "low"}, {"topic": "mid"}]}, lambda n: n < 20),
        (
            {
                "or": [
                    {"topic": "low"},
                    {"and": [{"topic": "mid"}, {"attribute": "vip", "is": True}]},
                ]
            },
            lambda n: n < 12 or n == 15,
        ),
        ({"or": [{"topic": "low"}, {"user_ids": ["u_29"]}]}, lambda n: n < 12 or n == 29),
        ({"and": [{"topic": "low"}, {"user_ids": ["u_29", "u_1"]}]}, lambda n: n == 1),
        ({"and": [{"everyone": True}, {"not": {"topic": "low"}}]}, lambda n: n >= 12),
    ],
)
def test_topics_combine(
    people: list[Recipient],
    expression: Any,  # noqa: ANN401 - JSON
    is_member: Callable[[int], bool],
) -> None:
    subscribe("low", people[:12])
    subscribe("mid", people[8:20])
    assert numbers(expression) == [n for n in range(30) if is_member(n)]


def test_an_upload_gives_its_variables(people: list[Recipient]) -> None:
    upload = RecipientList.objects.create(
        kind=ListKind.UPLOAD,
        state=ListState.READY,
        members=2,
        created_at=clock.now(),
        touched_at=clock.now(),
        expires_at=clock.now(),
    )
    RecipientListMember.objects.create(
        list_id=upload.pk, recipient_id=people[3].pk, variables={"code": "X"}
    )
    RecipientListMember.objects.create(list_id=upload.pk, recipient_id=people[9].pk)
    found = members.page(
        parse({"or": [{"upload": upload.pk}, {"user_ids": ["u_4"]}]}),
        mode=Mode.LIVE,
        after=0,
        until=2**62,
        limit=10,
    )
    assert [(each.recipient_id, each.variables) for each in found] == [
        (people[3].pk, {"code": "X"}),
        (people[4].pk, None),
        (people[9].pk, None),
    ]


def test_a_range_and_timezones_limit_a_page(people: list[Recipient]) -> None:
    found = members.page(
        parse({"everyone": True}), mode=Mode.LIVE, after=people[4].pk, until=people[8].pk, limit=100
    )
    assert [each.recipient_id for each in found] == [each.pk for each in people[5:9]]
    zones = members.zones(parse({"everyone": True}), mode=Mode.LIVE)
    assert zones == ["", "America/Sao_Paulo", "Asia/Tokyo", "Europe/Berlin"]
    by_zone = [set(numbers({"everyone": True}, zones=[zone])) for zone in zones]
    assert sum(map(len, by_zone)) == len(set.union(*by_zone)) == 30


def test_the_modes_are_apart_and_an_erased_recipient_leaves(people: list[Recipient]) -> None:
    subscribe("low", people[:3])
    assert numbers({"everyone": True}, mode=Mode.TEST) == [1]
    assert numbers({"attribute": "plan", "is": "pro"}, mode=Mode.TEST) == [1]
    erasure.begin(mode=Mode.LIVE, user_id="u_1", requested_by="x", by="a key")
    assert numbers({"topic": "low"}) == [0, 2]
    assert 1 not in numbers({"everyone": True})


def test_bounds_hold_the_audience(people: list[Recipient]) -> None:
    subscribe("low", people[5:9])
    subscribe("none", [])

    def bounds(expression: Any) -> tuple[int, int]:  # noqa: ANN401 - JSON
        return members.bounds(parse(expression), mode=Mode.LIVE)

    assert bounds({"topic": "low"}) == (people[5].pk, people[8].pk)
    assert bounds({"topic": "none"}) == members.NO_RECIPIENTS
    first, last = bounds({"attribute": "plan", "is": "pro"})
    assert first <= people[1].pk
    assert last >= people[29].pk


def test_a_saved_audience_is_its_expression(people: list[Recipient]) -> None:
    del people
    Audience.objects.create(name="adults", expression={"attribute": "age", "at_least": 18})
    Audience.objects.create(
        name="pro adults",
        expression={"and": [{"audience": "adults"}, {"attribute": "plan", "is": "pro"}]},
    )
    assert numbers({"audience": "pro adults"}) == [n for n in range(18, 30) if n % 2]


@pytest.mark.usefixtures("people")
def test_unknown_names_are_errors_with_a_pointer() -> None:
    Audience.objects.create(name="a", expression={"not": {"audience": "b"}})
    Audience.objects.create(name="b", expression={"audience": "a"})
    for expression, pointer in [
        ({"topic": "none"}, "/topic"),
        ({"and": [{"everyone": True}, {"not": {"topic": "none"}}]}, "/and/1/not/topic"),
        ({"or": [{"upload": 9}]}, "/or/0/upload"),
        ({"snapshot": 9}, "/snapshot"),
        ({"audience": "none"}, "/audience"),
        ({"not": {"audience": "a"}}, "/not/audience"),
    ]:
        with pytest.raises(ExpressionError) as refused:
            numbers(expression)
        assert refused.value.error.pointer == pointer


def test_reachable_needs_a_contact_and_an_allowed_channel(people: list[Recipient]) -> None:
    for each in people[:3]:
        Contact.objects.create(
            recipient=each, channel=Channel.EMAIL, address=f"{each.user_id}@x.example"
        )
    Contact.objects.filter(recipient=people[1]).update(invalidated_at=clock.now())
    Preference.objects.create(recipient=people[2], channels_off=[Channel.EMAIL, Channel.IN_APP])
    assert numbers({"reachable": "email"}) == [0]
    assert numbers({"reachable": "in_app"}) == [n for n in range(30) if n != 2]


def test_received_means_sent_or_about_to_be(
    people: list[Recipient], make_delivery: Callable[..., Any]
) -> None:
    maria = Recipient.objects.get(user_id="maria")
    names = {maria.pk: "u_99"}
    Recipient.objects.filter(pk__in=names).update(user_id="u_99")
    make_delivery(Status.FAILED)
    received = {"received": {"type": "TEST", "within_days": 7}}
    assert numbers(received) == []
    sent = make_delivery(Status.DELIVERED)
    assert numbers(received) == [99]
    assert numbers({"received": {"type": "OTHER"}}) == []
    assert 99 not in numbers({"not": received})
    assert len(people) == 30
    Delivery.objects.filter(pk=sent).update(status=Status.BOUNCED)
    assert numbers(received) == []
    assert numbers({"received": {"bulk_job": str(sent)}}) == []


def test_several_received_conditions_are_one_search_with_the_same_people(
    people: list[Recipient], make_delivery: Callable[..., Any]
) -> None:
    Recipient.objects.filter(user_id="maria").update(user_id="u_99")
    make_delivery(Status.DELIVERED)
    test, other = ({"received": {"type": name}} for name in ("TEST", "OTHER"))
    job = {"received": {"bulk_job": "01990000-0000-7000-8000-000000000000", "within_days": 3}}
    everybody = [*range(30), 99]
    assert numbers({"or": [other, test, job]}) == [99]
    assert numbers({"or": [other, {"or": [job]}]}) == []
    assert numbers({"and": [test, {"not": other}, {"not": job}]}) == [99]
    assert numbers({"and": [{"not": test}, {"not": other}]}) == everybody[:-1]
    assert numbers({"not": {"and": [test, other]}}) == everybody
    assert numbers({"and": [{"or": [test]}, {"and": [other]}]}) == []
    assert len(people) == 30


def statement_of(expression: Any) -> str:  # noqa: ANN401 - JSON
    resolved = resolve(parse(expression), mode=Mode.LIVE)
    bounds = IdRange(after=sql.SQL("0"), until=sql.SQL("9"))
    audience = AudienceSql(resolved, mode=Mode.LIVE, now=clock.now())
    return audience.source(bounds).as_string(None)


def received(number: int) -> dict[str, Any]:
    return {"received": {"type": f"T{number}", "within_days": 1 + number % 90}}


@pytest.mark.parametrize(
    "expression",
    [
        {"or": [received(n) for n in range(99)]},
        {"and": [{"not": received(n)} for n in range(49)]},
        {"not": {"or": [{"or": [received(n), received(n + 90)]} for n in range(32)]}},
        {"and": [{"not": {"or": [received(n)]}} for n in range(30)]},
    ],
)
def test_received_conditions_side_by_side_search_the_notifications_once(expression: Any) -> None:  # noqa: ANN401 - JSON
    statement = statement_of(expression)
    assert statement.count("FROM notification ") == statement.count("FROM delivery ") == 1


@pytest.mark.parametrize(
    "wrap",
    [
        lambda each: each,
        lambda each: {"or": [each, {"everyone": True}]},
        lambda each: {"not": {"not": each}},
    ],
)
def test_at_most_eight_searches_of_the_notifications_are_planned(
    wrap: Callable[[Any], Any],
) -> None:
    most = {"and": [wrap(received(n)) for n in range(MAX_SEARCHES)]}
    assert statement_of(most).count("FROM notification ") == MAX_SEARCHES
    saved = Audience.objects.create(name="most", expression=canonical.to_json(parse(most)))
    for more in (
        {"and": [*most["and"], wrap(received(99))]},
        {"and": [{"audience": saved.name}, received(99)]},
    ):
        with pytest.raises(ExpressionError, match="needs 9 searches of the notifications, at most"):
            statement_of(more)


def test_many_locales_are_one_condition() -> None:
    locales = [f"l{n}" for n in range(500)]
    assert statement_of({"attribute": "locale", "in": locales}).count("r.locale") == 1


HOSTILE = (
    "p%",
    "'; DROP TABLE notifications_recipient; --",
    'x"}',
    "%(mode)s",
    "{}",
    "{0}",
    "%s %% \\",
    "$.a ? (1=1)",
    "\u2028\ud7ff",
)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("text", HOSTILE)
def test_no_value_becomes_sql(text: str) -> None:
    Topic.objects.create(name=text[:64])
    for expression in [
        {"user_ids": [text]},
        {"topic": text[:64]},
        {"attribute": text, "is": text},
        {"attribute": text, "in": [text] * 30},
        {"attribute": text, "at_least": 1},
        {"attribute": text, "before": "2026-01-01"},
        {"attribute": text, "contains": text},
        {"attribute": text, "exists": True},
        {"attribute": "locale", "is": text},
        {"attribute": "timezone", "is": text},
        {"received": {"type": text}},
    ]:
        assert numbers(expression) == []
        assert len(numbers({"not": expression})) == 30
    assert Recipient.objects.count() == 31
