"""A killed worker leaves the progress of each call to the other workers of the host."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from notifications.core import conf
from notifications.core.delivery import deliver, rescue, waves
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.models import Attempt, Delivery
from notifications.core.rules.states import Status
from notifications.core.store import flight_recorder
from notifications.core.store.postgres import claims
from notifications.core.store.redis import sent_ledger, state
from notifications.core.store.redis.sent_ledger import LedgerEntry
from providers.contract import Accepted, NotStarted
from tests.journey import Accept, lapse, status_and_reason, take_rows
from tests.killed_caller import call_and_be_killed
from tests.vendors import Scripted

ENTRY = sent_ledger.encode(LedgerEntry(uuid4(), 0, "scripted", NotStarted(code="worker_lost")))
ANSWER = sent_ledger.encode(LedgerEntry(uuid4(), 0, "scripted", Accepted(message_id="m")))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own, and a recorder that is not open yet."""
    own = tmp_path / "flights"
    changed = replace(conf.current(), flight_recorder=str(own))
    monkeypatch.setattr(conf, "current", lambda: changed)
    flight_recorder.forget()
    yield own
    flight_recorder.forget()


def _database_url() -> str:
    at = connection.get_connection_params()
    return f"postgresql://{at['user']}:{at['password']}@{at['host']}:{at['port']}/{at['dbname']}"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("step", "priority", "expected", "spent"),
    [
        ("renewed", "P2", (Status.QUEUED, "worker_lost"), 0),
        ("renewed", "P0", (Status.QUEUED, "worker_lost"), 0),
        ("connecting", "P2", (Status.UNKNOWN, "worker_lost"), 1),
        ("begun", "P2", (Status.UNKNOWN, "worker_lost"), 1),
        ("answered", "P2", (Status.SENT, "accepted_before_crash"), 1),
        ("answered", "P0", (Status.SENT, "accepted_before_crash"), 1),
    ],
)
def test_a_killed_worker_leaves_how_far_its_call_had_come(  # noqa: PLR0913 - a table's columns
    scripted: Scripted,  # noqa: ARG001 - its repeats are visible
    take: Accept,
    folder: Path,
    *,
    step: str,
    priority: str,
    expected: tuple[Status, str],
    spent: int,
) -> None:
    [row] = take_rows(take, 1, priority=priority)
    call_and_be_killed(step, row, database_url=_database_url(), NOTIFY_FLIGHT_RECORDER=str(folder))
    assert Delivery.objects.get(id=row).attempts == 1
    rescue.rescue([lapse(row)])
    assert status_and_reason(row) == expected
    found = Delivery.objects.get(id=row)
    assert found.attempts - found.attempts_before == spent
    assert list(folder.glob("*.calls")) == []


@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_without_a_recorder_leaves_its_calls_unanswered(
    scripted: Scripted,  # noqa: ARG001 - its repeats are visible
    take: Accept,
) -> None:
    [row] = take_rows(take, 1)
    call_and_be_killed("renewed", row, database_url=_database_url(), NOTIFY_FLIGHT_RECORDER="off")
    rescue.rescue([lapse(row)])
    assert status_and_reason(row) == (Status.UNKNOWN, "worker_lost")


@pytest.mark.django_db(transaction=True)
def test_a_settled_call_leaves_its_record_free(
    scripted: Scripted, take: Accept, folder: Path
) -> None:
    del scripted  # accepts
    deliver.deliver(take_rows(take, 20))
    [file] = folder.glob("*.calls")
    assert flight_recorder.entries_in(file.read_bytes()) == {}
    assert flight_recorder.free_records() == flight_recorder.CALLS


@pytest.mark.django_db(transaction=True)
def test_a_call_that_a_lost_commit_counted_twice_has_one_number(
    scripted: Scripted, take: Accept, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del scripted  # accepts
    renew, write = claims.renew, sent_ledger.write_encoded
    written: dict[str, bytes] = {}
    noted: dict[str, bytes] = {}

    def renew_again(ids: Sequence[UUID], **named: Any) -> list[int | None]:  # noqa: ANN401 - as the function
        renew(ids, **named)
        return renew(ids, **named)

    def note(values: Mapping[str, bytes]) -> bool:
        [file] = folder.glob("*.calls")
        noted.update(flight_recorder.entries_in(file.read_bytes()))
        written.update(values)
        return write(values)

    monkeypatch.setattr(claims, "renew", renew_again)
    monkeypatch.setattr(sent_ledger, "write_encoded", note)
    [row] = take_rows(take, 1)
    deliver.deliver([row])
    assert list(written) == [sent_ledger.key_of(row, 2)]
    assert noted == written
    assert Attempt.objects.get(delivery_id=row).number == 2
    assert sent_ledger.load({row: 2}) == {}
    assert flight_recorder.free_records() == flight_recorder.CALLS


def _plan(delivery_id: UUID, attempt: int = 1) -> int:
    """Plan a call; returns the record."""
    [record] = flight_recorder.plan([(delivery_id, attempt)], ENTRY)
    assert record is not None
    return record


def test_nothing_is_concluded_from_the_file_of_a_living_process(folder: Path) -> None:
    _plan(uuid4())
    assert flight_recorder.reap() == 0
    assert len(list(folder.glob("*.calls"))) == 1


def test_a_note_is_read_by_its_last_step(folder: Path) -> None:
    ids = [uuid4() for _ in range(5)]
    records = flight_recorder.plan([(each, 1) for each in ids], ENTRY)
    _, begun, answered, ended, corrected = [each for each in records if each is not None]
    flight_recorder.begin(begun)
    flight_recorder.begin(answered)
    flight_recorder.answer(answered, ids[2], 1, ANSWER)
    flight_recorder.begin(ended)
    flight_recorder.end([ended])
    flight_recorder.plan_again(corrected, 2)
    [file] = folder.glob("*.calls")
    assert flight_recorder.entries_in(file.read_bytes()) == {
        sent_ledger.key_of(ids[0], 1): ENTRY,
        sent_ledger.key_of(ids[2], 1): ANSWER,
        sent_ledger.key_of(ids[4], 2): ENTRY,
    }


def test_an_ended_call_marks_no_record_of_the_next_call(folder: Path) -> None:
    nothing: Any = None
    claimed = ClaimedDelivery(delivery=nothing, notification=nothing, destination=nothing)
    claimed.flight = _plan(uuid4())
    waves.end_flights([claimed, claimed])
    following = uuid4()
    _plan(following)  # gets the same record
    claimed.note_begin()
    [file] = folder.glob("*.calls")
    key = sent_ledger.key_of(following, 1)
    assert flight_recorder.entries_in(file.read_bytes()) == {key: ENTRY}
    assert flight_recorder.free_records() == flight_recorder.CALLS - 1


def test_an_answer_that_comes_during_the_end_is_no_answer_of_the_next_call(folder: Path) -> None:
    settled, following = uuid4(), uuid4()
    record = _plan(settled)
    flight_recorder.end([record])
    assert _plan(following) == record
    flight_recorder.answer(record, settled, 1, ANSWER)
    [file] = folder.glob("*.calls")
    assert flight_recorder.entries_in(file.read_bytes()) == {sent_ledger.key_of(settled, 1): ANSWER}


class Recording(bytearray):
    """The recorder's memory as a kill before each store would leave it."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.left: list[bytes] = []

    def __setitem__(self, *store: Any) -> None:  # noqa: ANN401 - an index or a slice, and its content
        self.left.append(bytes(self))
        super().__setitem__(*store)

    def close(self) -> None:
        """Do as a map does."""


def test_a_kill_between_two_stores_leaves_the_note_before_or_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories: list[Recording] = []

    def memory(file: int, length: int) -> Recording:
        memories.append(Recording(os.pread(file, length, 0)))
        return memories[-1]

    monkeypatch.setattr(mmap, "mmap", memory)
    delivery_id = uuid4()
    former_id = uuid4()
    former = _plan(former_id, 7)
    flight_recorder.answer(former, former_id, 7, ANSWER)
    flight_recorder.end([former])  # the next call gets the same record
    [left] = [each.left for each in memories]
    left.clear()
    record = _plan(delivery_id)
    flight_recorder.plan_again(record, 2)
    flight_recorder.begin(record)
    flight_recorder.answer(record, delivery_id, 2, ANSWER)
    flight_recorder.end([record])
    first, second = (sent_ledger.key_of(delivery_id, attempt) for attempt in (1, 2))
    notes = [flight_recorder.entries_in(each) for each in left]
    planned_again = [{first: ENTRY}, {}]
    assert notes == [{}, {}, *planned_again, {second: ENTRY}, {}, {}, {}, {second: ANSWER}]
    assert list(folder.glob("*.calls"))


def test_an_answer_that_is_too_long_leaves_the_call_in_doubt(folder: Path) -> None:
    delivery_id = uuid4()
    flight_recorder.answer(_plan(delivery_id), delivery_id, 1, ANSWER + b" " * 512)
    [file] = folder.glob("*.calls")
    assert flight_recorder.entries_in(file.read_bytes()) == {}


def test_a_file_of_an_earlier_boot_tells_nothing(folder: Path) -> None:
    _plan(uuid4())
    [file] = folder.glob("*.calls")
    assert flight_recorder.entries_in(b"0" * 36 + file.read_bytes()[36:]) == {}


def test_a_call_without_room_is_not_noted(folder: Path) -> None:
    calls = [(uuid4(), 1) for _ in range(flight_recorder.CALLS + 1)]
    noted = flight_recorder.plan(calls, ENTRY)
    assert noted[-1] is None
    assert None not in noted[:-1]
    assert len(set(noted)) == len(calls)
    del folder


def test_a_folder_that_cannot_be_used_stops_no_call(folder: Path) -> None:
    folder.write_text("a file")
    assert flight_recorder.plan([(uuid4(), 1)], ENTRY) == [None]
    assert flight_recorder.reap() == 0


def test_a_folder_of_another_user_is_not_used(folder: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a folder away")
    folder.mkdir()
    os.chown(folder, 65_534, 65_534)
    assert flight_recorder.plan([(uuid4(), 1)], ENTRY) == [None]


def test_notes_stay_until_the_ledger_has_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery_id = uuid4()
    _plan(delivery_id)
    flight_recorder.forget()  # closes the file, as the kernel does at a kill
    with monkeypatch.context() as patch:
        patch.setattr(state._circuit, "rests_until", float("inf"))
        with pytest.raises(state.Away):
            flight_recorder.reap()
    assert len(list(folder.glob("*.calls"))) == 1
    assert flight_recorder.reap() == 1
    assert list(folder.glob("*.calls")) == []
    [entry] = sent_ledger.load({delivery_id: 1}).values()
    assert entry.outcome == NotStarted(code="worker_lost")
