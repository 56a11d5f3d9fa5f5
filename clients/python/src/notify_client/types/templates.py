"""Templates: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from notify_client.types.shared import (
    AttachedFile,
    Channel,
    RequestedAttachment,
)


class ActionSource(TypedDict):
    """A button of an in-app message, in the template language."""

    id: str
    """Name of the action in the webhook `inbox.action`; unique in the text."""

    label: str
    url: NotRequired[str | None]
    """Null: the button tells the producer (webhook `inbox.action`)."""


class DiffAnswer(TypedDict):
    """The differences between two versions."""

    template_id: str
    old_version: int
    new_version: int
    diff: str
    """A unified diff of the versions' files; empty for equal versions."""


class FilesAnswer(TypedDict):
    """The files of a version."""

    template_id: str
    version: int
    state: Literal["draft", "published"]
    files: dict[str, str]
    """File name, such as `email.en.html`, and text."""


class FilesRequest(TypedDict):
    """The whole content of a version: a file that is not listed is not part of the version."""

    files: Mapping[str, str]
    note: NotRequired[str]
    """Default: `"From files"`."""


class FilesStored(TypedDict):
    """The newest version of the template, whose content equals the files."""

    template_id: str
    version: int
    effect: Literal["unchanged", "drafted"]
    """`unchanged`: the newest version has had this content already."""

    review_url: str | None
    """The page of the admin that compares a draft with the published version and publishes it;
    null without a draft, or without the app of the page.
    """


class InAppAction(TypedDict):
    """A button of an in-app message."""

    id: str
    label: str
    url: str | None
    """Null: the button tells the producer."""


class PreviewAnswer(TypedDict):
    """The rendered message."""

    url: str | None
    image_url: str | None
    actions: list[InAppAction]
    version: int
    channel: Channel
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


class PreviewRequest(TypedDict):
    """The text and variables to render."""

    channel: Channel
    locale: NotRequired[str]
    """The preview uses the nearest locale with a text. Default: `"en"`."""

    variant: NotRequired[str]
    """Variant of the texts; empty: the base texts.

    The preview of a locale without the variant is that of the base text, as recipients get
    it.
    """

    variables: NotRequired[Mapping[str, Any]]
    version: NotRequired[int | None]
    """Omitted: the current version, or the newest draft if nothing is published."""


class TemplateAnswer(TypedDict):
    """A template with the latest versions and events, newest first."""

    template_id: str
    current_version: int | None
    versions: list[VersionLine]
    history: list[TemplateStep]


class TemplateLine(TypedDict):
    """A template in a list."""

    template_id: str
    current_version: int | None
    """The version used for new notifications; null if nothing is published."""

    newest_version: int
    """Higher than `current_version` if there is a draft."""

    updated_at: str


class TemplateRequest(TypedDict):
    """A draft: the first version of a template, or the next version."""

    template_id: str
    texts: Sequence[TextRequest]
    sensitive_variables: NotRequired[Sequence[str]]
    """Variables to encrypt at rest, mask in all output and wipe after the final status."""

    no_longer_sensitive: NotRequired[Sequence[str]]
    """Variables which are sensitive in the current version and not in this version.

    A draft which drops a sensitive variable without this list cannot be published.
    """

    variables: NotRequired[Sequence[VariableRequest]]
    """Variables which producers must send; empty: the variables without which the texts cannot
    render.
    """

    default_locale: NotRequired[str]
    """Locale for recipients whose language has no text. Default: `"en"`."""

    fallback_on: NotRequired[Literal["", "failure", "unconfirmed"]]
    """Condition for the next channel of a fallback chain; empty: as the notification type."""

    confirm_seconds: NotRequired[int]
    """Seconds to wait for a receipt before the next channel of a fallback chain; 0: as the
    notification type. Default: `0`.
    """

    attachments: NotRequired[Sequence[RequestedAttachment]]
    """Files of each e-mail of the version: uploaded by `POST /v1/attachments`, or files of
    another version. The template keeps a copy of the content. Together with the attachments
    of a notification at most 10.
    """

    note: NotRequired[str]


class TemplateStep(TypedDict):
    """An event in the history of a template."""

    at: str
    version: int
    verb: str
    by: str
    """An operator's name, the prefix of an API key, or `files`."""

    detail: str


class TextAnswer(TypedDict):
    """The text for a channel and locale, or a variant of the text."""

    url: str | None
    image_url: str | None
    actions: list[InAppAction]
    channel: Channel
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


class TextRequest(TypedDict):
    """The text for a channel and locale, in the template language, or a variant of the text."""

    channel: Channel
    locale: NotRequired[str]
    """Default: `"en"`."""

    variant: NotRequired[str]
    """Variant of an A/B test, such as `b`; empty: the base text.

    A variant has a base text of its channel and locale, gives only what differs, and gets the
    rest from the base text: title, link, image, actions and `vendor_template` one by one, and
    `body`, `html` and `blocks` together.
    """

    title: NotRequired[str]
    """Title or subject; not used for SMS."""

    body: NotRequired[str]
    """Empty in an e-mail: derived from the HTML.

    An e-mail may use `unsubscribe_url`, which the service fills in: the page for
    unsubscribing from messages of the type. The variable is empty for P0, P1 and test mode:
    `{% if unsubscribe_url %}`. `preferences_url` is the recipient's preference page, in each
    e-mail. `brand` is the brand of the producer, in each text: `{{ brand.name }}`.
    """

    html: NotRequired[str]
    """HTML part of an e-mail; variables are escaped."""

    blocks: NotRequired[str]
    """E-mail: Markdown with `:::` directives, in place of `body` and `html`."""

    transliterate: NotRequired[bool]
    """SMS: replace characters outside GSM-7 where possible. Default: `false`."""

    max_segments: NotRequired[int | None]
    """SMS: publishing fails if the examples render to more segments; null: to more than one."""

    shorten_links: NotRequired[bool]
    """SMS: replace links by short links with click counts. Default: `false`."""

    url: NotRequired[str]
    """In-app and push: the link of the message: an https URL, a path, or a URL of an allowed app
    scheme. A push carries the link as `data.url`.
    """

    image_url: NotRequired[str]
    """In-app and push: an https URL or a path. A push carries it as `data.image_url`."""

    actions: NotRequired[Sequence[ActionSource]]
    """In-app: the buttons. An action whose label or link renders to nothing is left out."""

    vendor_template: NotRequired[VendorTemplateSource | None]
    """Chat: the approved template that WhatsApp sends; null: WhatsApp sends the text, which it
    takes within 24 hours of the person's last message.
    """


class VariableRequest(TypedDict):
    """The declaration of a template variable."""

    name: str
    type: Literal[
        "string", "integer", "number", "boolean", "datetime", "date", "money", "list", "object"
    ]
    required: NotRequired[bool]
    """An optional variable may be absent or null. Default: `true`."""

    example: NotRequired[Any]
    """Value for previews and for the checks before publishing; mandatory for a required
    variable.
    """


class VendorTemplateAnswer(TypedDict):
    """The template that a vendor approved before."""

    ids: dict[str, str]
    parameters: list[str]


class VendorTemplateSource(TypedDict):
    """The template that a vendor approved before, in place of the text."""

    ids: NotRequired[Mapping[str, str]]
    """Provider -> id of the template: `whatsapp` takes name and language, `order_shipped/en_US`;
    `twilio` takes the Content SID, `HX...`.
    """

    parameters: NotRequired[Sequence[str]]
    """The values of the placeholders, in order, in the template language."""


class VersionAnswer(TypedDict):
    """A version with texts."""

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
    """The declarations: name, type, required, example."""

    default_locale: str
    fallback_on: str
    confirm_seconds: int
    attachments: list[AttachedFile]
    """Files of each e-mail; another version may name the ids."""

    texts: list[TextAnswer]


class VersionLine(TypedDict):
    """A version without texts."""

    template_id: str
    version: int
    state: Literal["draft", "published"]
    note: str
    created_at: str
    created_by: str
    published_at: str | None
    published_by: str


class VersionRequest(TypedDict):
    """The version to publish."""

    version: int


class ListTemplatesQuery(TypedDict, total=False):
    """Parameters of `list_templates`."""

    cursor: str
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""


class GetTemplateFilesQuery(TypedDict, total=False):
    """Parameters of `get_template_files`."""

    version: int
    """Omitted: the current version, or the newest draft if nothing is published."""
