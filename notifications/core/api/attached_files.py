"""Attachments in answers, and the files of a new version of a template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from notifications.core.api.operation import Call
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import AttachedFile
from notifications.core.models import Template
from notifications.core.rules import attachments
from notifications.core.rules.attachments import Attachment, RequestedAttachment, WrongFiles
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.store.templates import files


def describe(attached: Sequence[Attachment]) -> list[AttachedFile]:
    """Return the facts of attachments."""
    return [
        AttachedFile(
            id=each.id,
            name=each.name,
            type=each.type,
            size=each.size,
            sha256=each.digest,
            inline_id=each.inline_id or None,
        )
        for each in attached
    ]


def of_version(version: Template) -> list[AttachedFile]:
    """Return the facts of the files of a version."""
    return describe(attachments.of_template(version.attachments))


def copy_uploads(call: Call, wanted: Sequence[RequestedAttachment]) -> list[dict[str, Any]]:
    """Copy uploaded files of the caller for a version; returns the value that the version stores.

    Raises:
        ProblemError: a file does not exist, or its name does not fit.
    """
    try:
        return files.copy_uploads(wanted, producer_id=call.key.producer_id, mode=call.mode)
    except WrongFiles as error:
        said = str(error)
        place = FieldError(f"/{said.partition(':')[0]}", said)
        raise_problem(Problem(Kind.INVALID, said, (place,)))
