"""Page: the messages of some members of an audience, by the rules of accept.

A member without a message is counted by reason. An error leaves out one member and stops no page.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
import structlog

from notifications.core.intake import plan, variable_checks
from notifications.core.models import BulkJob
from notifications.core.rules import attachments, channels, ids
from notifications.core.rules.channels import DEFAULT_ORDER, RecipientContacts, Spread
from notifications.core.rules.lane import Priority
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import reads, secret_variables
from notifications.core.store.templates import template_cache
from notifications.core.store.templates.template_cache import TemplateVersion
from notifications.features.audiences.rows.members import Member
from notifications.features.bulk_jobs.rows import SharedColumns
from notifications.features.bulk_jobs.rules import left_out, variants
from notifications.features.bulk_jobs.rules.left_out import LeftOut
from providers.contract import Channel

_log = structlog.get_logger(__name__)


class Planned(NamedTuple):
    """A message of a member."""

    shared: SharedColumns
    reach: RecipientContacts
    variables: str
    """JSON."""
    secrets: bytes | None
    contacts: Sequence[tuple[int, int]]
    """Channel and contact id of each delivery."""


@dataclass(slots=True)
class PlannedPage:
    """The messages of a page, and the number of members without a message by reason."""

    messages: list[Planned] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def contact_ids(self) -> list[int]:
        """Return the contacts that a job reaches once, in the order of the messages."""
        return [
            contact
            for message in self.messages
            for channel, contact in message.contacts
            if channel in left_out.ONCE
        ]

    def leave_out(self, taken: Collection[int]) -> None:
        """Remove the deliveries to contacts at an address with a message of the job.

        A member without another delivery gets no message and is counted.
        """
        if not taken:
            return
        kept = []
        for message in self.messages:
            contacts = [each for each in message.contacts if each[1] not in taken]
            if contacts:
                kept.append(message._replace(contacts=contacts))
            else:
                self.left_out[LeftOut.SAME_ADDRESS.value] += 1
        self.messages = kept


class _Skipped(Exception):
    """The member gets no message."""

    def __init__(self, reason: LeftOut) -> None:
        super().__init__(reason.value)
        self.reason = reason


class TemplateGone(Exception):
    """The pinned template version of the job was deleted: cancel the job and create a new one."""


def build(job: BulkJob, members: Sequence[Member]) -> PlannedPage:
    """Choose the contacts of members and build their messages.

    Raises:
        TemplateGone: a pinned template version does not exist.
        InvalidToken: none of the configured encryption keys can decrypt the variables of the job.
    """
    page = PlannedPage()
    reaches = reads.reaches_by_id([each.recipient_id for each in members])
    builder = _Builder(job)
    for member in members:
        try:
            page.messages.append(builder.message(member, reaches.get(member.recipient_id)))
        except _Skipped as skipped:
            page.left_out[skipped.reason.value] += 1
        except TemplateGone:
            raise
        except Exception:  # noqa: BLE001 - whatever a member causes, it must not stop the others
            _log.exception("recipient_left_out", job=str(job.pk), recipient=member.recipient_id)
            page.left_out[LeftOut.FAILED.value] += 1
    return page


class _Variant(NamedTuple):
    """The shared values of the messages of one variant."""

    template: TemplateVersion
    shared: SharedColumns
    variables: str
    secrets: bytes | None
    is_complete: bool
    """True if the variables of the job suffice for the template."""


class _Builder:
    """Builds the messages of a job."""

    def __init__(self, job: BulkJob) -> None:
        """Decrypt the sensitive variables of the job.

        Raises:
            InvalidToken: none of the configured encryption keys can decrypt the variables.
        """
        self._job = job
        hidden = secret_variables.decrypt(bytes(job.secrets)).reveal() if job.secrets else {}
        self._values: dict[str, Any] = {**job.variables, **hidden}
        self._sensitive = frozenset(hidden)
        self._wanted = [Channel(each) for each in job.channels]
        self._spread = Spread(job.spread)
        self._priority = Priority(job.priority)
        self._topics = notification_types.topics(job.type, job.category)
        self._variants: dict[variants.Variant, _Variant] = {}
        self._divides = bool(job.variants or job.holdout_percent)

    def message(self, member: Member, reach: RecipientContacts | None) -> Planned:
        """Build the message of a member.

        Raises:
            _Skipped: the member gets no message.
            TemplateGone: the pinned template version does not exist.
        """
        if reach is None:
            raise _Skipped(LeftOut.ERASED)
        variant = self._variant_of(member)
        contacts = self._contacts(reach, variant.template)
        if member.variables:
            return self._with_variables(member.variables, reach, variant, contacts)
        if not variant.is_complete:
            raise _Skipped(LeftOut.INVALID_VARIABLES)
        return Planned(variant.shared, reach, variant.variables, variant.secrets, contacts)

    def _variant_of(self, member: Member) -> _Variant:
        """Return the variant of a member.

        Raises:
            _Skipped: the member is in the holdout.
            TemplateGone: the pinned template version does not exist.
        """
        chosen: variants.Variant | None = variants.Variant("", self._job.template)
        if self._divides:
            chosen = variants.choose(self._job, member.recipient_id)
        if chosen is None:
            raise _Skipped(LeftOut.HOLDOUT)
        return self._variants.get(chosen) or self._load(chosen)

    def _contacts(
        self, reach: RecipientContacts, template: TemplateVersion
    ) -> Sequence[tuple[int, int]]:
        """Return channel and contact id of each delivery, by the rules of accept.

        Raises:
            _Skipped: no channel can be used.
        """
        wanted = self._channels(reach, template)
        if not wanted:
            raise _Skipped(LeftOut.NO_TEXT)
        resolved = channels.resolve(
            reach,
            wanted=wanted,
            spread=self._spread,
            topics=self._topics,
            priority=self._priority,
        )
        contacts = left_out.usable(resolved.targets)
        if not contacts:
            stops = [target.stop for target in resolved.targets]
            raise _Skipped(left_out.reason_of([*stops, *(stop for _, stop in resolved.skipped)]))
        return contacts[: ids.MAX_DELIVERIES]

    def _channels(self, reach: RecipientContacts, template: TemplateVersion) -> list[Channel]:
        """Return the channels of a recipient in order for which the template has a text."""
        order = self._wanted or reach.channel_order or DEFAULT_ORDER
        return [channel for channel in order if channel in template.texts]

    def _with_variables(
        self,
        own: Mapping[str, Any],
        reach: RecipientContacts,
        variant: _Variant,
        contacts: Sequence[tuple[int, int]],
    ) -> Planned:
        """Build a message with variables of the member, which replace variables of the job.

        Raises:
            _Skipped: a variable is missing or wrong.
        """
        merged = {**self._values, **own}
        if self._mistakes(variant.template, merged):
            raise _Skipped(LeftOut.INVALID_VARIABLES)
        open_, secrets = plan.seal(merged, self._sensitive | variant.template.sensitive)
        return Planned(variant.shared, reach, orjson.dumps(open_).decode(), secrets, contacts)

    def _mistakes(self, template: TemplateVersion, variables: Mapping[str, Any]) -> bool:
        wanted = self._wanted or list(template.texts)
        return any(variable_checks.mistakes(template, wanted, variables))

    def _load(self, chosen: variants.Variant) -> _Variant:
        """Read the template version of a variant.

        Raises:
            TemplateGone: the template version does not exist.
        """
        job = self._job
        version = template_cache.by_id([chosen.template]).get(chosen.template)
        template = version and version.of_variant(chosen.template_variant)
        if template is None:
            raise TemplateGone(chosen.template)
        rule = notification_types.every().get(job.type)
        open_, secrets = plan.seal(self._values, self._sensitive | template.sensitive)
        shared = SharedColumns(
            producer_id=job.producer_id,
            mode=job.mode,
            priority=job.priority,
            type=job.type,
            category=job.category,
            retry_preset=rule.retry_preset if rule else "",
            template=template.id,
            metadata=orjson.dumps(job.metadata).decode(),
            channels=[int(channel) for channel in self._wanted],
            spread=job.spread,
            bulk_job_id=job.pk,
            variant=chosen.name,
            template_variant=chosen.template_variant,
            attachments=attachments.write(template.attachments_on(self._wanted)),
        )
        self._variants[chosen] = found = _Variant(
            template,
            shared,
            orjson.dumps(open_).decode(),
            secrets,
            is_complete=not self._mistakes(template, self._values),
        )
        return found


def expiry(job: BulkJob, due_at: dt.datetime, *, default: dt.timedelta) -> dt.datetime:
    """Return the end of the life of a message that is due at a time."""
    ttl = dt.timedelta(seconds=job.ttl_seconds) if job.ttl_seconds else default
    return due_at + ttl
