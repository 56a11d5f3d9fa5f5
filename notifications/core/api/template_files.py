"""A template as the files of `manage.py export_templates`: read, store, compare two versions.

The command line `notify templates` of the Python client keeps these files in git and carries them
from one installation to another.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from django.urls import NoReverseMatch, reverse
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from notifications.core import conf
from notifications.core.api.base_view import raise_not_found
from notifications.core.api.examples import TEMPLATE, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.api.template_schemas import (
    DiffAnswer,
    DiffQuery,
    TemplateId,
    Version,
)
from notifications.core.api.templates import version_of
from notifications.core.models import Template
from notifications.core.rules.access import BOTH, LIVE
from notifications.core.rules.language.syntax import MAX_SOURCE
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import Text
from notifications.core.rules.scopes import Scope
from notifications.core.rules.templates import diff, file_format
from notifications.core.rules.templates.contents import MAX_TEXTS
from notifications.core.rules.templates.file_format import BrokenFiles
from notifications.core.store.templates import import_export, versions
from notifications.core.store.templates.import_export import ImportEffect

_PATH: Final = "v1/templates/<slug:template_id>/files"
_DRAFTED: Final = {"template_id": "rental_reminder"}
_READERS: Final = Access(Scope.TEMPLATES_READ, BOTH, "view_template")
_TAG: Final = "Templates"
_ID: Final = TypeAdapter(TemplateId)
_MAX_FILES: Final = 3 * MAX_TEXTS + 1
"""Text, HTML and JSON of each text, and the settings."""

FileName = Annotated[str, StringConstraints(min_length=1, max_length=96)]
File = Annotated[Text, Field(max_length=2 * MAX_SOURCE + 3)]
"""Title and body of a text are one file, with three line ends."""


class FilesQuery(RequestModel):
    """The version to read."""

    version: Version | None = None
    """Omitted: the current version, or the newest draft if nothing is published."""


class FilesAnswer(ResponseModel):
    """The files of a version."""

    template_id: str
    version: int
    state: Literal["draft", "published"]
    files: dict[str, str]
    """File name, such as `email.en.html`, and text."""


class FilesRequest(RequestModel):
    """The whole content of a version: a file that is not listed is not part of the version."""

    files: Annotated[dict[FileName, File], Field(min_length=1, max_length=_MAX_FILES)]
    note: Annotated[Text, Field(max_length=200)] = import_export.NOTE


class FilesStored(ResponseModel):
    """The newest version of the template, whose content equals the files."""

    template_id: str
    version: int
    effect: Literal["unchanged", "drafted"]
    """`unchanged`: the newest version has had this content already."""
    review_url: str | None
    """The page of the admin that compares a draft with the published version and publishes it;
    null without a draft, or without the app of the page.
    """


@operation(
    f"GET {_PATH}",
    "Read a version as files",
    _READERS,
    FilesQuery,
    answers={200: FilesAnswer},
    tag=_TAG,
    examples={
        "minimal": Example("The current version", path={"template_id": TEMPLATE}),
        "usual": Example("A draft", path=_DRAFTED, query={"version": 3}),
    },
)
def get_template_files(call: Call, query: FilesQuery) -> FilesAnswer:
    """Return a version as the files that `manage.py export_templates` writes."""
    version = version_of(call, query.version)
    return FilesAnswer(
        template_id=version.template_id,
        version=version.version,
        state="published" if version.published_at else "draft",
        files=file_format.write(versions.content_of(version)),
    )


@operation(
    f"PUT {_PATH}",
    "Draft a version from files",
    Access(Scope.TEMPLATES_WRITE, LIVE, "change_template"),
    FilesRequest,
    answers={200: FilesStored},
    tag=_TAG,
    examples={
        "minimal": Example(
            "A push in English",
            path={"template_id": "hello_files"},
            body={"files": {"push.en.txt": "Hello\n\nGood to see you.\n"}},
        ),
        "usual": Example(
            "Two languages and a declared variable",
            path={"template_id": "invoice_files"},
            body={
                "files": {
                    "template.json": '{"variables": [{"name": "number", "type": "string",'
                    ' "example": "R-17"}]}',
                    "sms.en.txt": "Invoice {{ number }} is due.\n",
                    "sms.de.txt": "Rechnung {{ number }} ist fällig.\n",
                },
                "note": "from staging",
            },
        ),
    },
)
def put_template_files(call: Call, wanted: FilesRequest) -> FilesStored:
    """Store the files as the newest draft, unless the newest version has this content already."""
    template_id = _valid_id(call.path["template_id"])
    try:
        with call.changes() as news:
            effect = import_export.load(
                template_id, wanted.files, by=call.key.prefix, publish=False, note=wanted.note
            )
            newest = Template.objects.filter(template_id=template_id).latest("version")
            news.extend([newest] * (effect is ImportEffect.DRAFT))
    except BrokenFiles as error:
        raise_problem(Problem(Kind.INVALID, str(error), (FieldError("/files", str(error)),)))
    return FilesStored(
        template_id=template_id,
        version=newest.version,
        effect="drafted" if effect is ImportEffect.DRAFT else "unchanged",
        review_url=_review_url(newest),
    )


@operation(
    "GET v1/templates/<slug:template_id>/diff",
    "Compare two versions",
    _READERS,
    DiffQuery,
    answers={200: DiffAnswer},
    tag=_TAG,
    examples={
        "minimal": Example(
            "The current version and the newest one", path={"template_id": "rental_reminder"}
        ),
        "usual": Example(
            "Two versions by number",
            path={"template_id": "rental_reminder"},
            query={"from": 1, "to": 2},
        ),
    },
)
def diff_template(call: Call, query: DiffQuery) -> DiffAnswer:
    """Compare two versions line by line, in the format of exported files."""
    template_id = call.path["template_id"]
    old = version_of(call, query.old)
    new = versions.newest(template_id) if query.new is None else None
    new = new or version_of(call, query.new)
    patch = diff.unified_diff(
        versions.content_of(old),
        versions.content_of(new),
        old_name=f"v{old.version}",
        new_name=f"v{new.version}",
    )
    return DiffAnswer(
        template_id=template_id, old_version=old.version, new_version=new.version, diff=patch
    )


def _valid_id(template_id: str) -> str:
    try:
        return _ID.validate_python(template_id)
    except ValidationError:
        raise_not_found("template")


def _review_url(version: Template) -> str | None:
    if version.published_at is not None:
        return None
    try:
        page = reverse("admin:notifications_template_publish", args=[version.pk])
    except NoReverseMatch:
        return None
    return conf.current().public_url.rstrip("/") + page
