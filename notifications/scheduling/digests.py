"""Digests: merge deliveries held by a frequency cap into one message.

Digests apply to types with a digest template. When the first held delivery of a recipient, type,
producer and channel comes due, all such deliveries are merged into a new notification. The digest
passes every gate and counts once against the cap. A single held delivery is released unchanged. The
digest's template is rendered first; if the variables do not match, all deliveries are released
unchanged.

Each original reaches the recipient once: by its own message or in one digest. A transaction locks
the originals, accepts the digest and suppresses the originals. A crash changes nothing, and a
concurrent sweep waits for the lock and then finds no rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson
import structlog

from notifications import clock
from notifications.intake import accept
from notifications.rules import digest, ids, request
from notifications.rules.digest import Told
from notifications.rules.lane import Mode, Priority
from notifications.rules.language.templating import Reader, RenderError
from notifications.rules.reasons import Reason
from notifications.rules.request import NotificationRequest
from notifications.rules.states import Status
from notifications.rules.transitions import SUPPRESS
from notifications.store.cached import notification_types
from notifications.store.postgres import db, secret_variables, transitions
from notifications.store.postgres.transitions import ANYONE, Move
from notifications.store.templates import template_cache
from notifications.store.templates.template_cache import TemplateVersion
from providers.contract import Channel

_log = structlog.get_logger(__name__)

_AT_ONCE: Final = 5_000
"""Maximum deliveries merged in one transaction; further deliveries go into the next digest."""

Row = dict[str, Any]
"""A row of `held_by_caps.sql`."""
_Place = tuple[int, int, str, int]
"""Producer, recipient, type, channel."""


@dataclass(frozen=True, slots=True)
class _Digest:
    """A digest to accept, with the rows it replaces."""

    asked: NotificationRequest
    rows: Sequence[Row]


def merge(held: Sequence[Mapping[str, Any]], *, bounds: Mapping[str, UUID]) -> set[UUID]:
    """Merge due deliveries and held deliveries of the same kind; returns the merged deliveries.

    Args:
        held: rows of `due.sql` that are scheduled and due.
        bounds: `floor` and `ceiling` of the ids of open rows.
    """
    templates = _templates()
    due = [row["id"] for row in held if row["reason"] == Reason.CAP]
    if not (templates and due):
        return set()
    return db.in_transaction(lambda: _merge(due, templates, bounds))


def _templates() -> dict[str, TemplateVersion]:
    """Return the published digest template by type."""
    wanted = {
        name: rule.digest_template
        for name, rule in notification_types.every().items()
        if rule.digest_template
    }
    known = template_cache.by_name(set(wanted.values())) if wanted else {}
    return {name: known[template] for name, template in wanted.items() if template in known}


def _merge(
    due: Sequence[UUID], templates: Mapping[str, TemplateVersion], bounds: Mapping[str, UUID]
) -> set[UUID]:
    found = db.rows(
        "held_by_caps",
        {
            "ids": list(due),
            "notification_ids": list({ids.notification_of(each) for each in due}),
            "types": list(templates),
            **bounds,
            "scheduled": Status.SCHEDULED,
            "cap": Reason.CAP,
            "devices": ids.MAX_DELIVERIES,
            "limit": _AT_ONCE,
        },
    )
    places: dict[_Place, list[Row]] = defaultdict(list)
    for row in found:
        places[row["producer_id"], row["recipient_id"], row["type"], row["channel"]].append(row)
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
    return set(moved)


def _digest(rows: Sequence[Row], *, template: TemplateVersion) -> _Digest | None:
    """Build a digest of rows; None for a single notification or mismatching variables."""
    moves = {
        ids.notification_of(row["id"]): Told(
            orjson.loads(row["variables"]), is_digest=row["template_id"] == template.template_id
        )
        for row in rows
    }
    first = rows[0]
    variables = digest.variables(list(moves.values()), type_=first["type"])
    if len(moves) == 1 or not _fits(template, Channel(first["channel"]), variables):
        return None
    # The digest expires with the last of its originals.
    life = max(row["expires_at"] for row in rows) - clock.now()
    body = {
        "user_id": first["user_id"],
        "type": first["type"],
        "priority": Priority.P2.name,
        "template_id": template.template_id,
        "variables": variables,
        "channels": [Channel(first["channel"]).label],
        "ttl_seconds": max(1, int(life.total_seconds())),
    }
    asked = request.own(f"digest-{first['id'].hex}", body)
    return _Digest(asked, rows) if isinstance(asked, NotificationRequest) else None


def _fits(template: TemplateVersion, channel: Channel, variables: Mapping[str, Any]) -> bool:
    """Return True if every text for the channel renders, or else its originals would be lost."""
    texts = [
        (template.text(channel, locale), Reader(locale=locale))
        for locale in template.texts.get(channel, {})
    ]
    try:
        for text, reader in texts:
            if text is None:
                return False
            text.render(variables, reader)
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
