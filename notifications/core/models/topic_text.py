"""Names and descriptions of topics for recipients, by locale."""

from __future__ import annotations

from django.db import models


class TopicText(models.Model):
    """The words for a category or notification type on the preference page, in one locale."""

    topic = models.CharField(
        max_length=64, help_text="A category or a notification type, as in the type's settings."
    )
    locale = models.CharField(max_length=35, help_text="BCP 47, such as de or pt-BR.")
    name = models.CharField(max_length=100, help_text="As recipients read it: Order updates.")
    description = models.CharField(
        max_length=300, blank=True, help_text="One sentence: which messages these are."
    )

    class Meta:
        verbose_name = "preference topic"
        ordering = ("topic", "locale")
        constraints = (
            models.UniqueConstraint(fields=("topic", "locale"), name="topic_text_once_per_locale"),
        )

    def __str__(self) -> str:
        return f"{self.topic} ({self.locale})"
