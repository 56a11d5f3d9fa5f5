"""`/v1/templates`: draft, preview, publish and compare templates.

Templates are company-wide and shared by live and test mode. `templates:write` drafts a version and
`templates:publish` publishes a version, so a CI pipeline can draft and a person can publish.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable
from typing import Final

from django.db import transaction
from django.db.models import Max, Q
from rest_framework.response import Response

from notifications.core import conf
from notifications.core.api import attached_files, etags, schema
from notifications.core.api.base_view import raise_not_found
from notifications.core.api.examples import TAG, TEMPLATE, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import page
from notifications.core.api.problems import raise_problem
from notifications.core.api.template_schemas import (
    MAX_VERSION,
    InAppAnswer,
    PreviewAnswer,
    PreviewRequest,
    TemplateAnswer,
    TemplateLine,
    TemplateQuery,
    TemplateRequest,
    TemplateStep,
    TextAnswer,
    VersionAnswer,
    VersionLine,
    VersionRequest,
)
from notifications.core.clock import monotonic
from notifications.core.delivery import routing
from notifications.core.models import Template, TemplateEvent
from notifications.core.rules import in_app
from notifications.core.rules.access import BOTH, LIVE
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.scopes import Scope
from notifications.core.rules.templates import previews
from notifications.core.rules.texts import variants, vendor_template
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.cached import brands
from notifications.core.store.templates import versions
from notifications.core.store.templates.rows import ONE_OFF
from notifications.core.store.templates.versions import NotPublishable
from providers.contract import Channel

_TEMPLATE: Final = {"template_id": TEMPLATE}
_DRAFTED: Final = {"template_id": "rental_reminder"}

_READERS: Final = Access(Scope.TEMPLATES_READ, BOTH, "view_template")
_PUBLISHERS: Final = Access(Scope.TEMPLATES_PUBLISH, LIVE, "publish_template")
_PATH: Final = "v1/templates/<slug:template_id>"
_TAG: Final = "Templates"
_PAID_BY: Final = dt.timedelta(milliseconds=10)
"""Rendering time of a preview which costs as much as a write, on top of the basic cost of 1."""
SHOWN: Final = 100
"""Maximum number of versions and of events in a response; the latest are shown."""


@operation(
    "GET v1/templates",
    "List templates by name",
    _READERS,
    TemplateQuery,
    answers={200: schema.page_of(TemplateLine)},
    tag=_TAG,
    examples={
        "minimal": Example("The first fifty templates"),
        "usual": Example("Ten templates after a name", query={"limit": 10, "cursor": TEMPLATE}),
    },
)
def list_templates(call: Call, query: TemplateQuery) -> Response:
    """List templates with the number of the current version and of the newest version.

    The list leaves out the texts written for one bulk job. `GET /v1/templates/{template_id}`
    returns such a text by the `template_id` of the job.
    """
    found = (
        Template.objects
        .exclude(ONE_OFF)
        .filter(template_id__gt=query.cursor or "")
        .values("template_id")
        .annotate(
            current_version=Max("version", filter=Q(published_at__isnull=False)),
            newest_version=Max("version"),
            last_change=Max("updated_at"),
        )
        .order_by("template_id")[: query.limit + 1]
    )
    lines = [TemplateLine.model_validate(row | {"updated_at": row["last_change"]}) for row in found]
    shown = lines[: query.limit]
    following = shown[-1].template_id if len(lines) > query.limit else None
    return page(call.request, [line.to_json() for line in shown], following=following)


@operation(
    "POST v1/templates",
    "Draft a template or a new version",
    Access(Scope.TEMPLATES_WRITE, LIVE, "change_template"),
    TemplateRequest,
    answers={201: VersionAnswer},
    tag=_TAG,
    examples={
        "minimal": Example(
            "One text",
            body={
                "template_id": "welcome",
                "texts": [{"channel": "push", "title": "Welcome", "body": "Good to see you."}],
            },
        ),
        "usual": Example(
            "Two languages, a declared variable and a sensitive one",
            headers={"Idempotency-Key": "welcome-code-2026-11"},
            body={
                "template_id": "welcome_code",
                "texts": [
                    {"channel": "sms", "locale": "en", "body": "{{ name }}, your code: {{ code }}"},
                    {"channel": "sms", "locale": "de", "body": "{{ name }}, Ihr Code: {{ code }}"},
                ],
                "variables": [
                    {"name": "name", "type": "string", "example": "Ada"},
                    {"name": "code", "type": "string", "example": "482913"},
                ],
                "sensitive_variables": ["code"],
                "note": "first version",
            },
        ),
    },
)
def create_template(call: Call, wanted: TemplateRequest) -> VersionAnswer:
    """Create a draft: a new template, or the next version of a template.

    A draft is not used before publishing.
    """
    with call.changes() as news:
        versions.lock(wanted.template_id)  # before the files, as each other writer of versions
        content = wanted.as_content(attached_files.copy_uploads(call, wanted.attachments))
        made = versions.draft(wanted.template_id, content, by=call.key.prefix, note=wanted.note)
        news.append(made)
    return _version(made)


@operation(
    f"GET {_PATH}",
    "Read a template's versions and history",
    _READERS,
    answers={200: TemplateAnswer, 304: None},
    tag=_TAG,
    parameters=[etags.IF_NONE_MATCH],
    examples={
        "minimal": Example("Versions and history", path=_TEMPLATE),
        "usual": Example(
            "Only if the template has changed",
            status=304,
            path=_TEMPLATE,
            headers={"If-None-Match": TAG},
        ),
    },
)
def get_template(call: Call) -> Response:
    """Return a template with the latest 100 versions and 100 events of the history."""
    told = _whole(call.path["template_id"]).to_json()
    return etags.etag_response(call.request, told, etags.tag_of(told))


@operation(
    f"GET {_PATH}/versions/<int:version>",
    "Read a version with all texts",
    _READERS,
    answers={200: VersionAnswer},
    tag=_TAG,
    examples={
        "minimal": Example("The first version", path={"template_id": TEMPLATE, "version": 1}),
        "another": Example(
            "The third version, a draft", path={"template_id": "rental_reminder", "version": 3}
        ),
    },
)
def get_template_version(call: Call) -> VersionAnswer:
    """Return a version with all texts as stored, with normalised line ends and locales."""
    return _version(version_of(call, call.path["version"]))


@operation(
    f"POST {_PATH}/publish",
    "Publish a draft",
    _PUBLISHERS,
    VersionRequest,
    answers={200: VersionAnswer},
    tag=_TAG,
    parameters=[etags.IF_MATCH],
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example("Publish a draft", path=_DRAFTED, body={"version": 3}),
        "usual": Example(
            "Publish a draft, unless the template has changed",
            path=_DRAFTED,
            headers={"If-Match": TAG, "Idempotency-Key": "publish-rental-3"},
            body={"version": 3},
        ),
    },
)
def publish_template(call: Call, wanted: VersionRequest) -> VersionAnswer:
    """Make a draft the current version.

    New notifications use the version within two seconds; accepted notifications keep the
    version of acceptance.
    """
    return _make_current(call, wanted, versions.publish)


@operation(
    f"POST {_PATH}/rollback",
    "Publish an earlier version again",
    _PUBLISHERS,
    VersionRequest,
    answers={201: VersionAnswer},
    tag=_TAG,
    parameters=[etags.IF_MATCH],
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example("Publish the first version again", path=_DRAFTED, body={"version": 1}),
        "usual": Example(
            "Publish the first version again, unless the template has changed",
            path=_DRAFTED,
            headers={"If-Match": TAG, "Idempotency-Key": "back-to-1"},
            body={"version": 1},
        ),
    },
)
def roll_back_template(call: Call, wanted: VersionRequest) -> VersionAnswer:
    """Copy an earlier version to a new version and publish the copy.

    The version number of a notification therefore always identifies the text.
    """
    return _make_current(call, wanted, versions.roll_back)


@operation(
    f"POST {_PATH}/preview",
    "Render a version with sample variables",
    _READERS,
    PreviewRequest,
    answers={200: PreviewAnswer},
    tag=_TAG,
    is_idempotent=False,
    examples={
        "minimal": Example(
            "The text for push with the declared examples", path=_TEMPLATE, body={"channel": "push"}
        ),
        "usual": Example(
            "The SMS in Spanish, with its segments",
            path=_TEMPLATE,
            body={
                "channel": "sms",
                "locale": "es",
                "variables": {"restaurant": "Casa Paco", "order_id": "ORD-7"},
            },
        ),
    },
)
def preview_template(call: Call, wanted: PreviewRequest) -> PreviewAnswer:
    """Render a version with the given variables.

    The call stores and sends nothing, so a repeat needs no idempotency key.
    """
    started = monotonic()
    try:
        version = version_of(call, wanted.version)
        return _preview(version, wanted, producer_id=call.key.producer_id)
    finally:
        call.charge(dt.timedelta(seconds=monotonic() - started) // _PAID_BY)


def _preview(version: Template, wanted: PreviewRequest, *, producer_id: int) -> PreviewAnswer:
    texts = versions.content_of(version).texts
    if wanted.variant and wanted.variant not in (there := variants.names(texts)):
        detail = f"{version} has no variant {wanted.variant}; it has {', '.join(there) or 'none'}"
        raise_problem(Problem(Kind.INVALID, detail, (FieldError("/variant", detail),)))
    words = previews.chosen(
        texts,
        wanted.channel,
        wanted.locale,
        default=version.default_locale,
        variant=wanted.variant,
    )
    if words is None:
        detail = f"{version} has no text for {wanted.channel.label}"
        raise_problem(Problem(Kind.INVALID, detail, (FieldError("/channel", detail),)))
    shown = previews.preview(
        words,
        wanted.variables,
        url_schemes=conf.current().inbox_url_schemes,
        brand=brands.of(producer_id),
        chat_schemes=routing.chat_schemes(),
    )
    return PreviewAnswer(
        version=version.version,
        channel=words.channel,
        locale=words.locale,
        variant=words.variant,
        title=shown.rendered and shown.rendered.title,
        body=shown.rendered and shown.rendered.body,
        html=shown.rendered and shown.rendered.html,
        **InAppAnswer.fields_of(shown.rendered.in_app if shown.rendered else in_app.EMPTY),
        sizes=dict(shown.sizes),
        segments=shown.sms and shown.sms.segments,
        missing=list(shown.missing),
        problems=[*shown.problems, *shown.warnings],
        attachments=attached_files.of_version(version) if words.channel is Channel.EMAIL else [],
    )


def _whole(template_id: str) -> TemplateAnswer:
    rows = Template.objects.filter(template_id=template_id).order_by("-version")[:SHOWN]
    if not rows:
        raise_not_found("template")
    current = versions.current(template_id)
    steps = TemplateEvent.objects.filter(template_id=template_id)[:SHOWN]
    return TemplateAnswer(
        template_id=template_id,
        current_version=current.version if current else None,
        versions=[_line(row) for row in rows],
        history=[TemplateStep.model_validate(step) for step in steps],
    )


def _current_tag(template_id: str) -> str | None:
    versions.lock(template_id)
    exists = Template.objects.filter(template_id=template_id).exists()
    return etags.tag_of(_whole(template_id).to_json()) if exists else None


def _make_current(
    call: Call, asked: VersionRequest, step: Callable[..., Template]
) -> VersionAnswer:
    """Publish or roll back to the version in the body."""
    wanted = version_of(call, asked.version)
    before = Template.objects.filter(pk=wanted.pk)
    try:
        with transaction.atomic():
            etags.check(call.request, lambda: _current_tag(wanted.template_id))
            with call.changes(before) as news:
                made = step(wanted, by=call.key.prefix)
                news.extend([made] * (made.pk != wanted.pk))
    except NotPublishable as error:
        raise_problem(Problem(Kind.CONFLICT, str(error)))
    return _version(made)


def version_of(call: Call, version: int | None) -> Template:
    """Return a version by number; without a number the current version, else the newest."""
    template_id = call.path["template_id"]
    if version is None:
        found = versions.current(template_id) or versions.newest(template_id)
    else:
        named = Template.objects.filter(template_id=template_id, version=min(version, MAX_VERSION))
        found = named.first()
    if found is None:
        raise_not_found("template" if version is None else "version of this template")
    return found


def _line(version: Template) -> VersionLine:
    return VersionLine.model_validate(_facts(version))


def _version(version: Template) -> VersionAnswer:
    content = versions.content_of(version)
    texts = [_text(words) for words in content.texts]
    told = {**content.settings, "texts": texts, "attachments": attached_files.of_version(version)}
    return VersionAnswer.model_validate(_facts(version) | told)


def _text(words: TextSource) -> TextAnswer:
    told = dataclasses.asdict(words) | InAppAnswer.fields_of(words.in_app)
    found = vendor_template.written(words.vendor_template)
    told["vendor_template"] = {"parameters": [], **found} if found else None
    if words.blocks:
        told |= {"body": "", "html": ""}
    return TextAnswer.model_validate(told)


def _facts(version: Template) -> dict[str, object]:
    read = {name: getattr(version, name, None) for name in VersionLine.model_fields}
    return read | {"state": "published" if version.published_at else "draft"}
