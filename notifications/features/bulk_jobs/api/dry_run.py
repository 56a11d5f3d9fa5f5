"""`/v1/bulk-jobs/dry-run`: counts, texts and cost of a bulk job that is not created."""

from __future__ import annotations

import datetime as dt
from time import monotonic
from typing import Annotated, Any, Final

from pydantic import Field

from notifications.core.api import attached_files
from notifications.core.api.examples import TEMPLATE, USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import (
    AttachedFile,
    ChannelLabel,
    ChannelWord,
    RequestWarning,
    ResponseModel,
)
from notifications.core.models import BulkJob
from notifications.core.rules.access import BOTH
from notifications.core.rules.prices import MICROS
from notifications.core.rules.request import UserId
from notifications.core.rules.scopes import Scope
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.bulk_jobs import (
    create,
    dry_run,
    mail_checks,
    renderings,
    variant_checks,
)
from notifications.features.bulk_jobs.dry_run import Cost, DryRun, Sample
from notifications.features.bulk_jobs.renderings import Rendering
from notifications.features.bulk_jobs.rules.request import WHOLE, BulkJobRequest

_PLAIN: Final = {
    "name": "Menu of the week",
    "audience": {"everyone": True},
    "type": "MARKETING",
    "template_id": TEMPLATE,
    "variables": {"restaurant": "Burger Palace", "order_id": "the new menu"},
}

_PAID_BY: Final = dt.timedelta(milliseconds=50)
"""Time of a dry run that costs as much as a write, on top of the basic cost of 1."""


class DryRunRequest(BulkJobRequest):
    """The body of a bulk job, and the recipients whose messages are rendered."""

    samples: Annotated[int, Field(ge=0, le=10), WHOLE] = 3
    """Random recipients whose messages are rendered."""
    sample_user_ids: Annotated[list[UserId], Field(max_length=10)] = Field(default_factory=list)
    """Recipients whose messages are rendered, instead of random ones."""


class CostAnswer(ResponseModel):
    """The estimated cost of the messages on a channel."""

    channel: ChannelWord
    country: str | None
    """SMS: country of the numbers, such as `DE`; null: unknown."""
    messages: int
    units: int
    """SMS segments; messages on other channels."""
    cost_usd: float


class DryRunEstimate(ResponseModel):
    """Estimated numbers of the whole audience; exact if `is_complete`."""

    recipients: int
    notifications: int
    """Recipients who get a message."""
    unrenderable: int
    """Recipients among them whose text cannot be rendered, from up to 200 rendered messages: such a
    message fails."""
    messages: dict[ChannelLabel, int]
    """Channel -> messages."""
    mail_bytes: int
    """Bytes of all e-mails with their attachments, from up to 200 rendered messages."""
    cost_usd: float
    costs: list[CostAnswer]


class RenderedMessage(ResponseModel):
    """The text of a message, with sensitive variables and the address masked."""

    channel: ChannelWord
    address: str | None
    """null: the inbox of the recipient."""
    locale: str
    variant: str | None
    title: str | None
    body: str | None
    html: str | None
    segments: int
    """SMS segments; 1 on other channels."""
    problem: str | None
    """The cause if the text cannot be rendered."""
    attachments: list[AttachedFile]
    """Of the e-mail; none on other channels."""
    mail_bytes: int | None
    """Bytes of the e-mail with its attachments in base64, without headers; null on other channels,
    and without a text."""


class DryRunSample(ResponseModel):
    """The messages of a recipient."""

    user_id: str
    left_out: str | None
    """Reason for no message: one of `left_out`, `unknown_recipient` or `not_in_audience`."""
    messages: list[RenderedMessage]


class DryRunAnswer(ResponseModel):
    """The result of a dry run."""

    is_complete: bool
    """True: each recipient was examined. False: a sample, in the time for a dry run."""
    examined: int
    """Examined recipients."""
    accepted: int
    """Examined recipients who get a message."""
    left_out: dict[str, int]
    """Reason -> examined recipients without a message."""
    estimate: DryRunEstimate
    samples: list[DryRunSample]
    warnings: list[RequestWarning]
    """Mails without a visible unsubscribe link, by template; empty: none."""


@operation(
    "POST v1/bulk-jobs/dry-run",
    "Try a bulk job without sending",
    Access(Scope.CAMPAIGNS_WRITE, BOTH, "add_bulkjob"),
    DryRunRequest,
    answers={200: DryRunAnswer},
    tag="Campaigns",
    is_idempotent=False,
    examples={
        "minimal": Example("Counts, cost and three texts", body=_PLAIN),
        "usual": Example(
            "The texts of a recipient",
            body={**_PLAIN, "channels": ["push", "sms"], "sample_user_ids": [USER]},
        ),
    },
)
def try_bulk_job(call: Call, wanted: DryRunRequest) -> DryRunAnswer:
    """Check a bulk job, and return the counts, some texts and the estimated cost.

    The body is that of a new bulk job. A large audience is sampled. The call stores and sends
    nothing, so a repeat needs no idempotency key.
    """
    started = monotonic()
    try:
        job = create.build(call.caller, wanted, by=call.key.prefix)
        found = dry_run.run(job, samples=wanted.samples, user_ids=wanted.sample_user_ids)
    except ExpressionError as fault:
        raise_problem(fault.problem(within="/audience"))
    finally:
        call.charge(dt.timedelta(seconds=monotonic() - started) // _PAID_BY)
    return _to_answer(found, job)


def _to_answer(found: DryRun, job: BulkJob) -> DryRunAnswer:
    return DryRunAnswer(
        is_complete=found.is_complete,
        examined=found.examined,
        accepted=found.messages,
        left_out=dict(found.left_out),
        estimate=DryRunEstimate(
            recipients=found.audience,
            notifications=round(found.messages * found.factor),
            unrenderable=found.unrenderable,
            messages={
                channel.label: round(count * found.factor)
                for channel, count in sorted(found.deliveries.items())
            },
            mail_bytes=found.all_mail_bytes,
            cost_usd=sum(each.micros for each in found.costs) / MICROS,
            costs=[_cost(each) for each in found.costs],
        ),
        samples=[_sample(each) for each in found.samples],
        warnings=[
            RequestWarning(pointer=pointer, detail=detail)
            for pointer, detail in (*mail_checks.warnings(job), *variant_checks.warnings(job))
        ],
    )


def _cost(cost: Cost) -> CostAnswer:
    return CostAnswer(
        channel=cost.channel,
        country=cost.country or None,
        messages=cost.messages,
        units=cost.units,
        cost_usd=cost.micros / MICROS,
    )


def _sample(sample: Sample) -> DryRunSample:
    masked = renderings.masked_addresses(sample.texts)
    return DryRunSample(
        user_id=sample.user_id,
        left_out=sample.left_out or None,
        messages=[_message(each, masked.get(each.contact_id)) for each in sample.texts],
    )


def _message(rendering: Rendering, address: str | None) -> RenderedMessage:
    parts: dict[str, Any] = renderings.parts(rendering)
    return RenderedMessage(
        channel=rendering.channel,
        address=address,
        locale=rendering.locale,
        variant=rendering.variant or None,
        segments=rendering.segments,
        problem=rendering.problem or None,
        attachments=attached_files.describe(rendering.files),
        mail_bytes=rendering.mail_bytes or None,
        **parts,
    )
