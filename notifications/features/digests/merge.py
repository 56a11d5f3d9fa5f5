"""Digests: merge held deliveries of a recipient, type, producer and channel into one message.

    held by a frequency cap    all held deliveries are merged when the first one comes due
    held for a batch window    the same
    held by a digest choice    all deliveries past their digest time are merged

Digests apply to types with a digest template. The digest is a new notification that passes every
gate and counts once against the cap. A single held delivery is released unchanged. The digest's
template is rendered first; if the variables do not match, all deliveries are released unchanged.

The digest time is computed again from the current choice and timezone. A delivery with a later
digest time waits on; without a choice the delivery is merged at once.

Each original reaches the recipient once: by its own message or in one digest. A transaction locks
the originals, accepts the digest and suppresses the originals. A crash changes nothing, and a
concurrent sweep waits for the lock and then finds no rows.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

import orjson
import structlog

from notifications.core import clock, conf
from notifications.core.intake import accept
from notifications.core.rules import ids, request
from notifications.core.rules.brand import Brand
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.language.templating import Reader, RenderError
from notifications.core.rules.reasons import Reason
from notifications.core.rules.request import DIGEST_KEYS, NotificationRequest
from notifications.core.rules.states import Status
from notifications.core.rules.times import digest_times
from notifications.core.rules.transitions import SUPPRESS
from notifications.core.store.cached import brands, notification_types
from notifications.core.store.postgres import db, id_ranges, reads, secret_variables, transitions
from notifications.core.store.postgres.transitions import ANYONE, Move
from notifications.core.store.templates import template_cache
from notifications.core.store.templates.template_cache import TemplateVersion
from notifications.features.digests import rules
from notifications.features.digests.rules import Told
from providers.contract import Channel

_log = structlog.get_logger(__name__)

_AT_ONCE: Final = 5_000
"""Maximum deliveries merged in one transaction; further deliveries go into the next digest."""

_LONGEST_HOLD: Final = dt.timedelta(days=9)
"""Days in which the messages of a digest were accepted: a week, and the change of a timezone."""

Row = dict[str, Any]
"""A row of `held_for_digests.sql`."""
_Place = tuple[object, ...]
"""Producer, recipient, type, channel and priority: a P3 must not let a P2 be dropped at a cap, nor
a P2 let marketing leave in the producer's night. A cap holds P2 alone."""


@dataclass(frozen=True, slots=True)
class _Digest:
    """A digest to accept, with the rows it replaces."""

    asked: NotificationRequest
    rows: Sequence[Row]


def merge(held: Sequence[Mapping[str, Any]], *, bounds: Mapping[str, UUID]) -> set[UUID]:
    """Merge due deliveries and held deliveries of the same kind; returns the merged deliveries.

    Args:
        held: rows of `due_for_digests.sql`.
        bounds: `floor` and `ceiling` of the ids of open rows.
    """
    templates = _templates()
    moved: set[UUID] = set()
    for reason in {row["reason"] for row in held} if templates else ():
        due = [row["id"] for row in held if row["reason"] == reason]
        read = partial(_lock_alike, due, templates, bounds, reason=reason)
        moved |= db.in_transaction(partial(_merge, read, templates, due=due))
    return moved


def _templates() -> dict[str, TemplateVersion]:
    """Return the published digest template by type."""
    wanted = {
        name: rule.digest_template
        for name, rule in notification_types.every().items()
        if rule.digest_template
    }
    known = template_cache.by_name(set(wanted.values())) if wanted else {}
    return {name: known[template] for name, template in wanted.items() if template in known}


def _lock_alike(
    due: Sequence[UUID],
    templates: Mapping[str, TemplateVersion],
    bounds: Mapping[str, UUID],
    *,
    reason: Reason,
) -> list[Row]:
    """Lock and return the deliveries that are like the due deliveries."""
    waits = reason == Reason.DIGEST
    recent = id_ranges.last_days(_LONGEST_HOLD.days)
    # A digest has the messages of a week, which lie in the partitions of many days.
    floor = min(bounds["floor"], recent["floor"]) if waits else bounds["floor"]
    ceiling = max(bounds["ceiling"], recent["ceiling"]) if waits else bounds["ceiling"]
    return db.rows(
        "held_for_digests",
        {
            "ids": list(due),
            "notification_ids": list({ids.notification_of(each) for each in due}),
            "types": list(templates),
            "floor": floor,
            "ceiling": ceiling,
            "scheduled": Status.SCHEDULED,
            "reason": reason,
            "waits": waits,
            "devices": ids.MAX_DELIVERIES,
            "limit": _AT_ONCE,
        },
    )


def _merge(
    read: Callable[[], list[Row]], templates: Mapping[str, TemplateVersion], *, due: Sequence[UUID]
) -> set[UUID]:
    """Merge locked deliveries; returns the ids of merged deliveries and of deliveries held longer.

    `read` locks and returns the deliveries. Of more than `_AT_ONCE`, the `due` deliveries that were
    not read are held longer: alone they would leave beside the digest.
    """
    now = clock.now()
    held = read()
    later = {row["id"]: at for row in held if (at := _digest_time(row)) > now}
    if later:
        state = {"scheduled": Status.SCHEDULED, "reason": Reason.DIGEST}
        db.run("hold_longer", {"ids": list(later), "due_at": list(later.values()), **state})
    found = [row for row in held if row["id"] not in later and _is_alive(row, now)]
    places: dict[_Place, list[Row]] = defaultdict(list)
    for row in found:
        names = ("producer_id", "recipient_id", "type", "channel", "priority")
        places[tuple(row[name] for name in names)].append(row)
    by_producer: dict[tuple[int, int], list[_Digest]] = defaultdict(list)
    for rows in places.values():
        made = _digest(rows, template=templates[rows[0]["type"]])
        if made is not None:
            by_producer[rows[0]["producer_id"], rows[0]["mode"]].append(made)
    moves = [
        move
        for (producer_id, mode), digests in by_producer.items()
        for move in _accept(digests, producer_id=producer_id, mode=Mode(mode))
    ]
    moved = transitions.apply(SUPPRESS, moves, ANYONE)
    secret_variables.wipe({ids.notification_of(each) for each in moved})
    if moved:
        _log.info("digested", merged=len(moved))
    unread = set(due) - {row["id"] for row in held} if len(held) == _AT_ONCE else ()
    return {*moved, *later, *unread}


def _digest_time(row: Row) -> dt.datetime:
    """Return the digest time by the current choice; in the past without a choice or for a cap."""
    begins: dt.datetime = row["begins_at"]
    if row["reason"] != Reason.DIGEST or not row["digests"]:
        return begins
    choice = digest_times.choice_of(
        reads.read_digests(row["digests"]), type_=row["type"], category=row["category"]
    )
    at = digest_times.leaves_at(choice, timezone=row["timezone"], after=begins)
    usual = conf.current().times_to_live[Priority(row["priority"])]
    waits = at < row["expires_at"] or digest_times.has_usual_life(
        begins, row["expires_at"], usual=usual
    )
    return at if waits else begins


def _is_alive(row: Row, now: dt.datetime) -> bool:
    """Return False after a time to live that the producer gave; the gate ends such a delivery."""
    usual = conf.current().times_to_live[Priority(row["priority"])]
    return row["expires_at"] > now or digest_times.has_usual_life(
        row["begins_at"], row["expires_at"], usual=usual
    )


def _digest(rows: Sequence[Row], *, template: TemplateVersion) -> _Digest | None:
    """Build a digest of rows; None for a single notification or mismatching variables."""
    moves = {
        ids.notification_of(row["id"]): Told(
            orjson.loads(row["variables"]), is_digest=row["template_id"] == template.template_id
        )
        for row in rows
    }
    first = rows[0]
    variables = rules.variables(list(moves.values()), type_=first["type"])
    brand = brands.of(first["producer_id"])
    if len(moves) == 1 or not _fits(template, Channel(first["channel"]), variables, brand=brand):
        return None
    body = {
        "user_id": first["user_id"],
        "type": first["type"],
        "priority": Priority(first["priority"]).name,
        "template_id": template.template_id,
        "variables": variables,
        "channels": [Channel(first["channel"]).label],
    }
    if first["reason"] != Reason.DIGEST:
        # The digest expires with the last of its originals. By choice the default counts.
        life = max(row["expires_at"] for row in rows) - clock.now()
        body["ttl_seconds"] = max(1, int(life.total_seconds()))
    name = DIGEST_KEYS.removeprefix(request.RESERVED_KEYS) + first["id"].hex
    asked = request.own(name, body)
    return _Digest(asked, rows) if isinstance(asked, NotificationRequest) else None


def _fits(
    template: TemplateVersion, channel: Channel, variables: Mapping[str, Any], *, brand: Brand
) -> bool:
    """Return True if every text for the channel renders, or else its originals would be lost."""
    texts = [
        (template.text(channel, locale), Reader(locale=locale))
        for locale in template.texts.get(channel, {})
    ]
    try:
        for text, reader in texts:
            if text is None:
                return False
            text.render(variables, reader, brand=brand)
    except RenderError as error:
        _log.warning("digest_does_not_fit", template=template.template_id, why=str(error))
        return False
    return bool(texts)


def _accept(digests: Sequence[_Digest], *, producer_id: int, mode: Mode) -> list[Move]:
    """Accept digests of a producer; returns the moves of the merged deliveries."""
    caller = accept.Caller(
        producer_id=producer_id,
        mode=mode,
        priorities=frozenset(Priority),
        may_send_content=False,
    )
    answers = accept.accept(caller, [each.asked for each in digests])
    return [
        Move(
            id=row["id"],
            reason=Reason.DIGESTED,
            detail=f"told in {answer.response['notification_id']}",
        )
        for each, answer in zip(digests, answers, strict=True)
        if isinstance(answer, accept.AcceptedRequest)
        for row in each.rows
    ]
