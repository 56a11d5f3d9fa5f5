"""Request and response of `/v1/brand`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.rules import request_faults
from notifications.core.rules.brand import COLOR, MOST_LINKS, Brand
from notifications.core.rules.request import Text
from notifications.features.brands import checks
from notifications.features.brands.checks import LONGEST_LABEL

Font = Literal["system", "arial", "courier", "georgia", "tahoma", "times", "trebuchet", "verdana"]
Url = Annotated[Text, Field(max_length=2_000)]
Mailbox = Annotated[Text, Field(max_length=320)]
Line = Annotated[Text, Field(max_length=100)]


class BrandLinkRequest(RequestModel):
    """A link below each e-mail."""

    label: Annotated[Text, Field(min_length=1, max_length=LONGEST_LABEL)]
    url: Url
    """An https URL."""


class BrandRequest(RequestModel):
    """A brand. An omitted field is empty or has its default."""

    name: Annotated[Text, Field(min_length=1, max_length=100)]
    """The name that recipients know."""
    logo_url: Url = ""
    """An https URL of an image, shown 40 pixels high; empty: the name is shown."""
    logo_alt: Line = ""
    """Text in place of the logo; empty: the name."""
    color: Text = COLOR
    """Colour of buttons and links, `#rrggbb`, with a contrast of at least 4.5 to 1 on white."""
    font: Font = "system"
    """Font of e-mails, which needs no download."""
    footer: Annotated[Text, Field(max_length=1_000)] = ""
    """Text below each e-mail."""
    postal_address: Annotated[Text, Field(max_length=500)] = ""
    """Postal address below each e-mail; lines are kept."""
    website_url: Url = ""
    """An https URL, below each e-mail."""
    links: list[BrandLinkRequest] = Field(default_factory=list, max_length=MOST_LINKS)
    """Links below each e-mail."""
    sender_name: Line = ""
    """Name in the From header; empty: that of the e-mail provider's setting."""
    sender_address: Mailbox = ""
    """Address in the From header, permitted by the setting NOTIFY_MAIL_SENDERS; empty: that of the
    e-mail provider's setting."""
    reply_to: Mailbox = ""
    """Address in the Reply-To header; empty: answers go to the sender."""

    @field_validator("sender_address", "reply_to", "color", "name", mode="after")
    @classmethod
    def _strip(cls, value: str) -> str:
        return value.strip()

    @model_validator(mode="after")
    def _check(self) -> Self:
        first = next(checks.faults(checks.normalize(self.model_dump())), None)
        if first is not None:
            field, fault = first
            raise request_faults.error_at(fault, field)
        return self


class BrandAnswer(ResponseModel):
    """The brand of a producer's messages."""

    is_own: bool
    """False: the producer has no brand, and these are the values of the installation's brand."""
    name: str
    logo_url: str
    logo_alt: str
    color: str
    color_text: str
    """Colour of text on `color`: black or white, whichever is easier to read."""
    color_on_dark: str
    """Nearest tint of `color` that can be read on a dark page, such as the dark inbox component."""
    font: Font
    footer: str
    postal_address: str
    website_url: str
    links: list[BrandLinkRequest]
    sender_name: str
    sender_address: str
    """Empty as well for an address that NOTIFY_MAIL_SENDERS does not permit any more."""
    reply_to: str

    @classmethod
    def of(cls, brand: Brand, *, is_own: bool) -> Self:
        """Return the answer for a brand."""
        names = cls.model_fields.keys() - {"is_own", "links"}
        told = {name: getattr(brand, name) for name in names}
        links = [BrandLinkRequest(**link._asdict()) for link in brand.links]
        return cls(is_own=is_own, links=links, **told)
