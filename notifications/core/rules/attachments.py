"""Attachments of e-mails: the files of a request, of a template, and of a stored notification.

A producer uploads a file once and names its id in any number of requests. A version of a template
names the digests of its files, which each e-mail of the version has. A notification stores the
names and types of the files, and never the contents: the contents are read for the provider call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple, Self, TypeVar
from uuid import UUID, uuid5

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from notifications.core.rules import request_faults
from notifications.core.rules.lane import Mode
from providers.contract import Channel

MOST: Final = 10
"""Attachments of a notification, with those of its template."""
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
_TEMPLATE_FILE_IDS: Final = UUID("6a1c7ad5-7d0f-4c8e-9f0b-5b1f0f6d2a53")
"""Namespace of the ids of contents that templates have."""


def _file_name(name: str) -> str:
    if _UNSAFE.search(name) or name.strip(". ") != name:
        msg = (
            'must be a file name without a path: no control characters and none of / \\ : * ? " < >'
            " |, and no dot or space at its ends"
        )
        raise ValueError(msg)
    return name


FileName = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME), AfterValidator(_file_name)]
InlineId = Annotated[str, Field(max_length=64, pattern=_INLINE_ID)]


class RequestedAttachment(BaseModel):
    """An uploaded file, to be sent with an e-mail."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    id: UUID
    """The `id` that the upload was answered with."""
    name: FileName
    """The file name that the recipient sees, such as `invoice.pdf`. The ending must fit the type of
    the uploaded file."""
    inline_id: InlineId | None = None
    """For an image that the HTML shows as `<img src="cid:INLINE_ID">`."""


class TemplateFile(BaseModel):
    """A file of a version of a template, as the version stores it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: FileName
    type: Annotated[str, Field(max_length=100)]
    size: Annotated[int, Field(ge=1, le=2**31 - 1)]
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    inline_id: InlineId | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.type not in ENDINGS:
            raise request_faults.error_at(f"must be one of {', '.join(ENDINGS)}", "type")
        if fault := name_fault(self, self.type):
            raise request_faults.error_at(fault[1], fault[0])
        return self


def template_file_id(digest: str, type_: str) -> UUID:
    """Return the id of a content that templates have; the same in each installation.

    Args:
        digest: SHA-256 in hexadecimal digits.
        type_: media type.
    """
    return uuid5(_TEMPLATE_FILE_IDS, f"{digest} {type_}")


_Named = TypeVar("_Named", RequestedAttachment, TemplateFile)


def _differing(wanted: list[_Named]) -> list[_Named]:
    """Check that the names of a list differ, and the ids of its inline images.

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
_TEMPLATE_FILES: Final = TypeAdapter[list[TemplateFile]](
    Annotated[list[TemplateFile], Field(max_length=MOST), AfterValidator(_differing)]
)


class WrongFiles(ValueError):
    """The attachments of a template cannot be used; the message names the place and the fault."""


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
    of_template: bool = False
    """The file is of the template, and not of the request."""

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
            of_template=each.get("of_template", False),
        )
        for each in stored or ()
    )


def template_files(stored: object) -> list[TemplateFile]:
    """Return the files in the decoded JSON of a version of a template.

    Raises:
        WrongFiles: the JSON has another form, or the files cannot be sent together.
    """
    try:
        return _TEMPLATE_FILES.validate_python(stored)
    except ValidationError as error:
        first = request_faults.invalid(error).errors[0]
        raise WrongFiles(f"attachments{first.pointer}: {first.detail}") from None


def write_template_files(files: Sequence[TemplateFile]) -> list[dict[str, Any]]:
    """Return the JSON values that a version of a template stores."""
    return [each.model_dump(exclude_none=True) for each in files]


def of_template(stored: Sequence[Mapping[str, Any]]) -> tuple[Attachment, ...]:
    """Return the files in the decoded JSON of a version as the attachments of a notification."""
    return tuple(
        Attachment(
            id=template_file_id(each["digest"], each["type"]),
            name=each["name"],
            type=each["type"],
            size=each["size"],
            digest=each["digest"],
            inline_id=each.get("inline_id", ""),
            of_template=True,
        )
        for each in stored
    )


def size_of(attachments: Sequence[Attachment]) -> int:
    """Return the bytes of all contents together."""
    return sum(each.size for each in attachments)


def request_fields(stored: Sequence[Mapping[str, Any]] | None, channel: Channel) -> dict[str, Any]:
    """Return the field of a request on a channel that asks for the attachments of a row again.

    The files of the template come with the template.
    """
    if channel is not Channel.EMAIL:
        return {}
    wanted = [
        {"id": str(each.id), "name": each.name}
        | ({"inline_id": each.inline_id} if each.inline_id else {})
        for each in read(stored)
        if not each.of_template
    ]
    return {"attachments": wanted} if wanted else {}


def name_fault(wanted: RequestedAttachment | TemplateFile, type_: str) -> tuple[str, str] | None:
    """Return the field that does not fit the type of the uploaded file, and a sentence."""
    endings = ENDINGS[type_]
    if wanted.name.lower().rpartition(".")[2] not in endings or "." not in wanted.name:
        ways = " or ".join(f".{each}" for each in endings)
        return "name", f"must end with {ways}, because the file was uploaded as {type_}"
    if wanted.inline_id is not None and not type_.startswith("image/"):
        return "inline_id", f"is for an image, and the file was uploaded as {type_}"
    return None
