"""What is said: templates, their versions, a text for each channel and locale, and who did what."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from notifications.models.choices import CHANNELS


class Template(models.Model):
    """One version of a template.

    Accepting pins it: a later version never changes what was accepted. Once `published_at` is set,
    triggers refuse every change to the row and its texts but to `note`.
    """

    template_id = models.SlugField(max_length=64, help_text="The name that producers use.")
    version = models.PositiveIntegerField(default=1)
    published_at = models.DateTimeField(
        null=True, blank=True, help_text="The highest published version is the current one."
    )
    sensitive_variables = ArrayField(
        models.CharField(max_length=64),
        default=list,
        blank=True,
        help_text="Names of variables that are encrypted, masked and wiped (an OTP).",
    )
    no_longer_sensitive = ArrayField(
        models.CharField(max_length=64),
        default=list,
        db_default=[],
        blank=True,
        help_text="Names that were sensitive in the version before and are not in this one.",
    )
    variables = models.JSONField(
        default=list,
        blank=True,
        help_text="What producers must send: name, type, required, example.",
    )
    default_locale = models.CharField(
        max_length=35, default="en", help_text="For readers of a language that has no text."
    )
    note = models.CharField(max_length=200, blank=True)
    created_by = models.CharField(
        max_length=150, blank=True, help_text="An operator, an API key's prefix, or `files`."
    )
    published_by = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        """A version once."""

        ordering = ("template_id", "-version")
        permissions = (("publish_template", "Can publish template"),)
        constraints = (
            models.UniqueConstraint(
                fields=("template_id", "version"), name="template_version_once"
            ),
        )

    def __str__(self) -> str:
        """Name and version."""
        return f"{self.template_id} v{self.version}"


class TemplateText(models.Model):
    """A template version's words for one channel in one locale."""

    template = models.ForeignKey(Template, on_delete=models.CASCADE, related_name="texts")
    channel = models.SmallIntegerField(choices=CHANNELS)
    locale = models.CharField(max_length=35, default="en")
    title = models.TextField(blank=True, help_text="Title or subject.")
    body = models.TextField(
        blank=True, help_text="Left empty in an e-mail, it is read from the HTML."
    )
    html = models.TextField(blank=True, help_text="HTML part of an e-mail.")
    transliterate = models.BooleanField(
        default=False, help_text="SMS: say it in GSM-7 where that is possible."
    )
    max_segments = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="SMS: more with the examples, and it is not published."
    )
    shorten_links = models.BooleanField(
        default=False, help_text="SMS: links become short ones of ours that count their clicks."
    )

    class Meta:
        """One text for each channel and locale."""

        ordering = ("channel", "locale")
        constraints = (
            models.UniqueConstraint(
                fields=("template", "channel", "locale"), name="template_text_once"
            ),
        )

    def __str__(self) -> str:
        """Channel and locale."""
        return f"{self.get_channel_display()} {self.locale}"


class TemplateEvent(models.Model):
    """One line of what was done to a template, and by whom: kept when a draft is deleted."""

    class Verb(models.TextChoices):
        """What was done."""

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
        """Newest first."""

        ordering = ("-id",)

    def __str__(self) -> str:
        """What happened to which."""
        return f"{self.template_id} v{self.version} {self.verb}"
