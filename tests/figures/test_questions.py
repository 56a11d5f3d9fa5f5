"""Questions about the roll-ups have exact answers, and clear errors."""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect_left
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.types.numeric import IntNumericBinaryDumper

from notifications.core import clock
from notifications.core.figures import questions
from notifications.core.figures.metrics import METRICS
from notifications.core.figures.questions import MOST_POINTS, Question, QuestionError, ask
from notifications.core.rules import rollups
from notifications.core.rules.lane import Mode
from notifications.core.rules.rollups import Dimension, Latency, Step
from notifications.core.store.postgres.rollups import forget
from providers.contract import Channel
from tests.figures.conftest import MakeRollup, sketch_of

_HOUR = dt.timedelta(hours=1)
_MORNING = dt.datetime(2026, 6, 10, 10, 30, 40, tzinfo=dt.UTC)


@pytest.fixture(autouse=True)
def _stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that begins before a full hour ends in the same hour."""
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)


def _now() -> dt.datetime:
    return Step.HOUR.floor(clock.now())


def _question(metric: str = "sent", **fields: Any) -> Question:  # noqa: ANN401 - fields of the question
    chosen = {"start": _now() - 3 * _HOUR, "end": _now() + _HOUR, "now": clock.now()}
    return Question(metric=metric, **chosen | fields)


@pytest.mark.django_db
def test_a_count_has_a_value_for_each_bucket(make_rollup: MakeRollup) -> None:
    make_rollup(_now(), {"sent": 5})
    make_rollup(_now() - 2 * _HOUR, {"sent": 2})
    answer = ask(_question("sent", step=Step.HOUR))
    assert answer.buckets == [_now() - back * _HOUR for back in (3, 2, 1, 0)]
    [group] = answer.groups
    assert (group.key, group.total, group.values) == ((), 7, [0, 2, 0, 5])


@pytest.mark.parametrize(
    ("end", "reads"),
    [
        (dt.time(10, 30, 59), Step.DAY),
        (dt.time(10, 30, 20), Step.DAY),
        (dt.time(10, 30), Step.MINUTE),
        (dt.time(10, 0), Step.HOUR),
        (dt.time(0, 0), Step.DAY),
    ],
)
def test_a_total_reads_the_longest_step_that_ends_with_it(end: dt.time, reads: Step) -> None:
    until = dt.datetime.combine(_MORNING, end, dt.UTC)
    start = Step.DAY.floor(until) - dt.timedelta(days=2)
    assert Question(metric="sent", start=start, end=until, now=_MORNING).reads is reads


@pytest.mark.django_db
@pytest.mark.parametrize("step", Step)
def test_the_oldest_bucket_that_a_question_may_ask_for_is_kept(
    make_rollup: MakeRollup, step: Step
) -> None:
    oldest = step.floor(_MORNING - step.retention)
    make_rollup(oldest, {"sent": 5})
    forget(now=_MORNING, limit=100)
    asked = _question("sent", start=oldest, end=_MORNING, step=step, now=_MORNING)
    [group] = ask(asked).groups
    assert group.values[0] == 5


@pytest.mark.django_db
def test_a_question_without_a_step_has_totals_only(make_rollup: MakeRollup) -> None:
    make_rollup(_now(), {"cost_micros": 2_500_000})
    answer = ask(_question("cost"))
    assert answer.buckets == []
    assert [(each.total, each.values) for each in answer.groups] == [(2.5, [])]


@pytest.mark.django_db
@pytest.mark.parametrize("step", [None, *Step])
def test_groups_have_the_stored_values_and_the_largest_comes_first(
    make_rollup: MakeRollup, step: Step | None
) -> None:
    now = clock.now()
    make_rollup(now, {"sent": 1}, provider="vonage", country="FR")
    make_rollup(now, {"sent": 4}, channel=Channel.EMAIL, provider="ses", country="")
    make_rollup(now, {"sent": 2})
    for by, keys in {
        (Dimension.CHANNEL,): [(Channel.EMAIL,), (Channel.SMS,)],
        (Dimension.PROVIDER,): [("ses",), ("twilio",), ("vonage",)],
        (Dimension.CHANNEL, Dimension.COUNTRY): [
            (Channel.EMAIL, ""),
            (Channel.SMS, "DE"),
            (Channel.SMS, "FR"),
        ],
        (Dimension.TEMPLATE, Dimension.VERSION): [("order", 2)],
    }.items():
        start = now - dt.timedelta(minutes=2)
        answer = ask(_question("sent", by=by, step=step, start=start, end=now + _HOUR))
        assert [each.key for each in answer.groups] == keys


@pytest.mark.django_db
def test_filters_choose_rows_and_test_mode_stays_apart(make_rollup: MakeRollup) -> None:
    make_rollup(_now(), {"sent": 1})
    make_rollup(_now(), {"sent": 2}, provider="vonage")
    make_rollup(_now(), {"sent": 4}, mode=Mode.TEST)
    assert [each.total for each in ask(_question("sent")).groups] == [3]
    for filters, total in (
        ({Dimension.PROVIDER: "vonage"}, 2),
        ({Dimension.MODE: int(Mode.TEST)}, 4),
        ({Dimension.PRODUCER: 2}, 0),
        ({Dimension.TYPE: "ORDER", Dimension.PROVIDER: "twilio"}, 1),
    ):
        assert ask(_question("sent", filters=filters)).groups[0].total == total
    modes = ask(_question("sent", by=(Dimension.MODE,)))
    assert [(each.key, each.total) for each in modes.groups] == [((2,), 4), ((1,), 3)]


@pytest.mark.django_db
def test_a_rate_divides_the_sums_of_its_interval(make_rollup: MakeRollup) -> None:
    make_rollup(_now(), {"sent_after_retry": 3, "failed_after_retry": 1})
    make_rollup(_now() - _HOUR, {"sent_after_retry": 1})
    [group] = ask(_question("retry_success_rate", step=Step.HOUR)).groups
    assert (group.total, group.values) == (0.8, [None, None, 1.0, 0.75])


@pytest.mark.django_db
def test_percentiles_come_from_merged_sketches(make_rollup: MakeRollup) -> None:
    fast, slow = 20, 60
    latency = Latency.CALL_TO_ANSWER
    make_rollup(_now(), {}, sketches={latency: {fast: 90, slow: 2}})
    make_rollup(_now() - _HOUR, {}, sketches={latency: {fast: 4, slow: 4}}, provider="vonage")
    for name, total, values in (
        ("p50", fast, [None, None, fast, fast]),
        ("p95", slow, [None, None, slow, fast]),
        ("p99", slow, [None, None, slow, slow]),
    ):
        [group] = ask(_question(f"call_to_answer_{name}", step=Step.HOUR)).groups
        expected = [each and rollups.milliseconds_of(each) for each in (total, *values)]
        assert [group.total, *group.values] == expected
    by = ask(_question("call_to_answer_p50", by=(Dimension.PROVIDER,)))
    assert {each.key for each in by.groups} == {("twilio",), ("vonage",)}


def test_the_sum_of_two_sketches_has_the_counts_of_both() -> None:
    most = 10**rollups.DIGITS - 1
    summed = sketch_of({1: 1, 2: most - 5}) + sketch_of({2: 5, 350: 3})
    counts = rollups.counts_of(str(summed))
    assert {number: count for number, count in enumerate(counts) if count} == {
        1: 1,
        2: most,
        350: 3,
    }


def _sent(sketch: int) -> bytes:
    """Return a sketch as PostgreSQL sends it; PostgreSQL leaves the zeros at the end out."""
    sent = bytes(IntNumericBinaryDumper(int).dump(sketch) or b"")
    return sent[:8] + re.sub(rb"(\0\0)+$", b"", sent[8:])


@pytest.mark.parametrize(("share", "number"), [(0.1, 0), (0.5, 0), (0.51, 3), (0.99, 3), (1.0, 4)])
def test_a_percentile_is_the_first_bin_that_reaches_its_share(share: float, number: int) -> None:
    sketch = _sent(sketch_of({0: 50, 3: 49, 4: 1}))
    assert rollups.percentile(sketch, share) == rollups.milliseconds_of(number)


@given(
    bins=st.dictionaries(st.integers(0, 350), st.integers(1, 10**9), min_size=1, max_size=12),
    share=st.sampled_from([0.5, 0.95, 0.99]),
)
def test_a_percentile_is_that_of_the_sorted_bins(bins: dict[int, int], share: float) -> None:
    numbers = sorted(bins)
    reached = list(accumulate(bins[each] for each in numbers))
    expected = numbers[bisect_left(reached, share * reached[-1])]
    found = rollups.percentile(_sent(sketch_of(bins)), share)
    assert found == rollups.milliseconds_of(expected)


def test_a_percentile_is_within_its_error() -> None:
    for milliseconds in (1.0, 3.0, 47.0, 900.0, 86_400_000.0):
        number = rollups.bin_of(milliseconds)
        assert abs(rollups.milliseconds_of(number) - milliseconds) <= (
            rollups.ERROR * milliseconds + 0.1
        )


@pytest.mark.parametrize(
    ("about", "fields"),
    [
        ("metric", {"metric": "sents"}),
        ("by", {"by": (Dimension.TYPE, Dimension.CHANNEL, Dimension.MODE)}),
        ("by", {"by": (Dimension.TYPE, Dimension.TYPE)}),
        ("from", {"start": dt.datetime(2199, 1, 1, tzinfo=dt.UTC)}),
        ("from", {"start": dt.datetime(2001, 1, 1, tzinfo=dt.UTC)}),
        ("from", {"start": dt.timedelta(days=-5), "step": Step.MINUTE}),
        ("step", {"end": dt.timedelta(days=3_000), "step": Step.HOUR}),
    ],
)
def test_a_question_without_an_answer_is_refused(about: str, fields: dict[str, Any]) -> None:
    chosen: dict[str, Any] = {
        name: clock.now() + each if isinstance(each, dt.timedelta) else each
        for name, each in fields.items()
    }
    with pytest.raises(QuestionError) as refused:
        _question(**chosen)
    assert refused.value.about == about


@pytest.mark.django_db
def test_an_answer_with_too_many_values_is_refused(make_rollup: MakeRollup) -> None:
    start = clock.now() - dt.timedelta(days=2.9)
    for place in range(3):
        make_rollup(clock.now(), {"sent": 1}, provider=f"p{place}")
    with pytest.raises(QuestionError, match=str(MOST_POINTS)):
        ask(_question("sent", start=start, step=Step.MINUTE, by=(Dimension.PROVIDER,)))


@pytest.mark.django_db
@pytest.mark.parametrize("metric", ["sent", "failure_rate", "call_to_answer_p95"])
@pytest.mark.parametrize(("step", "about"), [(Step.HOUR, "step"), (None, "by")])
def test_an_answer_with_too_many_groups_is_refused_before_they_are_read(
    make_rollup: MakeRollup,
    monkeypatch: pytest.MonkeyPatch,
    metric: str,
    step: Step | None,
    about: str,
) -> None:
    monkeypatch.setattr(questions, "MOST_POINTS", 4)
    monkeypatch.setattr(questions, "_MOST_SKETCHES", 8)
    sketches = {Latency.CALL_TO_ANSWER: {50: 1}}
    for place in range(4):
        make_rollup(_now(), {"sent": 1}, sketches=sketches, type=f"T{place}")
        make_rollup(_now(), {"read": 1}, provider=f"other{place}", channel=Channel.PUSH)
    question = _question(metric, start=_now(), end=_now() + _HOUR, step=step, by=(Dimension.TYPE,))
    assert len(ask(question).groups) == 4
    for place in range(4, 10):
        make_rollup(_now(), {"sent": 1}, sketches=sketches, type=f"T{place}")
    with pytest.raises(QuestionError, match="at most 4 values") as refused:
        ask(question)
    assert refused.value.about == about


def test_each_metric_has_a_unit_and_a_sentence() -> None:
    assert all(each.unit and each.sentence.endswith(".") for each in METRICS.values())
