"""Request schemas of the sources of a text: parts in the template language."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.rules.in_app import MAX_URL
from notifications.core.rules.in_app_fields import ActionId
from notifications.core.rules.language import templating
from notifications.core.rules.language.syntax import MAX_SOURCE
from notifications.core.rules.request import Text
from notifications.core.rules.texts import mail_blocks
from notifications.core.rules.texts.mail_blocks import MAX_BLOCK_SOURCE
from notifications.core.rules.texts.vendor_template import (
    MAX_IDS,
    MAX_PARAMETERS,
    VendorTemplate,
)


def renderable(source: str) -> str:
    """Check a source: see `templating.check`.

    Raises:
        ValueError: the source would not be safe to render.
    """
    for fault in templating.check(source):
        msg = f"line {fault.line}: {fault.detail}"
        raise ValueError(msg)
    return source


Source = Annotated[Text, Field(max_length=MAX_SOURCE), AfterValidator(renderable)]


def _compilable(source: str) -> str:
    for fault in mail_blocks.faults(source) if source else ():
        msg = f"line {fault.line}: {fault.detail}"
        raise ValueError(msg)
    return source


Blocks = Annotated[Text, Field(max_length=MAX_BLOCK_SOURCE), AfterValidator(_compilable)]
Link = Annotated[Text, Field(max_length=MAX_URL), AfterValidator(renderable)]


Parameter = Annotated[Text, Field(max_length=MAX_URL), AfterValidator(renderable)]


class VendorTemplateSource(RequestModel):
    """The template that a vendor approved before, in place of the text."""

    ids: dict[str, Text] = Field(default_factory=dict, max_length=MAX_IDS)
    """Provider -> id of the template: `whatsapp` takes name and language, `order_shipped/en_US`;
    `twilio` takes the Content SID, `HX...`."""
    parameters: list[Parameter] = Field(default_factory=list, max_length=MAX_PARAMETERS)
    """The values of the placeholders, in order, in the template language."""

    def as_template(self) -> VendorTemplate:
        """Return the template as the store keeps templates."""
        return VendorTemplate(tuple(sorted(self.ids.items())), tuple(self.parameters))


class VendorTemplateAnswer(ResponseModel):
    """The template that a vendor approved before."""

    ids: dict[str, str]
    parameters: list[str]


class ActionSource(RequestModel):
    """A button of an in-app message, in the template language."""

    id: ActionId
    """Name of the action in the webhook `inbox.action`; unique in the text."""
    label: Annotated[Text, Field(min_length=1, max_length=MAX_URL), AfterValidator(renderable)]
    url: Link | None = None
    """Null: the button tells the producer (webhook `inbox.action`)."""
