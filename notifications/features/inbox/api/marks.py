"""Marks on the messages of an inbox: seen, read, unread, archived, snoozed, deleted.

    /v1/inbox/{user_id}/{message_id}/read    one message; 404 if the inbox has no such message
    /v1/inbox/{user_id}/read                 up to 200 messages; the answer names unknown ids
    /v1/inbox/{user_id}/read-all             all messages, of a category, up to a version

A mark may be repeated: a message that has the mark stays as it is. A mark of all messages is
several transactions in a large inbox.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, Final

from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api.base_view import raise_not_found
from notifications.core.api.examples import ANOTHER_MESSAGE, MESSAGE, SOON, USER, Example
from notifications.core.api.operation import Access, Call, Operation, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.recipient_access import recipient_id_for
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.scopes import Scope
from notifications.features.inbox import actions
from notifications.features.inbox.actions import ActionResult
from notifications.features.inbox.api.schemas import (
    LONGEST_SNOOZE,
    InboxAllRequest,
    InboxMarked,
    InboxMessagesMarked,
    InboxMessagesRequest,
    SnoozeRequest,
)
from notifications.features.inbox.rows import json_of, reads, writes
from notifications.features.inbox.rows.items import Counts
from notifications.features.inbox.rules.words import InboxAction

_INBOX: Final = "v1/inbox/<str:user_id>"
_MESSAGE: Final = f"{_INBOX}/<uuid:message_id>"
_MARKERS: Final = Access(Scope.INBOX_WRITE, token_scope=TokenScope.INBOX_WRITE)
_USER: Final = {"user_id": USER}
_FIRST: Final = {"user_id": USER, "message_id": MESSAGE}
_SECOND: Final = {"user_id": USER, "message_id": ANOTHER_MESSAGE}
_ONE: Final = Example("One message", path=_USER, body={"message_ids": [MESSAGE]})
_ALL: Final = {
    "minimal": Example("All messages", path=_USER, body={}),
    "usual": Example(
        "The messages about orders that the page shows",
        path=_USER,
        body={"category": "orders", "version": 47},
    ),
}


def _set_name(name: str, description: str) -> Callable[[Callable[..., Response]], Any]:
    """Name and describe a function that several operations share."""

    def rename(function: Callable[..., Response]) -> Callable[..., Response]:
        function.__name__, function.__doc__ = name, description
        return function

    return rename


def _of_message(
    name: str, action: InboxAction, summary: str, description: str, *, example: str
) -> Operation:
    """Declare the mark of one message."""

    @operation(
        f"POST {_MESSAGE}/{action}",
        summary,
        _MARKERS,
        answers={200: InboxMarked},
        tag="Inbox",
        is_idempotent=False,
        examples={
            "minimal": Example(example, path=_FIRST),
            "another": Example("Another message", path=_SECOND),
        },
    )
    @_set_name(name, description)
    def mark(call: Call) -> Response:
        return _mark_message(call, action)

    return mark


def _of_messages(
    name: str, action: InboxAction, summary: str, description: str, *, example: str
) -> Operation:
    """Declare the mark of several messages."""

    @operation(
        f"POST {_INBOX}/{action}",
        summary,
        _MARKERS,
        InboxMessagesRequest,
        answers={200: InboxMessagesMarked},
        tag="Inbox",
        is_idempotent=False,
        examples={
            "minimal": _ONE,
            "usual": Example(example, path=_USER, body={"message_ids": [MESSAGE, ANOTHER_MESSAGE]}),
        },
    )
    @_set_name(name, f"{description} The answer names the ids that are not in this inbox.")
    def mark(call: Call, wanted: InboxMessagesRequest) -> Response:
        recipient_id = _recipient_id(call)
        known = reads.items(recipient_id, wanted.message_ids)
        counts = writes.mark(recipient_id, action, ids=list(known))
        unknown = [each for each in dict.fromkeys(wanted.message_ids) if each not in known]
        return Response(_mark_answer(counts) | {"unknown": unknown})

    return mark


def _of_all(name: str, action: InboxAction, summary: str, description: str) -> Operation:
    """Declare the mark of all messages."""

    @operation(
        f"POST {_INBOX}/{action}-all",
        summary,
        _MARKERS,
        InboxAllRequest,
        answers={200: InboxMarked},
        tag="Inbox",
        is_idempotent=False,
        examples=_ALL,
    )
    @_set_name(name, description)
    def mark(call: Call, wanted: InboxAllRequest) -> Response:
        counts = writes.mark(
            _recipient_id(call), action, category=wanted.category, until_version=wanted.version
        )
        return Response(_mark_answer(counts))

    return mark


mark_message_seen: Final = _of_message(
    "mark_message_seen",
    InboxAction.SEEN,
    "Mark a message as seen",
    "The message was on a screen. The delivery becomes `delivered`.",
    example="The message is on the screen",
)
mark_message_read: Final = _of_message(
    "mark_message_read",
    InboxAction.READ,
    "Mark a message as read",
    "The person opened the message. The message counts as seen too; the delivery becomes `read`.",
    example="The person opened the message",
)
mark_message_unread: Final = _of_message(
    "mark_message_unread",
    InboxAction.UNREAD,
    "Mark a message as unread",
    "The message counts as unread again. The message stays seen, and the delivery stays `read`.",
    example="The person will read the message again",
)
archive_message: Final = _of_message(
    "archive_message",
    InboxAction.ARCHIVE,
    "Archive a message",
    "The message moves to the tab `archived` and leaves the counts.",
    example="The person is done with the message",
)
unarchive_message: Final = _of_message(
    "unarchive_message",
    InboxAction.UNARCHIVE,
    "Bring back an archived message",
    "The message moves back to the tab `inbox`.",
    example="The message is needed again",
)
unsnooze_message: Final = _of_message(
    "unsnooze_message",
    InboxAction.UNSNOOZE,
    "End the snooze of a message",
    "The message comes back to the tab `inbox` now.",
    example="The message comes back now",
)
mark_messages_seen: Final = _of_messages(
    "mark_messages_seen",
    InboxAction.SEEN,
    "Mark messages as seen",
    "The messages were on a screen.",
    example="The messages on the screen",
)
mark_messages_read: Final = _of_messages(
    "mark_messages_read",
    InboxAction.READ,
    "Mark messages as read",
    "The messages count as seen too.",
    example="The messages of a group",
)
archive_messages: Final = _of_messages(
    "archive_messages",
    InboxAction.ARCHIVE,
    "Archive messages",
    "The messages move to the tab `archived`.",
    example="The selected messages",
)
mark_all_messages_seen: Final = _of_all(
    "mark_all_messages_seen",
    InboxAction.SEEN,
    "Mark all messages as seen",
    "The messages of the tab `inbox` count as seen. A large inbox is marked in several"
    " transactions; after an error, repeat the request to mark the rest.",
)
mark_all_messages_read: Final = _of_all(
    "mark_all_messages_read",
    InboxAction.READ,
    "Mark all messages as read",
    "The messages of the tab `inbox` count as read. Give the `version` of the page that the person"
    " sees, so that a message which arrived later stays unread.",
)
archive_all_messages: Final = _of_all(
    "archive_all_messages",
    InboxAction.ARCHIVE,
    "Archive all messages",
    "The messages of the tab `inbox` move to the tab `archived`, unread messages too.",
)


@operation(
    f"POST {_MESSAGE}/{InboxAction.SNOOZE}",
    "Snooze a message",
    _MARKERS,
    SnoozeRequest,
    answers={200: InboxMarked},
    tag="Inbox",
    is_idempotent=False,
    examples={
        "minimal": Example(
            "The message comes back on the next morning", path=_FIRST, body={"until": SOON}
        ),
        "another": Example("Another message", path=_SECOND, body={"until": SOON}),
    },
)
def snooze_message(call: Call, wanted: SnoozeRequest) -> Response:
    """Move the message to the tab `snoozed` until an instant, at most 30 days ahead.

    At the instant the message comes back to the tab `inbox`. A second call changes the instant.
    """
    now = clock.now()
    if not now < wanted.until <= now + LONGEST_SNOOZE:
        said = f"must be in the future and at most {LONGEST_SNOOZE.days} days ahead"
        raise_problem(Problem(Kind.INVALID, f"until: {said}", (FieldError("/until", said),)))
    return _mark_message(call, InboxAction.SNOOZE, snoozed_until=wanted.until)


@operation(
    f"DELETE {_MESSAGE}",
    "Delete a message from an inbox",
    _MARKERS,
    answers={200: InboxMarked},
    tag="Inbox",
    examples={
        "minimal": Example("The person deletes the message", path=_FIRST),
        "another": Example("Another message", path=_SECOND),
    },
)
def delete_message(call: Call) -> Response:
    """Remove the message from all tabs for good. The notification and its timeline stay.

    A repeat is 200 as well, until the retention deletes the record of the message.
    """
    recipient_id = _recipient_id(call)
    if reads.is_removed(recipient_id, call.path["message_id"]):
        return Response(_mark_answer(reads.counts(recipient_id)))
    return _mark_message(call, InboxAction.DELETE)


@operation(
    f"POST {_MESSAGE}/actions/<str:action_id>",
    "Report the press of a button",
    _MARKERS,
    answers={200: InboxMarked},
    tag="Inbox",
    is_idempotent=False,
    examples={
        "minimal": Example(
            "The person accepted an invitation", path={**_FIRST, "action_id": "accept"}
        ),
        "another": Example(
            "The person declined another invitation", path={**_SECOND, "action_id": "decline"}
        ),
    },
)
def record_message_action(call: Call) -> Response:
    """Record that the person pressed a button of the message, and mark the message as read.

    For buttons without a `url`. The producer of the message learns of the press by the webhook
    `inbox.action`; a repeat sends no second webhook.
    """
    recipient_id = _recipient_id(call)
    result = actions.record(recipient_id, call.path["message_id"], call.path["action_id"])
    if result is not ActionResult.RECORDED:
        raise_not_found("action" if result is ActionResult.UNKNOWN_ACTION else "message")
    return Response(_mark_answer(reads.counts(recipient_id)))


def _recipient_id(call: Call) -> int:
    return recipient_id_for(call.request, call.path["user_id"], renew=True)


def _mark_message(
    call: Call, action: InboxAction, *, snoozed_until: dt.datetime | None = None
) -> Response:
    """Mark one message.

    Raises:
        ProblemError: the message is not in the inbox (404).
    """
    recipient_id, message_id = _recipient_id(call), call.path["message_id"]
    if not reads.items(recipient_id, [message_id]):
        raise_not_found("message")
    counts = writes.mark(recipient_id, action, ids=[message_id], snoozed_until=snoozed_until)
    return Response(_mark_answer(counts))


def _mark_answer(counts: Counts) -> dict[str, Any]:
    return {"counts": json_of.counts(counts), "version": counts.version}
