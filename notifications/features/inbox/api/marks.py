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
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api.base_view import parse_body, raise_not_found
from notifications.core.api.problems import raise_problem
from notifications.core.api.recipient_access import RecipientView, recipient_id_for
from notifications.core.rules.problems import FieldError, Kind, Problem
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

View = TypeVar("View", bound=RecipientView)


class _MessageView(RecipientView):
    """Marks one message."""

    action: ClassVar[InboxAction]

    def post(self, request: Request, user_id: str, message_id: UUID) -> Response:
        """Mark the message."""
        return _mark_message(request, user_id, message_id, self.action)


class _MessagesView(RecipientView):
    """Marks several messages."""

    action: ClassVar[InboxAction]

    def post(self, request: Request, user_id: str) -> Response:
        """Mark the messages."""
        wanted = parse_body(request.data, InboxMessagesRequest)
        recipient_id = recipient_id_for(request, user_id, renew=True)
        known = reads.items(recipient_id, wanted.message_ids)
        counts = writes.mark(recipient_id, self.action, ids=list(known))
        unknown = [each for each in dict.fromkeys(wanted.message_ids) if each not in known]
        return Response(_marked(counts) | {"unknown": unknown})


class _AllView(RecipientView):
    """Marks all messages."""

    action: ClassVar[InboxAction]

    def post(self, request: Request, user_id: str) -> Response:
        """Mark all messages."""
        wanted = parse_body(request.data, InboxAllRequest)
        recipient_id = recipient_id_for(request, user_id, renew=True)
        counts = writes.mark(
            recipient_id, self.action, category=wanted.category, until_version=wanted.version
        )
        return Response(_marked(counts))


def _documented(
    operation_id: str,
    summary: str,
    description: str,
    *,
    request: Any = None,  # noqa: ANN401 - a schema or None
) -> Callable[[type[View]], type[View]]:
    """Describe the `post` of a view in the OpenAPI document."""
    answer = InboxMessagesMarked if request is InboxMessagesRequest else InboxMarked
    return extend_schema_view(
        post=extend_schema(
            operation_id=operation_id,
            summary=summary,
            description=description,
            request=request,
            responses={200: answer},
            tags=["Inbox"],
        )
    )


@_documented(
    "mark_message_seen",
    "Mark a message as seen",
    "The message was on a screen. The delivery becomes `delivered`.",
)
class MessageSeenView(_MessageView):
    """`/v1/inbox/{user_id}/{message_id}/seen`."""

    action = InboxAction.SEEN


@_documented(
    "mark_message_read",
    "Mark a message as read",
    "The person opened the message. The message counts as seen too; the delivery becomes `read`.",
)
class MessageReadView(_MessageView):
    """`/v1/inbox/{user_id}/{message_id}/read`."""

    action = InboxAction.READ


@_documented(
    "mark_message_unread",
    "Mark a message as unread",
    "The message counts as unread again. The message stays seen, and the delivery stays `read`.",
)
class MessageUnreadView(_MessageView):
    """`/v1/inbox/{user_id}/{message_id}/unread`."""

    action = InboxAction.UNREAD


@_documented(
    "archive_message",
    "Archive a message",
    "The message moves to the tab `archived` and leaves the counts.",
)
class MessageArchiveView(_MessageView):
    """`/v1/inbox/{user_id}/{message_id}/archive`."""

    action = InboxAction.ARCHIVE


@_documented(
    "unarchive_message",
    "Bring back an archived message",
    "The message moves back to the tab `inbox`.",
)
class MessageUnarchiveView(_MessageView):
    """`/v1/inbox/{user_id}/{message_id}/unarchive`."""

    action = InboxAction.UNARCHIVE


@_documented(
    "unsnooze_message",
    "End the snooze of a message",
    "The message comes back to the tab `inbox` now.",
)
class MessageUnsnoozeView(_MessageView):
    """`/v1/inbox/{user_id}/{message_id}/unsnooze`."""

    action = InboxAction.UNSNOOZE


class MessageSnoozeView(RecipientView):
    """`/v1/inbox/{user_id}/{message_id}/snooze`."""

    @extend_schema(
        operation_id="snooze_message",
        summary="Snooze a message",
        request=SnoozeRequest,
        responses={200: InboxMarked},
        tags=["Inbox"],
    )
    def post(self, request: Request, user_id: str, message_id: UUID) -> Response:
        """Move the message to the tab `snoozed` until an instant, at most 30 days ahead.

        At the instant the message comes back to the tab `inbox`. A second call changes the instant.
        """
        until = parse_body(request.data, SnoozeRequest).until
        now = clock.now()
        if not now < until <= now + LONGEST_SNOOZE:
            said = f"must be in the future and at most {LONGEST_SNOOZE.days} days ahead"
            raise_problem(Problem(Kind.INVALID, f"until: {said}", (FieldError("/until", said),)))
        return _mark_message(request, user_id, message_id, InboxAction.SNOOZE, snoozed_until=until)


class MessageDetailView(RecipientView):
    """`/v1/inbox/{user_id}/{message_id}`: delete a message."""

    @extend_schema(
        operation_id="delete_message",
        summary="Delete a message from an inbox",
        responses={200: InboxMarked},
        tags=["Inbox"],
    )
    def delete(self, request: Request, user_id: str, message_id: UUID) -> Response:
        """Remove the message from all tabs for good. The notification and its timeline stay.

        A repeat is 200 as well, until the retention deletes the record of the message.
        """
        recipient_id = recipient_id_for(request, user_id, renew=True)
        if reads.is_removed(recipient_id, message_id):
            return Response(_marked(reads.counts(recipient_id)))
        return _mark_message(request, user_id, message_id, InboxAction.DELETE)


class MessageActionView(RecipientView):
    """`/v1/inbox/{user_id}/{message_id}/actions/{action_id}`."""

    @extend_schema(
        operation_id="record_message_action",
        summary="Report the press of a button",
        request=None,
        responses={200: InboxMarked},
        tags=["Inbox"],
    )
    def post(self, request: Request, user_id: str, message_id: UUID, action_id: str) -> Response:
        """Record that the person pressed a button of the message, and mark the message as read.

        For buttons without a `url`. The producer of the message learns of the press by the webhook
        `inbox.action`; a repeat sends no second webhook.
        """
        recipient_id = recipient_id_for(request, user_id, renew=True)
        result = actions.record(recipient_id, message_id, action_id)
        if result is not ActionResult.RECORDED:
            raise_not_found("action" if result is ActionResult.UNKNOWN_ACTION else "message")
        return Response(_marked(reads.counts(recipient_id)))


@_documented(
    "mark_messages_seen",
    "Mark messages as seen",
    "The messages were on a screen. The answer names the ids that are not in this inbox.",
    request=InboxMessagesRequest,
)
class MessagesSeenView(_MessagesView):
    """`/v1/inbox/{user_id}/seen`."""

    action = InboxAction.SEEN


@_documented(
    "mark_messages_read",
    "Mark messages as read",
    "The messages count as seen too. The answer names the ids that are not in this inbox.",
    request=InboxMessagesRequest,
)
class MessagesReadView(_MessagesView):
    """`/v1/inbox/{user_id}/read`."""

    action = InboxAction.READ


@_documented(
    "archive_messages",
    "Archive messages",
    "The messages move to the tab `archived`. The answer names the ids that are not in this inbox.",
    request=InboxMessagesRequest,
)
class MessagesArchiveView(_MessagesView):
    """`/v1/inbox/{user_id}/archive`."""

    action = InboxAction.ARCHIVE


@_documented(
    "mark_all_messages_seen",
    "Mark all messages as seen",
    "The messages of the tab `inbox` count as seen. A large inbox is marked in several"
    " transactions; after an error, repeat the request to mark the rest.",
    request=InboxAllRequest,
)
class AllSeenView(_AllView):
    """`/v1/inbox/{user_id}/seen-all`."""

    action = InboxAction.SEEN


@_documented(
    "mark_all_messages_read",
    "Mark all messages as read",
    "The messages of the tab `inbox` count as read. Give the `version` of the page that the person"
    " sees, so that a message which arrived later stays unread.",
    request=InboxAllRequest,
)
class AllReadView(_AllView):
    """`/v1/inbox/{user_id}/read-all`."""

    action = InboxAction.READ


@_documented(
    "archive_all_messages",
    "Archive all messages",
    "The messages of the tab `inbox` move to the tab `archived`, unread messages too.",
    request=InboxAllRequest,
)
class AllArchiveView(_AllView):
    """`/v1/inbox/{user_id}/archive-all`."""

    action = InboxAction.ARCHIVE


def _mark_message(
    request: Request,
    user_id: str,
    message_id: UUID,
    action: InboxAction,
    *,
    snoozed_until: dt.datetime | None = None,
) -> Response:
    """Mark one message.

    Raises:
        ProblemError: the message is not in the inbox (404).
    """
    recipient_id = recipient_id_for(request, user_id, renew=True)
    if not reads.items(recipient_id, [message_id]):
        raise_not_found("message")
    counts = writes.mark(recipient_id, action, ids=[message_id], snoozed_until=snoozed_until)
    return Response(_marked(counts))


def _marked(counts: Counts) -> dict[str, Any]:
    return {"counts": json_of.counts(counts), "version": counts.version}
