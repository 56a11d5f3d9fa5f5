"""Snapshots: the recipients of an expression at one time, as a recipient list.

The expression is stored with its saved audiences replaced, and read page by page; each page is a
transaction with the cursor. A process that is killed loses a page at most, which the next run reads
again. A change of a recipient between two pages counts if the recipient is on a later page.
"""

from __future__ import annotations

from typing import Final

from notifications.core.models import RecipientList
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListKind
from notifications.features.audiences import uploads
from notifications.features.audiences.rows import members, recipient_lists
from notifications.features.audiences.rows.resolve import resolve
from notifications.features.audiences.rules import canonical, parse
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.audiences.rules.nodes import Expression

PAGE: Final = 5_000
"""Recipients of a page."""


def begin(expression: Expression, *, mode: Mode, name: str, by: str) -> RecipientList:
    """Create a snapshot, which the sweep `audiences` fills.

    Raises:
        ExpressionError: a name in the expression does not exist.
    """
    resolved = resolve(expression, mode=mode)
    first, last = members.bounds(resolved.stored, mode=mode)
    return uploads.begin(
        mode=mode,
        kind=ListKind.SNAPSHOT,
        name=name,
        by=by,
        expression=canonical.to_json(resolved.stored),
        cursor=max(0, first - 1),
        until=last,
    )


def advance(snapshot: RecipientList) -> bool:
    """Add one page to a snapshot; return True if the snapshot is complete. Safe to repeat."""
    mode = Mode(snapshot.mode)
    try:
        found = members.page(
            parse.parse(snapshot.expression),
            mode=mode,
            after=snapshot.cursor,
            until=snapshot.until,
            limit=PAGE,
        )
        is_last = len(found) < PAGE
        new = snapshot.until if is_last else found[-1].recipient_id
        is_added = recipient_lists.add_members(snapshot.pk, found, old=snapshot.cursor, new=new)
    except ExpressionError as error:
        recipient_lists.fail(snapshot.pk, reason=str(error))
        return True
    except recipient_lists.ListEnded:
        return True
    snapshot.refresh_from_db()
    if not (is_added and is_last):  # another process has added a page, and goes on
        return False
    recipient_lists.finish(snapshot.pk)
    return True
