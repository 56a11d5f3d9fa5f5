"""Downloads of the attachments of a message, for operators with the right to see addresses.

A file can have any personal value of its recipient, and no value in the file is masked. Each
download writes an audit entry with the digest, and without the name, which no erasure deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import content_disposition_header

from notifications.core.admin import addresses
from notifications.core.admin.audited import name_of
from notifications.core.delivery import attached
from notifications.core.models import Notification
from notifications.core.rules import attachments
from notifications.core.rules.attachments import Attachment
from notifications.core.store.postgres import audit

_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
"""A browser that shows the file in spite of its disposition runs no script of the file, and takes
the file for no page of this site."""


class FileGone(Exception):
    """The service no longer has the content; the message is a sentence for operators."""


def shown(request: HttpRequest, notification: Notification) -> Sequence[Attachment]:
    """Return the attachments of a message; addresses in names are masked for most operators."""
    return [
        each._replace(name=addresses.text_for(request, each.name))
        for each in attachments.read(notification.attachments)
    ]


def answer(request: HttpRequest, notification: Notification) -> HttpResponse:
    """Return the attachment at the place in the query, from 0, and write an audit entry.

    Raises:
        Http404: the message has no such attachment.
        FileGone: see there.
    """
    asked = request.GET.get("place", "")
    files = {
        str(place): each for place, each in enumerate(attachments.read(notification.attachments))
    }
    if asked not in files:
        raise Http404
    file = files[asked]
    content = attached.content_of(file)
    if content is None:
        raise FileGone(
            f"The service no longer has {file.name}: a file is deleted after its last message."
        )
    told = {"digest": file.digest, "size": file.size}
    audit.record(name_of(request), "download_attachment", notification, after=told)
    response = HttpResponse(content, content_type=file.type, headers=_HEADERS)
    response["Content-Disposition"] = content_disposition_header(
        as_attachment=True, filename=file.name
    )
    return response
