"""Unsubscribe links and attachments of the mails of a bulk job, checked before the job is sent.

The composer of the admin and the dry run of the API show the same sentences.
"""

from __future__ import annotations

from collections.abc import Iterator

from notifications.core.models import BulkJob
from notifications.core.rules.lane import Mode
from notifications.core.rules.texts import wording
from notifications.core.store.cached import notification_types
from notifications.core.store.templates import files, template_cache
from notifications.core.store.templates.template_cache import TemplateVersion
from providers.contract import Channel


def unsubscribe_fault(version: TemplateVersion, *, type_: str) -> str:
    """Return a sentence if mails of a template have no visible unsubscribe link; else empty."""
    if type_ and notification_types.is_mandatory(type_):
        return f"{type_} is mandatory: its mails have no unsubscribe link."
    texts = version.texts.get(Channel.EMAIL, {})
    without = sorted(locale for locale, text in texts.items() if not wording.has_link(text))
    if not without:
        return ""
    named = ", ".join(without)
    return f"{version.label}: the mails in {named} have no visible unsubscribe link."


def files_fault(version: TemplateVersion, *, mode: Mode) -> str:
    """Return a sentence if no provider takes the attachments of a template; else empty."""
    fault = files.size_fault(version.attachments, mode=mode) if version.attachments else ""
    return fault and f"{version.label}: {fault}."


def warnings(job: BulkJob) -> Iterator[tuple[str, str]]:
    """Yield pointer and sentence of the faults of an unstored job."""
    if job.channels and Channel.EMAIL not in job.channels:
        return
    places = {(job.template, ""): "/template_id"}
    for position, each in enumerate(job.variants):
        variant = each["template_variant"]
        name = "template_variant" if variant else "template_id"
        places.setdefault((each["template"], variant), f"/variants/{position}/{name}")
    versions = template_cache.by_id([template for template, _ in places])
    for (template, variant), pointer in places.items():
        version = versions[template].of_variant(variant) if template in versions else None
        if version is None or Channel.EMAIL not in version.texts:
            continue
        if fault := unsubscribe_fault(version, type_=job.type):
            yield pointer, fault
        if fault := files_fault(version, mode=Mode(job.mode)):
            yield pointer, fault
