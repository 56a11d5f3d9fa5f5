"""Replay: bring dead letters back, all gates again.

A replay job names the letters when it is made, so that it never takes one that died later, and
works them off in the sweep at a bounded pace. A letter is replayed once: moving its delivery and
closing it are one transaction, and a letter in a job's hands is in no other's. What reached the
person meanwhile by another way is skipped unless forced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from notifications import clock, conf
from notifications.models import DeadLetter, Delivery, Notification, Producer, ReplayJob
from notifications.pipeline import accept
from notifications.rules import ids, request
from notifications.rules.lane import Mode, Priority
from notifications.rules.letters import LetterFilter
from notifications.rules.problems import Kind, Problem
from notifications.rules.reasons import Reason
from notifications.rules.states import Status
from notifications.rules.transitions import RESOLVE_AS_FAILED, RESOLVE_AS_SENT
from notifications.store import db, dead_letters, reads, transitions, vault
from notifications.store.transitions import ANYONE, Move, Revival
from providers.contract import Channel

_REACHED: Final = frozenset({Status.SENT, Status.UNCONFIRMED, Status.DELIVERED, Status.READ})
_REFUSED_FOR_CERTAIN: Final = frozenset({Reason.PERMANENT, Reason.RECEIPT_FAILED})
"""The provider would recognise the old key and answer as before, or drop the repeat."""
WIPED: Final = "its sensitive variables were wiped"


class Refused(Exception):
    """A replay that cannot be; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        """Carry the problem to the door."""
        super().__init__(problem.detail)
        self.problem = problem


def start(letters: LetterFilter, *, requested_by: str, forced: bool, renews_ttl: bool) -> ReplayJob:
    """Make a replay job of the open letters that match now.

    Raises:
        Refused: letters are named one by one and none of them can be rendered any more.
    """

    def work() -> ReplayJob:
        found = dead_letters.matching(letters)
        if letters.ids is not None:
            _refuse_if_wiped(list(found))
        job = ReplayJob.objects.create(
            requested_by=requested_by, forced=forced, renews_ttl=renews_ttl
        )
        job.total = found.update(replay_job=job)
        job.finished_at = None if job.total else clock.now()
        job.save(update_fields=["total", "finished_at"])
        return job

    return db.in_transaction(work)


def run(job: ReplayJob, *, limit: int) -> int:
    """Work off the next letters of a job; returns how many.

    Safe to run twice and from two sweeps.
    """

    def work() -> int:
        letters = dead_letters.next_of(job, limit=limit)
        if not letters:
            ReplayJob.objects.filter(id=job.id, finished_at=None).exclude(
                letters__resolved_at=None
            ).update(finished_at=clock.now())
            return 0
        replayed = _replay(job, letters)
        dead_letters.count(job, replayed=replayed, skipped=len(letters) - replayed)
        return len(letters)

    return db.in_transaction(work)


def discard(letter_ids: Sequence[int], *, by: str) -> int:
    """Close open letters without replaying them, and forget what only they still needed."""

    def work() -> int:
        letters = list(dead_letters.matching(LetterFilter(ids=tuple(letter_ids))))
        closed = dead_letters.resolve(letters, f"discarded by {by}"[:32])
        vault.wipe({ids.notification_of(letter.delivery_id) for letter in letters})
        return closed

    return db.in_transaction(work)


def resolve_unknown(delivery_ids: Sequence[UUID], *, as_sent: bool, by: str) -> int:
    """An operator's word on deliveries that nobody answered: they were sent, or they were not."""
    detail = f"resolved by {by}"
    decided = [Move(id=each, reason=Reason.OPERATOR, detail=detail) for each in delivery_ids]
    if as_sent:
        return len(transitions.apply(RESOLVE_AS_SENT, decided, ANYONE))
    return len(transitions.apply(RESOLVE_AS_FAILED, decided, ANYONE))


def _replay(job: ReplayJob, letters: Sequence[DeadLetter]) -> int:
    """Replay or skip each of these locked letters; returns how many were replayed."""
    notifications = Notification.objects.in_bulk([
        ids.notification_of(letter.delivery_id) for letter in letters
    ])
    revivals: dict[UUID, DeadLetter] = {}
    replayed = 0
    for letter in letters:
        notification = notifications.get(ids.notification_of(letter.delivery_id))
        if notification is None:
            replayed += _from_snapshot(letter)
            continue
        obstacle = _obstacle(job, letter, notification)
        if obstacle:
            dead_letters.resolve([letter], f"skipped: {obstacle}"[:32])
        else:
            revivals[letter.delivery_id] = letter
            _renew_ttl(job, notification)
    detail = f"replay job {job.id} by {job.requested_by}"
    moved = transitions.replay([_revival(letter) for letter in revivals.values()], detail=detail)
    dead_letters.resolve([revivals[each] for each in moved], "replayed")
    stayed = [letter for each, letter in revivals.items() if each not in set(moved)]
    dead_letters.resolve(stayed, "skipped: moved on meanwhile")
    return replayed + len(moved)


def _obstacle(job: ReplayJob, letter: DeadLetter, notification: Notification) -> str:
    if _is_wiped(letter, notification):
        return "variables wiped"
    if notification.cancelled_at is not None:
        return "cancelled"
    if job.forced:
        return ""
    reached = Delivery.objects.filter(
        id__gt=notification.id,
        id__lte=ids.last_delivery_of(notification.id),
        status__in=_REACHED,
    )
    if letter.channel == Channel.PUSH:
        # Every device is to get it; that another device got it says nothing of this one.
        reached = reached.exclude(channel=Channel.PUSH)
    return "reached meanwhile" if reached.exists() else ""


def _is_wiped(letter: DeadLetter, notification: Notification) -> bool:
    return bool(letter.snapshot.get("had_secrets")) and notification.secrets is None


def _refuse_if_wiped(letters: Sequence[DeadLetter]) -> None:
    notifications = Notification.objects.in_bulk([
        ids.notification_of(letter.delivery_id) for letter in letters
    ])
    wiped = [
        letter
        for letter in letters
        if (found := notifications.get(ids.notification_of(letter.delivery_id)))
        and _is_wiped(letter, found)
    ]
    if wiped and len(wiped) == len(letters):
        raise Refused(Problem(Kind.CONFLICT, f"{WIPED}; ask its producer to send a new one"))


def _renew_ttl(job: ReplayJob, notification: Notification) -> None:
    """Only when asked, and never for P0: an old OTP must not arrive."""
    if job.renews_ttl and notification.priority != Priority.P0:
        ttl = conf.current().times_to_live[Priority(notification.priority)]
        Notification.objects.filter(id=notification.id).update(expires_at=clock.now() + ttl)


def _revival(letter: DeadLetter) -> Revival:
    """To the contact as it is now.

    An address that was mended, or the one that took a dead one's place.
    """
    channel = Channel(letter.channel)
    current = Delivery.objects.values_list("contact_id", flat=True).get(id=letter.delivery_id)
    reach = reads.reaches_by_id([letter.recipient_id]).get(letter.recipient_id)
    valid = reach.contacts.get(channel, ()) if reach else ()
    contact_id = current if current in valid or not valid else valid[0]
    return Revival(
        id=letter.delivery_id,
        contact_id=contact_id,
        new_key=letter.reason in _REFUSED_FOR_CERTAIN,
    )


def _from_snapshot(letter: DeadLetter) -> int:
    """The notification is past retention: hand it in again as a new one, as its producer would."""
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
        **said,
    }


"""How long a letter waits for an operator."""
