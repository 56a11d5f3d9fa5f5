"""Shared addresses: a dry run leaves out the same recipients as the expansion.

The expansion stores each address that has a message (`rows.take_addresses`). A dry run stores
nothing: it keeps the addresses of the examined recipients in memory, and finds the recipients
before a block of a sample by the index on the addresses of contacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import UniqueBy
from notifications.core.rules.lane import Mode
from notifications.features.audiences.rows import members
from notifications.features.audiences.rows.members import Member
from notifications.features.audiences.rules import nodes, parse
from notifications.features.bulk_jobs import page, rows
from notifications.features.bulk_jobs.page import PlannedPage
from notifications.features.bulk_jobs.rows import ListedAddress

_EARLIER: Final = 4
"""Recipients before a block that are examined for an address: one with a message suffices."""


class SharedAddresses:
    """The addresses of some pages of a dry run that have a message."""

    def __init__(self, job: BulkJob) -> None:
        self._job = job
        self._found: set[ListedAddress] = set()

    def build(self, found: Sequence[Member], *, is_first: bool = True) -> PlannedPage:
        """Build a page as the expansion does; an address of a page before gets no message.

        Args:
            found: the recipients, in ascending order of ids.
            is_first: False: the audience has recipients before, in no page of this object.

        Raises:
            TemplateGone: the template version was deleted meanwhile.
            ExpressionError: a name in the audience does not exist.
        """
        built = page.build(self._job, found)
        contacts = built.contact_ids
        if self._job.unique_by != UniqueBy.ADDRESS or not contacts:
            return built
        if not is_first:
            self._found |= self._before(found[0].recipient_id, contacts)
        listed = rows.addresses_of(contacts)
        taken = set()
        for contact in contacts:
            address = listed.get(contact)
            if address in self._found:
                taken.add(contact)
            elif address is not None:
                self._found.add(address)
        built.leave_out(taken)
        return built

    def _before(self, recipient_id: int, contacts: Sequence[int]) -> set[ListedAddress]:
        """Return the addresses of the messages of recipients before `recipient_id`."""
        job = self._job
        sharing = rows.sharing(contacts, before=recipient_id, each=_EARLIER)
        if not sharing:
            return set()
        people = nodes.UserIds(tuple(sharing.values()))
        found = members.page(
            nodes.And((parse.parse(job.audience), people)),
            mode=Mode(job.mode),
            after=0,
            until=recipient_id - 1,
            limit=len(sharing),
        )
        return set(rows.addresses_of(page.build(job, found).contact_ids).values())
