"""Templates: versions, texts by channel and locale, and history."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from notifications.core.models.choices import CHANNELS
from notifications.core.rules.fallback import FallbackOn
from notifications.core.rules.roles import permissions_of


class Template(models.Model):
    """A version of a template.

    A notification stores the version at acceptance, so later versions do not change accepted
    notifications. After `published_at` is set, triggers refuse changes of the row and the texts,
    except for `note`.
    """

    template_id = models.SlugField(max_length=64, help_text="Name of the template in requests.")
    version = models.PositiveIntegerField(default=1, db_default=1)
    published_at = models.DateTimeField(
        null=True, blank=True, help_text="The highest published version is the current one."
    )
    sensitive_variables = ArrayField(
        models.CharField(max_length=64),
        default=list,
        db_default=[],
        blank=True,
        help_text="Names of variables that are encrypted, masked and wiped (an OTP).",
    )
    no_longer_sensitive = ArrayField(
        models.CharField(max_length=64),
        default=list,
        db_default=[],
        blank=True,
        help_text="Names declared sensitive in the previous version only.",
    )
    variables = models.JSONField(
        default=list,
        db_default=[],
        blank=True,
        help_text="Declared variables: name, type, required, example.",
    )
    default_locale = models.CharField(
        max_length=35,
        default="en",
        db_default="en",
        help_text="Locale for recipients whose language has no text.",
    )
    fallback_on = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        choices=[
            ("", "as the notification type"),
            *((each.value, each.label) for each in FallbackOn if each),
        ],
        help_text="Condition for the next channel of a fallback chain.",
    )
    confirm_seconds = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="Seconds to wait for a receipt before the next channel of a fallback chain."
        " 0: as the notification type.",
    )
    attachments = models.JSONField(
        default=list,
        db_default=[],
        blank=True,
        help_text="Files of each e-mail, without the contents: name, type, size, digest, inline_id"
        " (`rules.attachments.TemplateFile`).",
    )
    note = models.CharField(max_length=200, blank=True)
    created_by = models.CharField(
        max_length=150, blank=True, help_text="An operator, an API key's prefix, or `files`."
    )
    published_by = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("template_id", "-version")
        permissions = permissions_of("template")
        constraints = (
            models.UniqueConstraint(
                fields=("template_id", "version"), name="template_version_once"
            ),
        )
        indexes = (
            GinIndex(
                fields=("attachments",),
                opclasses=("jsonb_path_ops",),
                condition=~models.Q(attachments=[]),
                name="template_attachments",
            ),
        )

    def __str__(self) -> str:
        return f"{self.template_id} v{self.version}"


class TemplateText(models.Model):
    """The text of a template version for a channel and locale, or a variant of the text."""

    template = models.ForeignKey(Template, on_delete=models.CASCADE, related_name="texts")
    channel = models.SmallIntegerField(choices=CHANNELS)
    locale = models.CharField(max_length=35, default="en", db_default="en")
    variant = models.CharField(
        max_length=32,
        blank=True,
        default="",
        db_default="",
        help_text="Variant of an A/B test, such as b; its empty fields have the values of the base"
        " text. Empty: the base text.",
    )
    title = models.TextField(blank=True, help_text="Title or subject.")
    body = models.TextField(blank=True, help_text="Empty for e-mail: derived from the HTML.")
    html = models.TextField(blank=True, help_text="HTML part of an e-mail.")
    blocks = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Source of an e-mail in blocks, compiled to the body and the HTML.",
    )
    transliterate = models.BooleanField(
        default=False,
        db_default=False,
        help_text="SMS: replace characters outside GSM-7 where possible.",
    )
    max_segments = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="SMS: a text whose example needs more segments cannot be published. Empty: one.",
    )
    shorten_links = models.BooleanField(
        default=False,
        db_default=False,
        help_text="SMS: replace links by short links with click counts.",
    )
    in_app = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text='In-app: {"url": ..., "image_url": ..., "actions": [{"id", "label", "url"}]}.'
        " The template editor has a field for each.",
    )
    vendor_template = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text='Chat: the approved template of WhatsApp, {"ids": {"whatsapp":'
        ' "order_shipped/en_US", "twilio": "HX..."}, "parameters": ["{{ name }}"]}.',
    )

    class Meta:
        ordering = ("channel", "locale", "variant")
        constraints = (
            models.UniqueConstraint(
                fields=("template", "channel", "locale", "variant"), name="template_text_once"
            ),
        )

    def __str__(self) -> str:
        variant = f", variant {self.variant}" if self.variant else ""
        return f"{self.get_channel_display()} {self.locale}{variant}"


class TemplateEvent(models.Model):
    """An event in the history of a template; kept after deletion of a draft."""

    class Verb(models.TextChoices):
        """Kind of event."""

        DRAFTED = "drafted"
        EDITED = "edited"
        PUBLISHED = "published"
        ROLLED_BACK = "rolled back"
        DELETED = "deleted"
        SEALED = "sealed"

    at = models.DateTimeField(auto_now_add=True)
    template_id = models.SlugField(max_length=64)
    version = models.PositiveIntegerField()
    verb = models.CharField(max_length=16, choices=Verb.choices)
    by = models.CharField(max_length=150)
    detail = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.template_id} v{self.version} {self.verb}"
