"""Request and response schemas of templates."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from notifications.core.api.pagination import PageQuery
from notifications.core.api.schemas import (
    AttachedFile,
    ChannelWord,
    RequestModel,
    ResponseModel,
)
from notifications.core.api.template_sources import (
    ActionSource,
    Blocks,
    Link,
    Source,
    VendorTemplateAnswer,
    VendorTemplateSource,
)
from notifications.core.rules import in_app_fields, request_faults
from notifications.core.rules.attachments import RequestedAttachments
from notifications.core.rules.in_app import MAX_ACTIONS, Action, InAppPart
from notifications.core.rules.language import locales
from notifications.core.rules.language.variables import MAX_DECLARED, Type, parse_new_declarations
from notifications.core.rules.recipient import Locale
from notifications.core.rules.request import MAX_VARIABLES_BYTES, Name, Text, check_size
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.templates import contents, one_off
from notifications.core.rules.templates.contents import MAX_TEXTS, TemplateContent
from notifications.core.rules.templates.sms_policy import MAX_SEGMENTS
from notifications.core.rules.texts import variants, vendor_template, wording
from notifications.core.rules.texts.vendor_template import EMPTY, VendorTemplate
from providers.contract import Channel

MAX_VERSION: Final = 2**31 - 1
"""The largest value of the column."""


TemplateId = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_\-]+$")
]
Variant = Annotated[str, StringConstraints(pattern=variants.NAME)]
Version = Annotated[int, Field(ge=1, le=MAX_VERSION)]
State = Literal["draft", "published"]


class VariableRequest(RequestModel):
    """The declaration of a template variable."""

    name: Name
    type: Type
    required: bool = True
    """An optional variable may be absent or null."""
    example: Any = None
    """Value for previews and for the checks before publishing; mandatory for a required variable.
    """


class TextRequest(RequestModel):
    """The text for a channel and locale, in the template language, or a variant of the text."""

    channel: AskedChannel
    locale: Locale = "en"
    variant: Variant = ""
    """Variant of an A/B test, such as `b`; empty: the base text. A variant has a base text of its
    channel and locale, gives only what differs, and gets the rest from the base text: title, link,
    image, actions and `vendor_template` one by one, and `body`, `html` and `blocks` together."""
    title: Source = ""
    """Title or subject; not used for SMS."""
    body: Source = ""
    """Empty in an e-mail: derived from the HTML.

    An e-mail may use `unsubscribe_url`, which the service fills in: the page for unsubscribing from
    messages of the type. The variable is empty for P0, P1 and test mode: `{% if unsubscribe_url
    %}`. `preferences_url` is the recipient's preference page, in each e-mail. `brand` is the brand
    of the producer, in each text: `{{ brand.name }}`."""
    html: Source = ""
    """HTML part of an e-mail; variables are escaped."""
    blocks: Blocks = ""
    """E-mail: Markdown with `:::` directives, in place of `body` and `html`."""
    transliterate: bool = False
    """SMS: replace characters outside GSM-7 where possible."""
    max_segments: Annotated[int, Field(ge=1, le=MAX_SEGMENTS)] | None = None
    """SMS: publishing fails if the examples render to more segments; null: to more than one."""
    shorten_links: bool = False
    """SMS: replace links by short links with click counts."""
    url: Link = ""
    """In-app and push: the link of the message: an https URL, a path, or a URL of an allowed app
    scheme. A push carries the link as `data.url`."""
    image_url: Link = ""
    """In-app and push: an https URL or a path. A push carries it as `data.image_url`."""
    actions: list[ActionSource] = Field(default_factory=list, max_length=MAX_ACTIONS)
    """In-app: the buttons. An action whose label or link renders to nothing is left out."""
    vendor_template: VendorTemplateSource | None = None
    """Chat: the approved template that WhatsApp sends; null: WhatsApp sends the text, which it
    takes within 24 hours of the person's last message."""

    @property
    def part(self) -> InAppPart:
        """Link, image and actions of an in-app or push message."""
        actions = [Action(each.id, each.label, each.url or "") for each in self.actions]
        return InAppPart(self.url, self.image_url, tuple(actions))

    @model_validator(mode="after")
    def _check_that_it_says_something(self) -> Self:
        if not self.variant and not self.body and not self.html and not self.blocks:
            raise request_faults.error_at("a text needs a body, html or blocks", "body")
        if self.channel not in contents.UNTITLED and contents.has_several_lines(self.title):
            raise request_faults.error_at("write the title in one line", "title")
        self._check_sms_settings()
        self._check_blocks()
        in_app_fields.check_structure(self.part)
        if self.template.ids and self.channel is not Channel.CHAT:
            detail = "only a chat text has a template of a vendor"
            raise request_faults.error_at(detail, "vendor_template")
        for place, detail in vendor_template.structure_faults(self.template):
            raise request_faults.error_at(detail, "vendor_template", *place)
        return self

    @property
    def template(self) -> VendorTemplate:
        """The approved template of a chat text."""
        return self.vendor_template.as_template() if self.vendor_template else EMPTY

    def _check_sms_settings(self) -> None:
        if not self.variant:
            return
        detail = "a variant has the setting of its base text; set it there"
        for name in ("transliterate", "max_segments", "shorten_links"):
            if getattr(self, name):
                raise request_faults.error_at(detail, name)

    def _check_blocks(self) -> None:
        if self.blocks and self.channel is not Channel.EMAIL:
            raise request_faults.error_at("only an e-mail has blocks", "blocks")
        for name, source in (("html", self.html), ("body", self.body)):
            if self.blocks and source:
                detail = f"blocks make the {name} of a mail; send blocks or {name}"
                raise request_faults.error_at(detail, name)

    def as_words(self) -> wording.TextSource:
        """Return the text as the store keeps texts."""
        told = {name: value for name, value in self if name not in InAppPart._fields}
        told["vendor_template"] = self.template
        return contents.normalize(wording.TextSource(**told, in_app=self.part))


class TemplateRequest(RequestModel):
    """A draft: the first version of a template, or the next version."""

    template_id: Annotated[TemplateId, AfterValidator(one_off.check_name)]
    texts: Annotated[list[TextRequest], Field(min_length=1, max_length=MAX_TEXTS)]
    sensitive_variables: list[Name] = Field(default_factory=list, max_length=100)
    """Variables to encrypt at rest, mask in all output and wipe after the final status."""
    no_longer_sensitive: list[Name] = Field(default_factory=list, max_length=100)
    """Variables which are sensitive in the current version and not in this version. A draft which
    drops a sensitive variable without this list cannot be published."""
    variables: list[VariableRequest] = Field(default_factory=list, max_length=MAX_DECLARED)
    """Variables which producers must send; empty: the variables without which the texts cannot
    render."""
    default_locale: Locale = "en"
    """Locale for recipients whose language has no text."""
    fallback_on: Literal["", "failure", "unconfirmed"] = ""
    """Condition for the next channel of a fallback chain; empty: as the notification type."""
    confirm_seconds: Annotated[int, Field(ge=0, le=32_767)] = 0
    """Seconds to wait for a receipt before the next channel of a fallback chain; 0: as the
    notification type."""
    attachments: RequestedAttachments = Field(default_factory=list)
    """Files of each e-mail of the version: uploaded by `POST /v1/attachments`, or files of another
    version. The template keeps a copy of the content. Together with the attachments of a
    notification at most 10."""
    note: Annotated[Text, Field(max_length=200)] = ""

    @field_validator("variables")
    @classmethod
    def _check_declarations(cls, declared: list[VariableRequest]) -> list[VariableRequest]:
        examples = {each.name: each.example for each in declared}
        check_size(examples, MAX_VARIABLES_BYTES)
        parse_new_declarations([dict(each) for each in declared])
        return declared

    @model_validator(mode="after")
    def _check_that_each_is_once(self) -> Self:
        for position, fault in variants.faults(text.as_words() for text in self.texts):
            place = (position, "variant") if self.texts[position].variant else ()
            raise request_faults.error_at(fault, "texts", *place)
        return self

    def as_content(self, attachments: list[dict[str, Any]]) -> TemplateContent:
        """Return the draft as the store keeps versions, with stored attachments."""
        return contents.content(
            (text.as_words() for text in self.texts),
            {
                "sensitive_variables": self.sensitive_variables,
                "no_longer_sensitive": self.no_longer_sensitive,
                "variables": [
                    each.model_dump(mode="json", exclude_defaults=True) for each in self.variables
                ],
                "default_locale": locales.normalize(self.default_locale),
                "fallback_on": self.fallback_on,
                "confirm_seconds": self.confirm_seconds,
                "attachments": attachments,
            },
        )


class VersionRequest(RequestModel):
    """The version to publish."""

    version: Version


class PreviewRequest(RequestModel):
    """The text and variables to render."""

    channel: AskedChannel
    locale: Locale = "en"
    """The preview uses the nearest locale with a text."""
    variant: Variant = ""
    """Variant of the texts; empty: the base texts. The preview of a locale without the variant is
    that of the base text, as recipients get it."""
    variables: dict[Name, Any] = Field(default_factory=dict)
    version: Version | None = None
    """Omitted: the current version, or the newest draft if nothing is published."""

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        if self.variables:
            check_size(self.variables, MAX_VARIABLES_BYTES, "variables")
        return self


class TemplateQuery(PageQuery):
    """Parameters of the list of templates."""

    cursor: TemplateId | None = None
    """The value of `next` on the previous page."""


class DiffQuery(RequestModel):
    """The two versions to compare. The default is the current version and the newest version."""

    old: Annotated[Version | None, Field(alias="from")] = None
    """The earlier version; omitted: the current version."""
    new: Annotated[Version | None, Field(alias="to")] = None
    """The later version; omitted: the newest version."""


class TemplateLine(ResponseModel):
    """A template in a list."""

    template_id: str
    current_version: int | None
    """The version used for new notifications; null if nothing is published."""
    newest_version: int
    """Higher than `current_version` if there is a draft."""
    updated_at: dt.datetime


class VersionLine(ResponseModel):
    """A version without texts."""

    template_id: str
    version: int
    state: State
    note: str
    created_at: dt.datetime
    created_by: str
    published_at: dt.datetime | None
    published_by: str


class InAppAction(ResponseModel):
    """A button of an in-app message."""

    id: str
    label: str
    url: str | None
    """Null: the button tells the producer."""


class InAppAnswer(ResponseModel):
    """Link and image of an in-app or push message, and actions of an in-app message."""

    url: str | None
    image_url: str | None
    actions: list[InAppAction]

    @staticmethod
    def fields_of(part: InAppPart) -> dict[str, Any]:
        """Return the fields of a part."""
        actions = [{**each._asdict(), "url": each.url or None} for each in part.actions]
        return {
            "url": part.url or None,
            "image_url": part.image_url or None,
            "actions": actions,
        }


class TextAnswer(InAppAnswer):
    """The text for a channel and locale, or a variant of the text."""

    channel: ChannelWord
    locale: str
    variant: str
    """Empty for a base text. Empty fields of a variant have the values of the base text."""
    title: str
    body: str
    """Empty for a text with blocks; the preview has the text part."""
    html: str
    """Empty for a text with blocks; the preview has the HTML part."""
    blocks: str
    """The source of a mail in blocks; empty for other texts."""
    transliterate: bool
    max_segments: int | None
    shorten_links: bool
    vendor_template: VendorTemplateAnswer | None


class VersionAnswer(VersionLine):
    """A version with texts."""

    sensitive_variables: list[str]
    no_longer_sensitive: list[str]
    variables: list[dict[str, Any]]
    """The declarations: name, type, required, example."""
    default_locale: str
    fallback_on: str
    confirm_seconds: int
    attachments: list[AttachedFile]
    """Files of each e-mail; another version may name the ids."""
    texts: list[TextAnswer]


class TemplateStep(ResponseModel):
    """An event in the history of a template."""

    at: dt.datetime
    version: int
    verb: str
    by: str
    """An operator's name, the prefix of an API key, or `files`."""
    detail: str


class TemplateAnswer(ResponseModel):
    """A template with the latest versions and events, newest first."""

    template_id: str
    current_version: int | None
    versions: list[VersionLine]
    history: list[TemplateStep]


class PreviewAnswer(InAppAnswer):
    """The rendered message."""

    version: int
    channel: ChannelWord
    locale: str
    """Locale of the chosen text."""
    variant: str
    """Variant of the chosen text; empty for a base text."""
    title: str | None
    """Null, like the other parts, if rendering fails; `problems` has the reason."""
    body: str | None
    html: str | None
    sizes: dict[str, int]
    """Bytes of UTF-8 by part."""
    segments: int | None
    """Segments of an SMS; null on other channels."""
    missing: list[str]
    """Variables used in the text and missing from the request; some may be optional."""
    problems: list[str]
    attachments: list[AttachedFile]
    """Files of the e-mail; none on other channels."""


class DiffAnswer(ResponseModel):
    """The differences between two versions."""

    template_id: str
    old_version: int
    new_version: int
    diff: str
    """A unified diff of the versions' files; empty for equal versions."""
