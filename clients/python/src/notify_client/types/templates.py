"""Templates: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from notify_client.types.shared import (
    Channel,
)


class DiffAnswer(TypedDict):
    """What changed."""

    template_id: str
    old_version: int
    new_version: int
    diff: str
    """A unified diff of the versions' files; empty when they say the same."""


class PreviewAnswer(TypedDict):
    """A message as it would be sent."""

    version: int
    channel: Channel
    locale: str
    """Of the text that was chosen."""

    title: str | None
    """Null, like the other parts, when it cannot be rendered; `problems` says why."""

    body: str | None
    html: str | None
    sizes: dict[str, int]
    """Bytes of UTF-8 of each part that there is."""

    segments: int | None
    """Of an SMS; null on other channels."""

    missing: list[str]
    """Variables that the text mentions and the request lacks; it may do without some of them."""

    problems: list[str]


class PreviewRequest(TypedDict):
    """What to show to whom."""

    channel: Channel
    locale: NotRequired[str]
    """The nearest locale that there is a text in is shown. Default: `"en"`."""

    variables: NotRequired[Mapping[str, Any]]
    version: NotRequired[int | None]
    """The current one when left out, or the newest draft where none is published."""


class TemplateAnswer(TypedDict):
    """A template, and its latest versions and steps, newest first."""

    template_id: str
    current_version: int | None
    versions: list[VersionLine]
    history: list[TemplateStep]


class TemplateLine(TypedDict):
    """A template in a list."""

    template_id: str
    current_version: int | None
    """What producers get; null while nothing is published."""

    newest_version: int
    """Higher than the current one where there is a draft."""

    updated_at: str


class TemplateRequest(TypedDict):
    """A draft: the first version of a template, or the next one."""

    template_id: str
    texts: Sequence[TextRequest]
    sensitive_variables: NotRequired[Sequence[str]]
    """Variables that are encrypted at rest, masked everywhere and wiped when final."""

    no_longer_sensitive: NotRequired[Sequence[str]]
    """Variables that the current version keeps sensitive and this one does not. A version that
    drops one without naming it here cannot be published."""

    variables: NotRequired[Sequence[VariableRequest]]
    """What producers must send; empty: whatever the texts cannot do without."""

    default_locale: NotRequired[str]
    """For readers of a language that has no text. Default: `"en"`."""

    note: NotRequired[str]


class TemplateStep(TypedDict):
    """One line of what was done to a template."""

    at: str
    version: int
    verb: str
    by: str
    """An operator's name, an API key's prefix, or `files`."""

    detail: str


class TextAnswer(TypedDict):
    """The words for one channel in one locale."""

    channel: Channel
    locale: str
    title: str
    body: str
    html: str
    transliterate: bool
    max_segments: int | None
    shorten_links: bool


class TextRequest(TypedDict):
    """The words for one channel in one locale, in the template language."""

    channel: Channel
    locale: NotRequired[str]
    """Default: `"en"`."""

    title: NotRequired[str]
    """Title or subject; an SMS has none."""

    body: NotRequired[str]
    """Left empty in an e-mail, it is read from the HTML. An e-mail may name `unsubscribe_url`,
    which no producer sends: where its reader leaves this kind of message. It is empty in P0,
    P1 and test mode: `{% if unsubscribe_url %}`."""

    html: NotRequired[str]
    """HTML part of an e-mail; variables are escaped in it."""

    transliterate: NotRequired[bool]
    """SMS: say it in GSM-7 where that is possible. Default: `false`."""

    max_segments: NotRequired[int | None]
    """SMS: more with the examples, and it is not published."""

    shorten_links: NotRequired[bool]
    """SMS: links become short ones that count their clicks. Default: `false`."""


class VariableRequest(TypedDict):
    """What a template wants of its producers under one name."""

    name: str
    type: Literal[
        "string", "integer", "number", "boolean", "datetime", "date", "money", "list", "object"
    ]
    required: NotRequired[bool]
    """An optional one may be absent or null. Default: `true`."""

    example: NotRequired[Any]
    """What previews show, and what the texts must fit with; a required variable has one."""


class VersionAnswer(TypedDict):
    """A version."""

    template_id: str
    version: int
    state: Literal["draft", "published"]
    note: str
    created_at: str
    created_by: str
    published_at: str | None
    published_by: str
    sensitive_variables: list[str]
    no_longer_sensitive: list[str]
    variables: list[dict[str, Any]]
    """As they were declared: name, type, required, example."""

    default_locale: str
    texts: list[TextAnswer]


class VersionLine(TypedDict):
    """A version without its texts."""

    template_id: str
    version: int
    state: Literal["draft", "published"]
    note: str
    created_at: str
    created_by: str
    published_at: str | None
    published_by: str


class VersionRequest(TypedDict):
    """Which version."""

    version: int


class ListTemplatesQuery(TypedDict, total=False):
    """What `list_templates` is asked for."""

    cursor: str
    """`next` of the page before."""

    limit: int
    """Most results of one page. Default: `50`."""
