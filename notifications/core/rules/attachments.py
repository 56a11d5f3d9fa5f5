"""Attachments of e-mails: the files that a request names, and the files of a stored notification.

A producer uploads a file once and names its id in any number of requests. A notification stores
what the file is, and never the content: the content is read for the provider call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple, Self
from uuid import UUID

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from notifications.core.rules import request_faults
from notifications.core.rules.lane import Mode
from providers.contract import Channel

MOST: Final = 10
"""Attachments of a notification."""
_LONGEST_NAME: Final = 120
"""Characters; a longer name needs continued parameters in some mail programs."""
ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "application/pdf": ("pdf",),
    "image/png": ("png",),
    "image/jpeg": ("jpg", "jpeg"),
    "image/gif": ("gif",),
    "image/webp": ("webp",),
    "text/plain": ("txt",),
    "text/csv": ("csv",),
    "text/calendar": ("ics",),
    "text/vcard": ("vcf",),
    "application/json": ("json",),
    "application/vnd.apple.pkpass": ("pkpass",),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("docx",),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ("xlsx",),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ("pptx",),
    "application/vnd.oasis.opendocument.text": ("odt",),
    "application/vnd.oasis.opendocument.spreadsheet": ("ods",),
}
"""Permitted media type -> permitted endings of the file name.

No type is a program, a web page or an archive of any files: mail servers refuse such attachments
(https://support.google.com/mail/answer/6590), and the names of the others cannot end like one."""
_UNSAFE: Final = re.compile(
    r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u200b-\u200f\u2028-\u202e\u2066-\u2069]'
)
"""Control characters, characters that a file system refuses, and marks that reverse the shown order
of a name."""
_INLINE_ID: Final = r"^[A-Za-z0-9_\-]+$"


def _file_name(name: str) -> str:
    if _UNSAFE.search(name) or name.strip(". ") != name:
        msg = (
            'must be a file name without a path: no control characters and none of / \\ : * ? " < >'
            " |, and no dot or space at its ends"
        )
        raise ValueError(msg)
    return name


class RequestedAttachment(BaseModel):
    """An uploaded file, to be sent with an e-mail."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    id: UUID
    """The `id` that the upload was answered with."""
    name: Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME), AfterValidator(_file_name)]
    """The file name that the recipient sees, such as `invoice.pdf`. The ending must fit the type of
    the uploaded file."""
    inline_id: Annotated[str, Field(max_length=64, pattern=_INLINE_ID)] | None = None
    """For an image that the HTML shows as `<img src="cid:INLINE_ID">`."""


def _differing(wanted: list[RequestedAttachment]) -> list[RequestedAttachment]:
    """Check that the names of a request differ, and the ids of its inline images.

    Raises:
        error_at: the fault at its place, as a sentence for the caller.
    """
    for field in ("name", "inline_id"):
        seen: set[str] = set()
        for position, each in enumerate(wanted):
            value = getattr(each, field)
            if value is not None and value in seen:
                said = f"another attachment has this {field}"
                raise request_faults.error_at(said, position, field)
            seen.add(value)
    return wanted


RequestedAttachments = Annotated[
    list[RequestedAttachment], Field(max_length=MOST), AfterValidator(_differing)
]


class StoredFile(NamedTuple):
    """An uploaded file without its content."""

    id: UUID
    type: str
    """Media type, such as `application/pdf`."""
    size: int
    """Bytes of the content."""
    digest: str
    """SHA-256 of the content, in hexadecimal digits."""


class FileKey(NamedTuple):
    """An uploaded file of a producer in a mode."""

    producer_id: int
    mode: Mode
    id: UUID


class FileUse(NamedTuple):
    """A file of a new notification, and the recipient of the notification."""

    id: UUID
    recipient_id: int


class Attachment(NamedTuple):
    """An attachment of a stored notification."""

    id: UUID
    name: str
    type: str
    size: int
    digest: str
    inline_id: str = ""

    @classmethod
    def of(cls, wanted: RequestedAttachment, stored: StoredFile) -> Self:
        """Join the wish of a request with the uploaded file."""
        return cls(name=wanted.name, inline_id=wanted.inline_id or "", **stored._asdict())


def write(attachments: Sequence[Attachment]) -> str | None:
    """Return attachments as JSON for the row of the notification; None without attachments."""
    if not attachments:
        return None
    return orjson.dumps([each._asdict() for each in attachments]).decode()


def read(stored: Sequence[Mapping[str, Any]] | None) -> tuple[Attachment, ...]:
    """Return the attachments of the decoded JSON of a row; none for None."""
    return tuple(
        Attachment(
            id=UUID(each["id"]),
            name=each["name"],
            type=each["type"],
            size=each["size"],
            digest=each["digest"],
            inline_id=each.get("inline_id", ""),
        )
        for each in stored or ()
    )


def size_of(attachments: Sequence[Attachment]) -> int:
    """Return the bytes of all contents together."""
    return sum(each.size for each in attachments)


def request_fields(stored: Sequence[Mapping[str, Any]] | None, channel: Channel) -> dict[str, Any]:
    """Return the field of a request on a channel that asks for the attachments of a row again."""
    if channel is not Channel.EMAIL:
        return {}
    wanted = [
        {"id": str(each.id), "name": each.name}
        | ({"inline_id": each.inline_id} if each.inline_id else {})
        for each in read(stored)
    ]
    return {"attachments": wanted} if wanted else {}


def name_fault(wanted: RequestedAttachment, type_: str) -> tuple[str, str] | None:
    """Return the field that does not fit the type of the uploaded file, and a sentence."""
    endings = ENDINGS[type_]
    if wanted.name.lower().rpartition(".")[2] not in endings or "." not in wanted.name:
        ways = " or ".join(f".{each}" for each in endings)
        return "name", f"must end with {ways}, because the file was uploaded as {type_}"
    if wanted.inline_id is not None and not type_.startswith("image/"):
        return "inline_id", f"is for an image, and the file was uploaded as {type_}"
    return None
