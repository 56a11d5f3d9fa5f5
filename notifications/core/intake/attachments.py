"""Attachments of new requests: look-up of the uploaded files, checks, and links to recipients.

    look_up    before the checks: the files of all requests; their deletion moves to a later time
    problem    the first fault of a request's attachments, together with those of its template
    column     the attachments for the row of the notification
    link       with the rows: the recipient of each file, for the erasure of the recipient

The feature `features.attachments` has the files. Without the feature each request with attachments
is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from notifications.core.gate import Place, function_at
from notifications.core.rules import attachments
from notifications.core.rules.attachments import Attachment, FileKey, FileUse, StoredFile
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import NotificationRequest
from notifications.core.store.templates.template_cache import TemplateVersion
from providers.contract import Channel

Files = Mapping[FileKey, StoredFile]

KEPT: Final[Sequence[Callable[..., Files]]] = (*function_at(Place.ATTACHMENTS_KEPT),)
LIMITS: Final[Sequence[Callable[..., int]]] = (*function_at(Place.ATTACHMENTS_LIMIT),)
USED: Final[Sequence[Callable[[Collection[FileUse]], Collection[FileUse]]]] = (
    *function_at(Place.ATTACHMENTS_USED),
)
_NO_IMAGES: Final = (
    "no provider of e-mails shows attached images in the HTML: give the image a URL, or leave"
    " inline_id out to attach the image"
)
_UNKNOWN: Final = ("id", "is no uploaded file of this producer and mode: POST /v1/attachments")


GONE: Final = Problem(
    Kind.CONFLICT,
    "an attachment or its recipient was deleted during the request; upload the file again",
)


class FilesGone(Exception):
    """Files were deleted, or recipients erased, after the checks; `uses` names them.

    Store the other requests again, and answer the requests of `uses` with `GONE`.
    """

    def __init__(self, uses: Collection[FileUse]) -> None:
        """Keep the uses without file or recipient."""
        super().__init__(f"{len(uses)} uses of files")
        self.uses = frozenset(uses)


def keys_of(producer_id: int, mode: Mode, request: NotificationRequest) -> list[FileKey]:
    """Return the keys of the files that a request names, in order."""
    return [FileKey(producer_id, mode, each.id) for each in request.attachments]


def look_up(wanted: Collection[FileKey], *, recipients: Collection[int]) -> Files:
    """Return the existing files, and keep each as long as a notification of now."""
    found: dict[FileKey, StoredFile] = {}
    if wanted:
        for keep in KEPT:
            found |= keep(wanted, recipients=recipients)
    return found


def problem(
    request: NotificationRequest,
    keys: Sequence[FileKey],
    files: Files,
    template: TemplateVersion | None,
) -> Problem | None:
    """Return the first fault of the attachments of a request that has some.

    Args:
        request: the request.
        keys: the keys of its files, in order.
        files: the existing files.
        template: the template of the request, whose files the e-mail has as well.
    """
    if not KEPT:
        return _invalid("", "this service has no attachments: send the text alone")
    channels = list(request.channels_in_order or (template.texts if template else ()))
    if channels and Channel.EMAIL not in channels:
        return _invalid("", "need the channel email, which alone has attachments")
    for position, (wanted, key) in enumerate(zip(request.attachments, keys, strict=True)):
        fault = attachments.name_fault(wanted, files[key].type) if key in files else _UNKNOWN
        if fault is not None:
            return _invalid(f"/{position}/{fault[0]}", fault[1])
    others = template.attachments if template else ()
    return _clash(request, others) or _size_problem(request, keys, files, others)


def _size_problem(
    request: NotificationRequest,
    keys: Sequence[FileKey],
    files: Files,
    others: Sequence[Attachment],
) -> Problem | None:
    """Return the problem of files that no provider takes, together with those of the template."""
    images = [place for place, each in enumerate(request.attachments) if each.inline_id]
    if images and not _most_bytes(keys[0].mode, with_images=True):
        return _invalid(f"/{images[0]}/inline_id", _NO_IMAGES)
    size = sum(files[key].size for key in keys) + attachments.size_of(others)
    has_images = bool(images) or any(each.inline_id for each in others)
    most = _most_bytes(keys[0].mode, with_images=has_images)
    if size <= most:
        return None
    whose = " with those of the template" if others else ""
    said = f"have {size} bytes together{whose}, at most {most}: link to the file instead"
    return _invalid("", said)


def _clash(request: NotificationRequest, others: Sequence[Attachment]) -> Problem | None:
    """Return the fault of attachments that cannot be sent together with those of the template."""
    for field in ("name", "inline_id") if others else ():
        taken = {getattr(each, field) for each in others} - {""}
        for position, each in enumerate(request.attachments):
            if getattr(each, field) in taken:
                said = f"an attachment of the template has this {field}"
                return _invalid(f"/{position}/{field}", said)
    if (count := len(request.attachments) + len(others)) > attachments.MOST:
        said = f"are {count} with those of the template, at most {attachments.MOST}"
        return _invalid("", said)
    return None


def _most_bytes(mode: Mode, *, with_images: bool) -> int:
    return min(limit(mode, with_images=with_images) for limit in LIMITS)


def column(
    request: NotificationRequest,
    keys: Sequence[FileKey],
    files: Files,
    of_template: Sequence[Attachment],
) -> str | None:
    """Return the attachments of a checked request for the row of the notification."""
    pairs = zip(request.attachments, keys, strict=True)
    return attachments.write([
        *(Attachment.of(wanted, files[key]) for wanted, key in pairs),
        *of_template,
    ])


def warnings(channels: Iterable[Channel]) -> list[FieldError]:
    """Return a warning about the channels that leave without the attachments of a request."""
    others = sorted({each.label for each in channels} - {Channel.EMAIL.label})
    if not others:
        return []
    said = f"the message leaves without the attachments by {', '.join(others)}"
    return [FieldError("/attachments", said)]


def link(uses: Collection[FileUse]) -> None:
    """Store the recipients of files, in the transaction of the new rows.

    Raises:
        FilesGone: files or recipients were deleted meanwhile; the caller undoes the transaction.
    """
    gone = [each for use in USED if uses for each in use(uses)]
    if gone:
        raise FilesGone(gone)


def _invalid(pointer: str, said: str) -> Problem:
    place = f"/attachments{pointer}"
    return Problem(Kind.INVALID, f"{place}: {said}", (FieldError(place, said),))
