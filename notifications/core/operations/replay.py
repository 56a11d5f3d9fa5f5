"""Replay: send dead letters again, through all gates.

A replay job takes the dead letters that are open at its start, in batches (`replay_letters`); later
dead letters do not join. The sweep processes a few hundred dead letters in each transaction. A dead
letter is replayed once: a transaction moves its delivery and closes it, and a dead letter belongs
to at most one job. Without `forced`, a notification that has reached its recipient is skipped.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError, ProgrammingError, transaction

from notifications.core import clock, conf
from notifications.core.feedback import fallback_receipts
from notifications.core.intake import accept
from notifications.core.models import DeadLetter, Delivery, Notification, Producer, ReplayJob
from notifications.core.rules import attachments, ids, in_app_fields, request
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.problems import TEMPORARY, Kind, Problem, Refused
from notifications.core.rules.reasons import REFUSED, Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import RESOLVE_AS_FAILED, RESOLVE_AS_SENT
from notifications.core.store.postgres import (
    db,
    dead_letters,
    fair_queue,
    id_ranges,
    partitions,
    reads,
    replay_letters,
    secret_variables,
    transitions,
)
from notifications.core.store.postgres.transitions import ANYONE, Move, ReplayTarget
from providers.contract import Channel

_log = structlog.get_logger(__name__)

_REACHED: Final = frozenset({Status.SENT, Status.DELIVERED, Status.READ})
"""Statuses for which a replay is skipped. An unconfirmed delivery does not count: the fallback
chain did not count the delivery as reached either."""
_PAST_AT_ONCE: Final = 50
"""Dead letters past retention of a batch: each takes some milliseconds and a commit."""
WIPED: Final = "its sensitive variables were wiped"


class ReplayRefused(Refused):
    """An impossible replay."""


def start(letters: LetterFilter, *, requested_by: str, forced: bool, renews_ttl: bool) -> ReplayJob:
    """Create a replay job for the matching open dead letters.

    Raises:
        Refused: dead letters were selected by id, and none can be rendered any more.
    """

    def work() -> ReplayJob:
        if letters.ids is not None:
            _refuse_if_wiped(list(dead_letters.matching(letters)))
        job = ReplayJob.objects.create(
            mode=letters.mode or Mode.LIVE,
            requested_by=requested_by,
            forced=forced,
            renews_ttl=renews_ttl,
        )
        replay_letters.assign_first(job, letters)
        job.finished_at = None if job.total else clock.now()
        job.save(update_fields=["total", "unassigned", "finished_at"])
        return job

    return db.in_transaction(work)


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a batch of a job."""

    letters: int = 0
    """Number of processed dead letters."""
    failed: int = 0
    """Number of those that raised an exception. They stay open without the job."""
    has_rest: bool = False
    """True if dead letters have yet to join the job."""


def run(job: ReplayJob, *, limit: int) -> Ran:
    """Process the next dead letters of a job.

    Dead letters past retention are accepted again, each in a transaction of its own: an acceptance
    locks its recipient before its files, as an erasure does, and two acceptances in a transaction
    would lock a recipient after files. A batch has few of them, and the next batch goes on. Safe to
    run twice and in concurrent sweeps.

    Raises:
        ProgrammingError: the code or the schema is wrong; the dead letters left have not changed.
        OperationalError: the database is away; the dead letters left have not changed.
    """
    has_rest = False
    if job.unassigned is not None:
        has_rest = db.in_transaction(partial(replay_letters.assign_next, job))
    first, past = db.in_transaction(lambda: _run_within_retention(job, limit=limit))
    others = [
        db.in_transaction(partial(_run_past_retention, job, each)) for each in past[:_PAST_AT_ONCE]
    ]
    return Ran(
        first.letters + sum(each.letters for each in others),
        first.failed + sum(each.failed for each in others),
        has_rest,
    )


def _run_within_retention(job: ReplayJob, *, limit: int) -> tuple[Ran, list[int]]:
    """Process dead letters with a notification; returns the ids of the others as well."""
    letters = dead_letters.next_of(job, limit=limit)
    if not letters:
        left = ReplayJob.objects.filter(id=job.id, finished_at=None, unassigned__isnull=True)
        left.exclude(letters__resolved_at=None).update(finished_at=clock.now())
        return Ran(), []
    there = _notifications_of(letters)
    living = [each for each in letters if ids.notification_of(each.delivery_id) in there]
    past = [each.pk for each in letters if ids.notification_of(each.delivery_id) not in there]
    return _run_letters(job, living), past


def _run_past_retention(job: ReplayJob, letter_id: int) -> Ran:
    return _run_letters(job, dead_letters.lock_of(job, letter_id))


def _run_letters(job: ReplayJob, letters: Sequence[DeadLetter]) -> Ran:
    """Process locked dead letters, and count them in the job."""
    if not letters:
        return Ran()
    replayed, failed = _replay_or_halve(job, letters)
    dead_letters.count(job, replayed=replayed, skipped=len(letters) - replayed)
    return Ran(len(letters), failed)


def stop(job: ReplayJob) -> int:
    """Stop a job: release the dead letters that the job has not processed; returns the number.

    Safe to run twice and beside the sweep: a transaction of the sweep that holds dead letters ends
    first, and these dead letters are done.
    """

    def work() -> int:
        released = replay_letters.release(job)
        ReplayJob.objects.filter(id=job.id, finished_at=None).update(finished_at=clock.now())
        return released

    return db.in_transaction(work)


def discard(letter_ids: Sequence[int], *, by: str) -> int:
    """Close open dead letters without a replay, and wipe their sensitive variables."""

    def work() -> int:
        mine = dead_letters.matching(LetterFilter(ids=tuple(letter_ids))).order_by("pk")
        letters = list(mine.select_for_update())  # no replay job takes the letters meanwhile
        closed = dead_letters.resolve(letters, f"discarded by {by}"[:32])
        secret_variables.wipe({ids.notification_of(letter.delivery_id) for letter in letters})
        return closed

    return db.in_transaction(work)


def resolve_unknown(delivery_ids: Sequence[UUID], *, as_sent: bool, by: str) -> int:
    """Set unanswered deliveries to sent or failed, by an operator's decision.

    A failed delivery of a fallback chain opens the next channel, if the notification is still open.
    """
    detail = f"resolved by {by}"
    decided = {each: Move(id=each, reason=Reason.OPERATOR, detail=detail) for each in delivery_ids}
    if as_sent:
        return len(transitions.apply(RESOLVE_AS_SENT, decided.values(), ANYONE))
    return len(fallback_receipts.apply(RESOLVE_AS_FAILED, decided, ANYONE))


def _replay_or_halve(job: ReplayJob, letters: Sequence[DeadLetter]) -> tuple[int, int]:
    """Replay locked dead letters; returns the number of replays and of exceptions.

    A dead letter that raises alone leaves the job and stays open, so that the others go on.

    Raises:
        ProgrammingError: as `run`.
        OperationalError: as `run`.
        InterfaceError: the database is away.
    """
    try:
        with transaction.atomic():
            return _replay(job, letters), 0
    except (OperationalError, InterfaceError, ProgrammingError):
        raise
    except Exception:  # noqa: BLE001 - whatever a letter causes, it must not stop the others
        if len(letters) == 1:
            _log.exception("dead_letter_not_replayed", dead_letter=letters[0].id, job=job.pk)
            dead_letters.leave_job(letters[0])
            return 0, 1
    half = len(letters) // 2
    first = _replay_or_halve(job, letters[:half])
    second = _replay_or_halve(job, letters[half:])
    return first[0] + second[0], first[1] + second[1]


def _replay(job: ReplayJob, letters: Sequence[DeadLetter]) -> int:
    """Replay or skip locked dead letters; returns the number of replays."""
    notifications = _notifications_of(letters)
    reached = {} if job.forced else _channels_reached(notifications)
    replayable: dict[UUID, DeadLetter] = {}
    skipped: dict[str, list[DeadLetter]] = defaultdict(list)
    replayed = 0
    for letter in letters:
        notification = notifications.get(ids.notification_of(letter.delivery_id))
        if notification is None:
            replayed += _from_snapshot(letter)
        elif obstacle := _obstacle(letter, notification, reached=reached.get(notification.id)):
            skipped[obstacle].append(letter)
        else:
            replayable[letter.delivery_id] = letter
    if job.renews_ttl:
        _renew_ttl(replayable, notifications)
    detail = f"replay job {job.id} by {job.requested_by}"
    moved = set(transitions.replay(_replays(list(replayable.values())), detail=detail))
    dead_letters.resolve([replayable[each] for each in moved], "replayed")
    skipped["moved on meanwhile"] = [replayable[each] for each in replayable.keys() - moved]
    for obstacle, stayed in skipped.items():
        dead_letters.resolve(stayed, f"skipped: {obstacle}"[:32])
    return replayed + len(moved)


def _notifications_of(letters: Iterable[DeadLetter]) -> dict[UUID, Notification]:
    wanted = {ids.notification_of(letter.delivery_id) for letter in letters}
    if not wanted:
        return {}
    span = id_ranges.around(wanted)
    within = Notification.objects.filter(id__gte=span["floor"], id__lt=span["ceiling"])
    found: dict[UUID, Notification] = within.in_bulk(list(wanted))
    # A day is frozen table by table, deliveries first: such a day counts as past.
    frozen = {day for day in map(ids.day_of, found) if partitions.is_past(day)}
    frozen = {day for day in frozen if "delivery" not in partitions.live_tables(day)}
    return {id_: each for id_, each in found.items() if ids.day_of(id_) not in frozen}


def _channels_reached(notification_ids: Collection[UUID]) -> dict[UUID, set[int]]:
    """Return the channels on which notifications reached the recipient, if any."""
    if not notification_ids:
        return {}
    parameters = {
        **id_ranges.around(notification_ids),
        "ids": list(notification_ids),
        "reached": sorted(_REACHED),
        "most": ids.MAX_DELIVERIES,
    }
    return {row["id"]: set(row["channels"]) for row in db.rows("reached", parameters)}


def _obstacle(
    letter: DeadLetter, notification: Notification, *, reached: Collection[int] | None
) -> str:
    """Return the reason to skip a dead letter; empty if it can be replayed."""
    if _is_wiped(letter, notification):
        return "variables wiped"
    if notification.cancelled_at is not None:
        return "cancelled"
    channels = set(reached or ())
    if letter.channel == Channel.PUSH:
        # Every device gets the message, so a delivery to another device does not count.
        channels.discard(Channel.PUSH)
    return "reached meanwhile" if channels else ""


def _is_wiped(letter: DeadLetter, notification: Notification) -> bool:
    return bool(letter.snapshot.get("had_secrets")) and notification.secrets is None


def _refuse_if_wiped(letters: Sequence[DeadLetter]) -> None:
    notifications = _notifications_of(letters)
    wiped = [
        letter
        for letter in letters
        if (found := notifications.get(ids.notification_of(letter.delivery_id)))
        and _is_wiped(letter, found)
    ]
    if wiped and len(wiped) == len(letters):
        raise ReplayRefused(Problem(Kind.CONFLICT, f"{WIPED}; ask its producer to send a new one"))


def _renew_ttl(delivery_ids: Iterable[UUID], notifications: Mapping[UUID, Notification]) -> None:
    """Start the time to live again, except for P0: an old OTP must not arrive."""
    by_priority: dict[Priority, list[UUID]] = defaultdict(list)
    for delivery_id in delivery_ids:
        notification = notifications[ids.notification_of(delivery_id)]
        by_priority[Priority(notification.priority)].append(notification.id)
    by_priority.pop(Priority.P0, None)
    for priority, notification_ids in by_priority.items():
        expires_at = clock.now() + conf.current().times_to_live[priority]
        Notification.objects.filter(id__in=notification_ids).update(expires_at=expires_at)


def _replays(letters: Sequence[DeadLetter]) -> list[ReplayTarget]:
    """Build the replays of dead letters, with the recipients' current contacts.

    A repaired address is used as it is; a dead address is replaced by the recipient's valid
    address. Deliveries of P2 and P3 are queued in fair order among producers.
    """
    wanted = [letter.delivery_id for letter in letters]
    current = dict(Delivery.objects.filter(id__in=wanted).values_list("id", "contact_id"))
    reaches = reads.reaches_by_id({letter.recipient_id for letter in letters}) if letters else {}
    due_in = _due_in(letters)
    revivals = []
    for letter in letters:
        reach = reaches.get(letter.recipient_id)
        valid = reach.contacts.get(Channel(letter.channel), ()) if reach else ()
        contact_id = current.get(letter.delivery_id)
        if valid and contact_id not in valid:
            contact_id = valid[0]
        revivals.append(
            ReplayTarget(
                id=letter.delivery_id,
                contact_id=contact_id,
                new_key=letter.reason in REFUSED,
                due_in=due_in.get(letter.delivery_id, clock.AT_ONCE),
            )
        )
    return revivals


def _due_in(letters: Iterable[DeadLetter]) -> dict[UUID, dt.timedelta]:
    return fair_queue.intervals({
        letter.delivery_id: fair_queue.Ask(
            Lane(Mode(letter.mode), Priority(letter.priority), Channel(letter.channel)),
            letter.producer_id,
        )
        for letter in letters
        if not Priority(letter.priority).is_urgent
    })


def _from_snapshot(letter: DeadLetter) -> int:
    """Accept a notification past retention again as a new notification of its producer.

    A dead letter that is refused for the moment leaves the job and stays open.
    """
    if letter.snapshot.get("had_secrets"):
        dead_letters.resolve([letter], "skipped: variables wiped")
        return 0
    producer = Producer.objects.filter(id=letter.producer_id).first()
    parsed = request.own(f"replay-{letter.id}", _body(letter))
    if producer is None or isinstance(parsed, Problem):
        dead_letters.resolve([letter], "skipped: not valid any more")
        return 0
    caller = accept.Caller(
        producer_id=producer.id,
        mode=Mode(letter.mode),
        priorities=frozenset(Priority),
        may_send_content=True,
    )
    (answer,) = accept.accept(caller, [parsed])
    if isinstance(answer, accept.Refused) and answer.problem.kind in TEMPORARY:
        _log.warning("dead_letter_not_replayed", dead_letter=letter.pk, why=answer.problem.kind)
        dead_letters.leave_job(letter)
        return 0
    if isinstance(answer, accept.Refused):
        dead_letters.resolve([letter], f"skipped: {answer.problem.kind}"[:32])
        return 0
    dead_letters.resolve([letter], "replayed as new")
    return 1


def _body(letter: DeadLetter) -> dict[str, Any]:
    kept = letter.snapshot
    content = kept.get("content")
    said = {"content": content} if content else {"template_id": kept.get("template_id")}
    return {
        "user_id": kept["user_id"],
        "type": kept["type"],
        "priority": Priority(letter.priority).name,
        "channels": [Channel(letter.channel).label],
        "variables": kept["variables"],
        "metadata": kept["metadata"],
        **in_app_fields.request_fields(kept.get("inbox")),
        **attachments.request_fields(kept.get("attachments"), Channel(letter.channel)),
        **said,
    }
