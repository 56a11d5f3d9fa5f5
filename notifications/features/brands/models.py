"""The table of brands."""

from __future__ import annotations

from typing import Final

from django.db import models

from notifications.core.models.producer import Producer
from notifications.core.rules import brand

_URL: Final = 2_000
_MAILBOX: Final = 320
_FONTS: Final = [(name, name) for name in brand.FONTS]


class Brand(models.Model):
    """The brand of a producer, or of the installation."""

    producer = models.ForeignKey(
        Producer,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="brands",
        help_text="Empty: the brand of the installation, for producers without a brand.",
    )
    name = models.CharField(max_length=100, help_text="Name that recipients know.")
    logo_url = models.CharField(
        "logo URL",
        max_length=_URL,
        blank=True,
        help_text="https URL of an image, shown 40 pixels high. Empty: the name is shown.",
    )
    logo_alt = models.CharField(
        "text in place of the logo", max_length=100, blank=True, help_text="Empty: the name."
    )
    color = models.CharField(
        max_length=7,
        default=brand.COLOR,
        db_default=brand.COLOR,
        help_text="Colour of buttons and links, such as #1d4ed8, with a contrast of at least 4.5 to"
        " 1 on white. Text on the colour is black or white, whichever is easier to read.",
    )
    font = models.CharField(
        max_length=16,
        choices=_FONTS,
        default=brand.DEFAULT_FONT,
        db_default=brand.DEFAULT_FONT,
        help_text="Font of e-mails, which needs no download.",
    )
    footer = models.TextField(max_length=1_000, blank=True, help_text="Text below each e-mail.")
    postal_address = models.TextField(
        max_length=500,
        blank=True,
        help_text="Below each e-mail, such as laws on advertising by e-mail require.",
    )
    website_url = models.CharField(
        "website URL", max_length=_URL, blank=True, help_text="https URL, below each e-mail."
    )
    links = models.JSONField(
        default=list, db_default=[], blank=True, help_text="Up to five links below each e-mail."
    )
    sender_name = models.CharField(
        max_length=100,
        blank=True,
        help_text="Name in the From header. Empty: that of the e-mail provider's setting.",
    )
    sender_address = models.CharField(
        max_length=_MAILBOX,
        blank=True,
        help_text="Address in the From header, permitted by NOTIFY_MAIL_SENDERS. Empty: that of the"
        " e-mail provider's setting.",
    )
    reply_to = models.CharField(
        max_length=_MAILBOX,
        blank=True,
        help_text="Address that gets the answers. Empty: the sender.",
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        """A producer has at most one brand, and so has the installation."""

        app_label = "notifications"
        db_table = "brand"
        ordering = ("producer",)
        constraints = (
            models.UniqueConstraint(
                fields=("producer",),
                name="one_brand",
                nulls_distinct=False,
                violation_error_message="There is a brand of this producer, or of the installation,"
                " already: change that brand.",
            ),
        )

    def __str__(self) -> str:
        return self.name
