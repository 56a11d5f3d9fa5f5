"""Texts that a variant of a template does not replace, checked before a bulk job is sent.

The composer of the admin and the dry run of the API show the same sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from notifications.core.models import BulkJob
from notifications.core.store.templates import template_cache
from notifications.core.store.templates.template_cache import TemplateVersion
from providers.contract import Channel


def base_texts_fault(version: TemplateVersion, channels: Iterable[Channel]) -> str:
    """Return a sentence if recipients of a variant get a base text; else empty.

    Args:
        version: the version with the texts of a variant, or of no variant.
        channels: the channels of the job; none: every channel of the template.
    """
    without = [
        f"{channel.label} {locale}"
        for channel in channels or version.texts
        for locale, text in version.texts.get(channel, {}).items()
        if text.variant != version.variant
    ]
    if not without:
        return ""
    return f"{version.label}: recipients of {', '.join(without)} get the base text."


def warnings(job: BulkJob) -> Iterator[tuple[str, str]]:
    """Yield pointer and sentence of the faults of an unstored job."""
    versions = template_cache.by_id([each["template"] for each in job.variants])
    for position, each in enumerate(job.variants):
        version = versions[each["template"]].of_variant(each["template_variant"])
        if version and (fault := base_texts_fault(version, [*map(Channel, job.channels)])):
            yield f"/variants/{position}/template_variant", fault
