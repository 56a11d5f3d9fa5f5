"""`/v1/inbox/{user_id}`: the inbox of a recipient, the counts, and changes for apps that poll.

Page 1 and the counts come from the state instance; page 1 is kept as the bytes of the answer. The
ETag of every answer is the version of the inbox, so that a poll with If-None-Match reads the small
entry of the counts alone.

The process remembers the ids of recipients. The kept id of an erased recipient has an inbox of
version 0, so `_read` asks the database again before an answer with version 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NoReturn, Protocol, TypeVar
from urllib.parse import quote
from zlib import crc32

import orjson
from django.db import Error
from django.utils.cache import patch_vary_headers
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import conf
from notifications.core.api import etags
from notifications.core.api.examples import MESSAGE, TAG, USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import link_header
from notifications.core.api.problems import raise_problem
from notifications.core.api.recipient_access import RecipientView, producer_id_of, recipient_id_for
from notifications.core.rules.access import BOTH
from notifications.core.rules.brand import DEFAULT, FONTS
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.scopes import Scope
from notifications.core.store.cached import brands, topic_texts
from notifications.features.inbox.api.schemas import (
    InboxAnswer,
    InboxChanges,
    InboxChangesQuery,
    InboxPageQuery,
    InboxUnreadCount,
)
from notifications.features.inbox.rows import json_of
from notifications.features.inbox.rows import reads as inbox
from notifications.features.inbox.rows.items import Cursor, InboxQuery, TooOld

_INBOX: Final = "v1/inbox/<str:user_id>"
READERS: Final = Access(Scope.INBOX_READ, BOTH, "view_recipient", TokenScope.INBOX_READ)
_USER: Final = {"user_id": USER}
_UNCHANGED: Final = Example(
    "Only if the inbox has changed", status=304, path=_USER, headers={"If-None-Match": TAG}
)
_PRIVATE: Final = {"Cache-Control": "private, no-cache"}
"""A browser may keep an answer, and asks with the ETag before each use."""
_ACCEPT_LANGUAGE: Final = OpenApiParameter(
    "Accept-Language",
    {"type": "string"},
    OpenApiParameter.HEADER,
    description="The first language is that of `category_names`, such as `de`.",
)
_LONGEST_LOCALE: Final = 35
"""Characters, as of a stored locale."""
_FIRST_PAGE: Final = InboxPageQuery()
"""The page that the state instance keeps."""
_NO_LOOKS: Final[Mapping[str, object]] = {}
_SORTED: Final = orjson.OPT_SORT_KEYS


class _Versioned(Protocol):
    @property
    def version(self) -> int: ...


Answer = TypeVar("Answer", bound=_Versioned)


@operation(
    f"GET {_INBOX}",
    "Read an inbox, newest first",
    READERS,
    InboxPageQuery,
    answers={200: InboxAnswer, 304: None},
    tag="Inbox",
    parameters=[etags.IF_NONE_MATCH, _ACCEPT_LANGUAGE],
    examples={
        "minimal": Example("The newest messages", path=_USER),
        "usual": Example(
            "Ten unread messages about orders",
            path=_USER,
            query={"unread": "true", "category": "orders", "limit": 10},
        ),
        "archived": Example(
            "Archived messages before a message",
            path=_USER,
            query={"tab": "archived", "cursor": f"3.{MESSAGE}"},
        ),
        "unchanged": _UNCHANGED,
    },
)
def get_inbox(call: Call, query: InboxPageQuery) -> Response:
    """Return a page of messages with the counts and the version of the inbox.

    A recipient without a message has an empty page with version 0. Messages that arrive later
    do not move the following pages. The ETag is that of the version, of the names and of the
    brand, whatever the page and the filters.
    """
    request, user_id = call.request, call.path["user_id"]
    looks = {"category_names": _category_names(request), "brand": _brand(request)}
    if (unchanged := _not_modified(request, user_id, looks)) is not None:
        return unchanged
    wanted = InboxQuery(
        tab=query.tab, unread=query.unread, category=query.category, group=query.group
    )
    cursor = None if query.cursor is None else Cursor.parse(query.cursor)
    recipient_id, found = _read(
        request,
        user_id,
        lambda pk: inbox.page(pk, query=wanted, cursor=cursor, limit=query.limit),
    )
    body = json_of.page(found) | looks | {"stream_url": _stream_url(user_id)}
    headers = {} if found.next is None else link_header(request, str(found.next))
    headers |= _headers(recipient_id, found.version, looks)
    answer = Response(body, headers=headers)
    patch_vary_headers(answer, ["Accept-Language"])
    return answer


@operation(
    f"GET {_INBOX}/unread-count",
    "Read the counts of an inbox",
    READERS,
    answers={200: InboxUnreadCount, 304: None},
    tag="Inbox",
    parameters=[etags.IF_NONE_MATCH],
    examples={
        "minimal": Example("The counts for a badge", path=_USER),
        "usual": _UNCHANGED,
    },
)
def get_inbox_unread_count(call: Call) -> Response:
    """Return the numbers of unread, unseen and all messages, also by category."""
    recipient_id, counts = _read(call.request, call.path["user_id"], inbox.counts)
    headers = _headers(recipient_id, counts.version)
    if etags.is_known(call.request, headers["ETag"]):
        return Response(status=304, headers=headers)
    return Response(json_of.counts(counts) | {"version": counts.version}, headers=headers)


@operation(
    f"GET {_INBOX}/changes",
    "Read the changes of an inbox since a version",
    READERS,
    InboxChangesQuery,
    answers={200: InboxChanges},
    tag="Inbox",
    examples={
        "minimal": Example("The changes since the last page", path=_USER, query={"since": 1}),
        "empty": Example(
            "The changes of an app that was just installed", path=_USER, query={"since": 0}
        ),
    },
)
def list_inbox_changes(call: Call, query: InboxChangesQuery) -> Response:
    """Return the messages that have changed since a version, in their present state.

    For apps that poll. Ask again with the returned `version`. With `reset` the changes are too
    many or too old: load the first page again. A version above the present version, from before
    a restore of the database, gets `reset` too.
    """
    recipient_id, counts = _read(call.request, call.path["user_id"], inbox.counts)
    told = {"version": counts.version, "results": [], "removed": [], "reset": False}
    told["counts"] = json_of.counts(counts)
    if query.since == counts.version:
        return Response(told)
    changes = inbox.changes({recipient_id: query.since}).get(recipient_id)
    if changes is None or isinstance(changes, TooOld):
        return Response(told | {"reset": True})
    return Response(json_of.changes(changes) | {"reset": False})


class InboxStreamView(RecipientView):
    """`/v1/inbox/{user_id}/stream` of the web process, which keeps no connections open."""

    @extend_schema(exclude=True)
    def get(self, request: Request, user_id: str) -> NoReturn:
        """Name the URL of the stream.

        Raises:
            ProblemError: always (421); 404 for an unknown recipient.
        """
        recipient_id_for(request, user_id)
        url = _stream_url(user_id)
        where = (
            f"the live process answers server-sent events: {url}"
            if url
            else "this installation has no live process (NOTIFY_LIVE_URL): poll"
            f" {request.path.removesuffix('/stream')}/changes"
        )
        raise_problem(Problem(Kind.MISDIRECTED, where))


def _read(request: Request, user_id: str, read: Callable[[int], Answer]) -> tuple[int, Answer]:
    """Read from the inbox of the path's recipient; return the recipient's id as well.

    Raises:
        ProblemError: the recipient does not exist (404).
    """
    recipient_id = recipient_id_for(request, user_id)
    answer = read(recipient_id)
    if answer.version:
        return recipient_id, answer
    present = recipient_id_for(request, user_id, renew=True)
    return present, answer if present == recipient_id else read(present)


def _not_modified(request: Request, user_id: str, looks: Mapping[str, object]) -> Response | None:
    """Return the 304 for a caller that has the present version; None for any other caller."""
    if "If-None-Match" not in request.headers:
        return None
    recipient_id, counts = _read(request, user_id, inbox.counts)
    headers = _headers(recipient_id, counts.version, looks)
    if not etags.is_known(request, headers["ETag"]):
        return None
    return Response(status=304, headers=headers)


def _headers(
    recipient_id: int, version: int, looks: Mapping[str, object] = _NO_LOOKS
) -> dict[str, str]:
    """Return the headers of an answer with a version of an inbox.

    A recipient erased and created again begins at version 1 again, but has another id. With names
    of categories or a brand the ETag has their checksum: a browser asks for another language with
    the ETag of the former one.
    """
    checksum = f"-{crc32(orjson.dumps(looks, option=_SORTED)):x}" if any(looks.values()) else ""
    return {"ETag": f'"{recipient_id:x}-{version:x}{checksum}"', **_PRIVATE}


def _category_names(request: Request) -> Mapping[str, str]:
    """Return the names of topics in the first language of the caller; empty without a language.

    A header, and not a parameter: an earlier release of the service refuses unknown parameters, and
    the component of this release may ask it during a deploy.
    """
    first = request.headers.get("Accept-Language", "").partition(",")[0].partition(";")[0].strip()
    return topic_texts.names(locale=first[:_LONGEST_LOCALE]) if first else {}


def _brand(request: Request) -> Mapping[str, str] | None:
    """Return the brand of the caller's producer; None without a brand.

    None too while the database is away, because the cached inbox is readable then.
    """
    try:
        brand = brands.of(producer_id_of(request))
    except Error:
        return None
    if brand == DEFAULT:
        return None
    return {
        "name": brand.name,
        "logo_url": brand.logo_url,
        "logo_alt": brand.logo_alt or brand.name,
        "font": FONTS[brand.font],
        "color": brand.color_on_rows,
        "color_on_dark": brand.color_on_dark,
    }


def _stream_url(user_id: str) -> str | None:
    """Return the URL of the server-sent events; None without a live process."""
    live = conf.current().live_url
    return f"{live}/v1/inbox/{quote(user_id, safe='')}/stream" if live else None
