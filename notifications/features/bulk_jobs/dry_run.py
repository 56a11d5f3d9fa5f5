"""Dry run of a bulk job: the counts, the texts and the cost of a job that is not created.

The dry run uses the rules of the expansion (`page.build`) and stores nothing. It examines the whole
audience if the time suffices, else blocks of recipients at even distances, and says which. Counts
of the blocks are extrapolated to the audience.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from notifications.core import clock
from notifications.core.models import BulkJob, Recipient
from notifications.core.rules import phone
from notifications.core.rules.bulk_job import UniqueBy
from notifications.core.rules.lane import Mode
from notifications.core.store.cached import prices
from notifications.features.audiences.rows import members
from notifications.features.audiences.rows.members import Member
from notifications.features.audiences.rules import nodes
from notifications.features.audiences.rules.parse import parse
from notifications.features.bulk_jobs import page, renderings, rows
from notifications.features.bulk_jobs.page import Planned, PlannedPage
from notifications.features.bulk_jobs.renderings import Rendering
from notifications.features.bulk_jobs.rows import ListedAddress
from providers.contract import Channel

SECONDS: Final = 3.0
"""Time for examining recipients."""
_BLOCKS: Final = 40
"""Blocks of a sample, at even distances, each beginning at a random id."""
_BLOCK: Final = 250
"""Recipients of a block."""
_PAGE: Final = 2_000
_MOST_WHOLE: Final = 20_000
"""A larger audience is sampled."""
_MEASURED: Final = 200
"""Messages whose texts are rendered, and SMS whose country is looked up, for the cost."""
_RENDER_SECONDS: Final = 1.0
"""Time for rendering messages."""
_UNKNOWN: Final = "unknown_recipient"
_OUTSIDE: Final = "not_in_audience"

_EARLIER_EXAMINED: Final = 4
"""Recipients before a block examined for an address: one with a message suffices."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The estimated cost of the messages on a channel, to a country."""

    channel: Channel
    country: str
    """ISO 3166-1 alpha-2; empty for other channels than SMS, and for an unknown country."""
    messages: int
    units: int
    """SMS segments, or messages."""
    micros: int
    """Millionths of a US dollar."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The messages of a recipient, or the reason for none."""

    user_id: str
    left_out: str
    """Empty for a recipient with messages."""
    texts: Sequence[Rendering] = ()


@dataclass(slots=True)
class DryRun:
    """The result; counts are those of the examined recipients."""

    is_complete: bool = True
    """True if the whole audience was examined."""
    examined: int = 0
    audience: int = 0
    """Recipients of the audience: exact if complete, else an estimate."""
    left_out: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    """Examined recipients with a message."""
    deliveries: Counter[Channel] = field(default_factory=Counter)
    costs: list[Cost] = field(default_factory=list)
    rendered: int = 0
    """Messages whose texts were rendered: all, or some of them."""
    problems: Counter[str] = field(default_factory=Counter)
    """Cause -> rendered messages with a text that cannot be rendered: such a message fails."""
    mails: int = 0
    """Rendered e-mails."""
    mail_bytes: int = 0
    """Bytes of the rendered e-mails with their attachments."""
    samples: list[Sample] = field(default_factory=list)
    _texts: list[Planned] = field(default_factory=list)
    """Some of the messages, for samples and measures."""

    @property
    def factor(self) -> float:
        """Return the audience divided by the examined recipients."""
        return self.audience / self.examined if self.examined else 0.0

    @property
    def unrenderable(self) -> int:
        """Return the recipients of the whole audience with a failing message."""
        share = self.problems.total() / self.rendered if self.rendered else 0.0
        return round(share * self.messages * self.factor)

    @property
    def all_mail_bytes(self) -> int:
        """Return the bytes of all e-mails to the whole audience."""
        mean = self.mail_bytes / self.mails if self.mails else 0.0
        return round(mean * self.deliveries[Channel.EMAIL] * self.factor)

    def add(self, built: page.PlannedPage, *, recipients: int) -> None:
        """Count a page."""
        self.examined += recipients
        self.left_out.update(built.left_out)
        self.messages += len(built.messages)
        for message in built.messages:
            self.deliveries.update(Channel(channel) for channel, _ in message.contacts)
        step = max(len(built.messages) // _MEASURED, 1)
        self._texts.extend(built.messages[::step])

    def sample_messages(self) -> list[Planned]:
        """Return some messages, spread over the examined recipients."""
        return self._texts


def run(
    job: BulkJob, *, samples: int, user_ids: Sequence[str] = (), seconds: float = SECONDS
) -> DryRun:
    """Examine the audience of a job that is not stored.

    Args:
        job: the job, from `create.build`.
        samples: the number of random recipients whose messages are rendered.
        user_ids: recipients whose messages are rendered instead.
        seconds: the time for examining recipients.

    Raises:
        ExpressionError: a name in the audience does not exist.
        TemplateGone: the template version was deleted meanwhile.
    """
    found = _examine(job, until=clock.monotonic() + seconds)
    found.costs = list(_costs(found))
    _render(found)
    found.samples = (
        [_of_user(job, each) for each in user_ids] if user_ids else _random(found, samples)
    )
    return found


def _examine(job: BulkJob, *, until: float) -> DryRun:
    mode = Mode(job.mode)
    first, last = members.bounds(parse(job.audience), mode=mode)
    whole, after, addresses = DryRun(), first - 1, _SharedAddresses(job)
    while last and after < last:
        found = members.page(parse(job.audience), mode=mode, after=after, until=last, limit=_PAGE)
        whole.add(addresses.build(found), recipients=len(found))
        if len(found) < _PAGE:
            break
        after = found[-1].recipient_id
        if whole.examined >= _MOST_WHOLE or clock.monotonic() >= until:
            return _sample(job, (first, last), until=until)
    whole.audience = whole.examined
    return whole


def _sample(job: BulkJob, ends: tuple[int, int], *, until: float) -> DryRun:
    """Examine blocks of the audience; the density of the blocks gives the size."""
    first, last = ends
    width = (last - first + 1) / _BLOCKS
    found, covered = DryRun(is_complete=False), 0
    for number in _spread(range(_BLOCKS)):
        begins = first + int((number + clock.jitter() / 2) * width)
        ends_at = first + int((number + 1) * width)
        block = members.page(
            parse(job.audience),
            mode=Mode(job.mode),
            after=begins - 1,
            until=ends_at - 1,
            limit=_BLOCK,
        )
        built = _SharedAddresses(job).build(block, is_first=False)
        found.add(built, recipients=len(block))
        covered += (block[-1].recipient_id + 1 if len(block) == _BLOCK else ends_at) - begins
        if clock.monotonic() >= until and found.examined:
            break
    found.audience = round(found.examined * (last - first + 1) / max(covered, 1))
    return found


def _spread(blocks: Iterable[int]) -> list[int]:
    """Return the blocks in an order in which the first few lie far apart."""
    return sorted(blocks, key=lambda each: int(f"{each:08b}"[::-1], 2))


def _render(found: DryRun) -> None:
    """Render the texts of some messages; count the messages with a problem, and bytes of mails.

    A text with a masked variable does not count: the mask may be the problem.
    """
    kept, until = found.sample_messages(), clock.monotonic() + _RENDER_SECONDS
    for message in kept[:: len(kept) // _MEASURED + 1]:
        found.rendered += 1
        texts = renderings.of_message(message)
        mails = [each.mail_bytes for each in texts if each.mail_bytes]
        found.mails, found.mail_bytes = found.mails + len(mails), found.mail_bytes + sum(mails)
        texts = [each for each in texts if not each.is_masked]
        if problem := next((each.problem for each in texts if each.problem), ""):
            found.problems[problem] += 1
        if clock.monotonic() >= until:
            break


def _costs(found: DryRun) -> Iterator[Cost]:
    for channel, count in sorted(found.deliveries.items()):
        messages = round(count * found.factor)
        if channel is Channel.SMS:
            yield from _sms_costs(found.sample_messages(), messages)
        elif price := prices.price_of(channel):
            yield Cost(channel, "", messages, messages, messages * price)


def _sms_costs(kept: Sequence[Planned], messages: int) -> Iterator[Cost]:
    """Return the cost of SMS by country, from the segments and numbers of some of them."""
    chosen = [
        (each, contact)
        for each in kept
        for channel, contact in each.contacts
        if channel == Channel.SMS
    ]
    chosen = chosen[:: max(len(chosen) // _MEASURED, 1)]
    numbers = renderings.addresses(contact for _, contact in chosen)
    counts: Counter[str] = Counter()
    segments: Counter[str] = Counter()
    for each, contact in chosen:
        country = phone.country_of(numbers.get(contact, ""))
        counts[country] += 1
        segments[country] += renderings.of_delivery(each, Channel.SMS, contact).segments
    for country, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        share = messages / len(chosen)
        units = round(segments[country] * share)
        price = prices.price_of(Channel.SMS, country=country)
        yield Cost(Channel.SMS, country, round(count * share), units, units * price)


def _random(found: DryRun, count: int) -> list[Sample]:
    kept = found.sample_messages()
    chosen: list[int] = []
    while kept and len(chosen) < min(count, len(kept)):
        place = int(clock.jitter() * len(kept))
        if place not in chosen:
            chosen.append(place)
    return [
        Sample(kept[place].reach.user_id, "", renderings.of_message(kept[place]))
        for place in chosen
    ]


def _of_user(job: BulkJob, user_id: str) -> Sample:
    mode = Mode(job.mode)
    pk = Recipient.objects.filter(mode=mode, user_id=user_id).values_list("pk", flat=True).first()
    if pk is None:
        return Sample(user_id, _UNKNOWN)
    found = members.page(parse(job.audience), mode=mode, after=pk - 1, until=pk, limit=1)
    if not found:
        return Sample(user_id, _OUTSIDE)
    built = _SharedAddresses(job).build(found, is_first=False)
    if not built.messages:
        return Sample(user_id, next(iter(built.left_out), ""))
    return Sample(user_id, "", renderings.of_message(built.messages[0]))


class _SharedAddresses:
    """The addresses of some pages of a dry run with a message.

    The expansion stores each address with a message (`rows.take_addresses`). A dry run stores
    nothing: it keeps the addresses of the examined recipients in memory, and finds the recipients
    before a block of a sample by the index on the addresses of contacts.
    """

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
        sharing = rows.sharing(contacts, before=recipient_id, each=_EARLIER_EXAMINED)
        if not sharing:
            return set()
        people = nodes.UserIds(tuple(sharing.values()))
        found = members.page(
            nodes.And((parse(job.audience), people)),
            mode=Mode(job.mode),
            after=0,
            until=recipient_id - 1,
            limit=len(sharing),
        )
        return set(rows.addresses_of(page.build(job, found).contact_ids).values())
