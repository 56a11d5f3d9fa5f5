"""What callers say of templates, and what they are told."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from notifications.api.pagination import PageQuery
from notifications.api.schemas import Answer, Asked, ChannelWord
from notifications.rules import request_faults
from notifications.rules.language import locales, templating
from notifications.rules.language import variables as declarations
from notifications.rules.language.syntax import MAX_SOURCE
from notifications.rules.recipient import Locale
from notifications.rules.request import MAX_VARIABLES_BYTES, Name, Text, check_size
from notifications.rules.request_fields import AskedChannel
from notifications.rules.templates import contents
from notifications.rules.templates.contents import Content
from notifications.rules.templates.sms_policy import MAX_SEGMENTS
from notifications.rules.texts import wording

MAX_TEXTS: Final = 600
"""Texts of one version: six channels in a hundred locales."""
MAX_VERSION: Final = 2**31 - 1
"""What the column holds."""


def _renderable(source: str) -> str:
    for fault in templating.check(source):
        msg = f"line {fault.line}: {fault.detail}"
        raise ValueError(msg)
    return source


Source = Annotated[Text, Field(max_length=MAX_SOURCE), AfterValidator(_renderable)]
TemplateId = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_\-]+$")
]
Version = Annotated[int, Field(ge=1, le=MAX_VERSION)]
State = Literal["draft", "published"]


class VariableRequest(Asked):
    """What a template wants of its producers under one name."""

    name: Name
    type: declarations.Type
    required: bool = True
    """An optional one may be absent or null."""
    example: Any = None
    """What previews show, and what the texts must fit with; a required variable has one."""


class TextRequest(Asked):
    """The words for one channel in one locale, in the template language."""

    channel: AskedChannel
    locale: Locale = "en"
    title: Source = ""
    """Title or subject; an SMS has none."""
    body: Source = ""
    """Left empty in an e-mail, it is read from the HTML.

    An e-mail may name `unsubscribe_url`, which no producer sends: where its reader leaves this kind
    of message. It is empty in P0, P1 and test mode: `{% if unsubscribe_url %}`."""
    html: Source = ""
    """HTML part of an e-mail; variables are escaped in it."""
    transliterate: bool = False
    """SMS: say it in GSM-7 where that is possible."""
    max_segments: Annotated[int, Field(ge=1, le=MAX_SEGMENTS)] | None = None
    """SMS: more with the examples, and it is not published."""
    shorten_links: bool = False
    """SMS: links become short ones that count their clicks."""

    @model_validator(mode="after")
    def _check_that_it_says_something(self) -> Self:
        if not self.body and not self.html:
            raise request_faults.placed("a text has a body, or HTML to read it from", "body")
        return self

    def as_words(self) -> wording.Source:
        """As they are kept."""
        return contents.spelled(wording.Source(**dict(self)))


class TemplateRequest(Asked):
    """A draft: the first version of a template, or the next one."""

    template_id: TemplateId
    texts: Annotated[list[TextRequest], Field(min_length=1, max_length=MAX_TEXTS)]
    sensitive_variables: list[Name] = Field(default_factory=list, max_length=100)
    """Variables that are encrypted at rest, masked everywhere and wiped when final."""
    no_longer_sensitive: list[Name] = Field(default_factory=list, max_length=100)
    """Variables that the current version keeps sensitive and this one does not.

    A version that drops one without naming it here cannot be published."""
    variables: list[VariableRequest] = Field(
        default_factory=list, max_length=declarations.MAX_DECLARED
    )
    """What producers must send; empty: whatever the texts cannot do without."""
    default_locale: Locale = "en"
    """For readers of a language that has no text."""
    note: Annotated[Text, Field(max_length=200)] = ""

    @field_validator("variables")
    @classmethod
    def _check_declarations(cls, declared: list[VariableRequest]) -> list[VariableRequest]:
        examples = {each.name: each.example for each in declared}
        check_size(examples, MAX_VARIABLES_BYTES)
        declarations.read([dict(each) for each in declared])
        return declared

    @model_validator(mode="after")
    def _check_that_each_is_once(self) -> Self:
        pairs = [(words.channel, words.locale) for words in self.as_content().texts]
        if len(set(pairs)) < len(pairs):
            raise request_faults.placed("must not repeat a channel and locale", "texts")
        return self

    def as_content(self) -> Content:
        """As it is kept."""
        return contents.content(
            (text.as_words() for text in self.texts),
            {
                "sensitive_variables": self.sensitive_variables,
                "no_longer_sensitive": self.no_longer_sensitive,
                "variables": [
                    each.model_dump(mode="json", exclude_defaults=True) for each in self.variables
                ],
                "default_locale": locales.normalised(self.default_locale),
            },
        )


class VersionRequest(Asked):
    """Which version."""

    version: Version


class PreviewRequest(Asked):
    """What to show to whom."""

    channel: AskedChannel
    locale: Locale = "en"
    """The nearest locale that there is a text in is shown."""
    variables: dict[Name, Any] = Field(default_factory=dict)
    version: Version | None = None
    """The current one when left out, or the newest draft where none is published."""

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        if self.variables:
            check_size(self.variables, MAX_VARIABLES_BYTES, "variables")
        return self


class TemplateQuery(PageQuery):
    """A list of templates, by name."""

    cursor: TemplateId | None = None
    """`next` of the page before."""


class DiffQuery(Asked):
    """Which two versions; the current and the newest one when they are left out."""

    old: Annotated[Version | None, Field(alias="from")] = None
    """The earlier version; left out: the current one."""
    new: Annotated[Version | None, Field(alias="to")] = None
    """The later version; left out: the newest one."""


class TemplateLine(Answer):
    """A template in a list."""

    template_id: str
    current_version: int | None
    """What producers get; null while nothing is published."""
    newest_version: int
    """Higher than the current one where there is a draft."""
    updated_at: dt.datetime


class VersionLine(Answer):
    """A version without its texts."""

    template_id: str
    version: int
    state: State
    note: str
    created_at: dt.datetime
    created_by: str
    published_at: dt.datetime | None
    published_by: str


class TextAnswer(Answer):
    """The words for one channel in one locale."""

    channel: ChannelWord
    locale: str
    title: str
    body: str
    html: str
    transliterate: bool
    max_segments: int | None
    shorten_links: bool


class VersionAnswer(VersionLine):
    """A version."""

    sensitive_variables: list[str]
    no_longer_sensitive: list[str]
    variables: list[dict[str, Any]]
    """As they were declared: name, type, required, example."""
    default_locale: str
    texts: list[TextAnswer]


class TemplateStep(Answer):
    """One line of what was done to a template."""

    at: dt.datetime
    version: int
    verb: str
    by: str
    """An operator's name, an API key's prefix, or `files`."""
    detail: str


class TemplateAnswer(Answer):
    """A template, and its latest versions and steps, newest first."""

    template_id: str
    current_version: int | None
    versions: list[VersionLine]
    history: list[TemplateStep]


class PreviewAnswer(Answer):
    """A message as it would be sent."""

    version: int
    channel: ChannelWord
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


class DiffAnswer(Answer):
    """What changed."""

    template_id: str
    old_version: int
    new_version: int
    diff: str
    """A unified diff of the versions' files; empty when they say the same."""
