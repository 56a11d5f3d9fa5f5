"""The composer: a form that makes a bulk job, with live figures and checks while it is typed.

    show       the page
    check      the parts of the page for the typed values; stores nothing
    cost       the part with the counts and the cost of a dry run; stores nothing
    send       the page that asks for a confirmation; a test job needs none and is created
    confirmed  one bulk job, with `create`

The page keeps the draft in the fragment of its address, which no server sees. A reload, a bookmark
or a colleague with the address has the same draft. Without JavaScript, "Check" answers with the
whole page. The form has the id of the future job, so a second press of "Send" makes no second job,
and the ids of the shown template versions, so no text is sent that the sender has not seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.urls import reverse

from notifications.core import clock
from notifications.core.admin import base, confirmation
from notifications.core.admin.audited import name_of
from notifications.core.admin.block_kinds import BLOCK_KINDS
from notifications.core.models import BulkJob
from notifications.core.rules.channels import Spread
from notifications.core.rules.lane import Mode, Priority
from notifications.core.store.postgres import audit
from notifications.core.store.templates.versions import NotPublishable
from notifications.features.audiences.admin import choices
from notifications.features.audiences.rules import wording
from notifications.features.bulk_jobs import create
from notifications.features.bulk_jobs.admin import (
    compose_cost,
    compose_draft,
    compose_text,
    compose_variables,
    job_words,
)
from notifications.features.bulk_jobs.admin.compose_draft import Draft
from notifications.features.bulk_jobs.admin.compose_form import (
    CHOSEN,
    VARIANT_PARTS,
    VARIANTS,
    ComposeForm,
)
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.bulk_jobs.rules.request import BulkJobRequest, VariantRequest

_STARTED_BY: Final = frozenset({"template_id", "type", "audience", "name", "mode"})
"""Fields that a link to the composer may fill in."""
_TEMPLATES: Final = {
    "audience": "audiences/size.html",
    "previews": "bulk_jobs/composer/previews.html",
    "summary": "bulk_jobs/composer/summary.html",
}
"""Part of the page -> template."""

_CHANGED: Final = (
    "The job is not sent: its audience or its type changed since this page was shown. Read again."
)
_NO_VERSION: Final = "The page did not show this version of the texts. Read the preview, then send."


class _NotSeen(Exception):
    """The job would have a part that the page did not show: the field of the form, a sentence."""


def answer(model_admin: admin.ModelAdmin[Any], request: HttpRequest) -> HttpResponse:
    """Show the composer, check a draft, or send the draft."""
    if request.method != "POST":
        given = _initial(request)
        form = ComposeForm(initial={"job_id": clock.new_notification_id(), **given})
        return _page(model_admin, request, form, {}, state="filled" if given else "")
    form = ComposeForm(request.POST)
    form.is_valid()
    if form.writes_text and (said := compose_text.refusal(request.user)):
        form.add_error("text_from", said)
        form.cleaned_data.pop(compose_text.CONTENT, None)
    with compose_text.shown(form.cleaned_data):
        return _answer_draft(model_admin, request, compose_draft.examine(form))


def _answer_draft(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, draft: Draft
) -> HttpResponse:
    """Check a draft, or send the draft."""
    is_json = request.headers.get("Accept") == "application/json"
    wish = request.POST.get("do")
    if wish in {"send", "confirmed"}:
        answered = _try_to_send(model_admin, request, draft, is_confirmed=wish == "confirmed")
        if answered:
            return answered
    elif wish == "cost" and is_json:
        return JsonResponse({"parts": {"cost": _cost(request, draft)}})
    else:
        draft.errors = _of_given_fields(draft)
    parts = _parts(request, draft)
    if is_json:
        found: dict[str, Any] = {"parts": parts, "errors": draft.errors}
        found["audience"] = draft.audience_faults
        found["variables"] = compose_variables.used(draft.value)
        return JsonResponse({**found, "is_ready": draft.is_ready})
    for name, text in draft.errors.items():
        draft.form.errors[name] = draft.form.error_class([text])
    parts["cost"] = _cost(request, draft)
    return _page(model_admin, request, draft.form, parts, state="answered")


def _try_to_send(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, draft: Draft, *, is_confirmed: bool
) -> HttpResponse | None:
    """Send a draft without a fault, or ask for the confirmation; None for a draft with a fault."""
    if draft.is_ready and draft.request is not None:
        try:
            if draft.must_be_confirmed and not _job_of(draft):
                said = _objection(draft) if is_confirmed else ""
                is_seen = confirmation.is_seen(request, _stamp(draft, draft.request))
                if is_confirmed and not is_seen:
                    messages.error(request, _CHANGED)
                if said or not is_seen or not is_confirmed:
                    return _question(model_admin, request, draft, draft.request, said=said)
            return HttpResponseRedirect(_send(request, draft, draft.request))
        except BulkJobRefused as error:
            draft.errors |= draft.form.fields_of(error.problem.errors)
        except _NotSeen as error:
            field, said = error.args
            draft.errors[field] = said
        except NotPublishable as error:
            draft.errors["text_from"] = f"{error}."
    missing = " ".join(CHOSEN[name] for name in draft.missing)
    messages.error(request, f"The job is not sent. {missing or 'See the faults below.'}")
    return None


def _send(request: HttpRequest, draft: Draft, wanted: BulkJobRequest) -> str:
    """Create the job once for the id of the form; return the address of the job's page.

    Safe to run twice and concurrently: the id is the primary key.

    Raises:
        BulkJobRefused: the type, a template or a variable became wrong.
        NotPublishable: the written text has an objection.
        IntegrityError: the row is refused for another cause than the id.
        _NotSeen: as `_check_seen`.
    """
    job_id = draft.value["job_id"]
    page = reverse("admin:notifications_bulkjob_change", args=[job_id])
    by = name_of(request)
    caller = compose_draft.caller_of(draft.value["producer"], draft.mode, by=by)
    try:
        with transaction.atomic(), compose_text.stored(draft.value, by=by):
            job = create.create(caller, wanted, by=by, job_id=job_id)
            _check_seen(request, job, draft)
            audit.record(by, "create_bulk_job", job, after={"name": job.name, "state": job.state})
    except IntegrityError:
        if not BulkJob.objects.filter(pk=job_id).exists():
            raise
        said = "This draft was sent before. Compose a copy for a further job."
        messages.warning(request, said)
        return page
    messages.success(request, f"{job.name} is {job.state}.")
    return page


def _check_seen(request: HttpRequest, job: BulkJob, draft: Draft) -> None:
    """Compare a stored job with the job that the pages have shown.

    A written text is a part of the form, so the sender has seen the text.

    Raises:
        _NotSeen: the audience, the priority or a version of a template is another one than shown.
    """
    stamp = confirmation.stamp(job.audience, Priority(job.priority).name)
    if draft.must_be_confirmed and not confirmation.is_seen(request, stamp):
        raise _NotSeen("audience", _CHANGED)
    seen = set(request.POST.getlist("seen"))
    pinned = {job.template, *(each["template"] for each in job.variants)}
    if compose_text.CONTENT in draft.value:
        pinned.remove(job.template)
    if not {str(each) for each in pinned} <= seen:
        raise _NotSeen("template_id", _NO_VERSION)


def _question(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    draft: Draft,
    wanted: BulkJobRequest,
    *,
    said: str,
) -> HttpResponse:
    """Return the page that shows the whole job and asks for the confirmation.

    Args:
        model_admin: the admin of bulk jobs.
        request: the request.
        draft: a draft without a fault.
        wanted: the request of the draft.
        said: the fault of the written name; empty: none.
    """
    if said:
        draft.form.add_error("confirmation", said)
    context = {
        **_confirm_context(draft, wanted),
        "previews": _parts(request, draft)["previews"],
        "cost": _cost(request, draft),
    }
    template, title = "bulk_jobs/confirm.html", "Confirm the bulk job"
    return base.page(model_admin, request, template, title=title, context=context)


def _of_given_fields(draft: Draft) -> dict[str, str]:
    """Return the errors without those of empty fields: the form is not finished yet."""
    given = {name for name in draft.form.fields if draft.form[name].value()}
    return {name: text for name, text in draft.errors.items() if name in given}


def _parts(request: HttpRequest, draft: Draft) -> dict[str, str]:
    """Return part of the page -> HTML."""
    may_see = bool(request.user.has_perm("notifications.view_recipient"))
    previews = compose_draft.previews_context(draft, may_see_recipients=may_see)
    contexts: dict[str, dict[str, Any]] = {
        "audience": {
            "estimate": draft.estimate,
            "sentence": wording.describe(draft.expression) if draft.expression else "",
            "faults": draft.audience_faults,
        },
        "previews": previews,
        "summary": {
            "sentence": job_words.of_draft(draft),
            "schedule": draft.schedule_words(),
            "checks": draft.checks,
            "sent": _job_of(draft),
        },
    }
    return {name: base.part(_TEMPLATES[name], context) for name, context in contexts.items()}


def _cost(request: HttpRequest, draft: Draft) -> str:
    may_see = request.user.has_perm("notifications.view_recipient")
    user_id = str(draft.value.get("preview_user") or "").strip() if may_see else ""
    found = compose_cost.context(draft, user_id=user_id)
    return base.part("bulk_jobs/composer/cost.html", found)


def _job_of(draft: Draft) -> BulkJob | None:
    """Return the job of a draft sent before."""
    job_id = draft.value.get("job_id")
    return BulkJob.objects.filter(pk=job_id).only("name").first() if job_id else None


def _page(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    form: ComposeForm,
    parts: Mapping[str, str],
    *,
    state: str,
) -> HttpResponse:
    """Return the page; `state` is `filled` with values, or `answered` with checked values."""
    form.offer_names()
    rows = [[form[f"variant_{each}_{part}"] for part in VARIANT_PARTS] for each in VARIANTS]
    return base.page(
        model_admin,
        request,
        "bulk_jobs/composer.html",
        title="Compose a bulk job",
        context={
            "form": form,
            "parts": parts,
            "state": state,
            "variants": rows,
            "used": compose_variables.used(form.cleaned_data) if state == "answered" else [],
            "languages": [*compose_text.languages(form)],
            "block_kinds": BLOCK_KINDS,
            "text_refusal": compose_text.refusal(request.user),
            "is_open": _open_parts(form),
            "is_live": str(form["mode"].value()) == str(Mode.LIVE.value),
            "may_see_recipients": request.user.has_perm("notifications.view_recipient"),
            **choices.context(form["mode"].value()),
        },
    )


def _initial(request: HttpRequest) -> dict[str, Any]:
    """Return the values of a link: `?copy=` has the id of a job, `?saved=` an audience's name."""
    query = cast("QueryDict", request.GET)
    found: dict[str, Any] = {name: query[name] for name in _STARTED_BY & query.keys()}
    if "saved" in query:
        found["audience"] = json.dumps({"audience": query["saved"]}, ensure_ascii=False)
    if "copy" in query:
        try:
            job = BulkJob.objects.filter(pk=str(query["copy"])).first()
        except ValidationError:
            job = None
        if job is not None:
            found = compose_draft.values_of_copy(job)
    return found


def _open_parts(form: ComposeForm) -> set[str]:
    """Return the folded parts of the form with a value."""
    return {
        part
        for part in ("variant", "winner", "holdout", "test_group", "abort", "metadata")
        if any(form[name].value() for name in form.fields if name.startswith(part))
    }


def _confirm_context(draft: Draft, wanted: BulkJobRequest) -> dict[str, Any]:
    """Return the values of the page, without the previews and the cost.

    Args:
        draft: a draft without a fault.
        wanted: the request of the draft.

    Raises:
        BulkJobRefused: the type became wrong.
    """
    return {
        "form": draft.form,
        "shown": _stamp(draft, wanted),
        "name": wanted.name,
        "size": _size_text(draft),
        "sentence": job_words.of_draft(draft),
        "facts": list(_confirm_facts(draft, wanted)),
        "warnings": [check for check in draft.checks if check.level == "warning"],
        "must_be_named": draft.must_be_named,
        "large": compose_draft.LARGE,
    }


def _stamp(draft: Draft, wanted: BulkJobRequest) -> str:
    """Return the stamp of what the form names, and others may change; `_check_seen` compares anew.

    The size is no part: an audience may grow by a recipient in each second.

    Raises:
        BulkJobRefused: the type became wrong.
    """
    caller = compose_draft.caller_of(draft.value["producer"], draft.mode, by="")
    rule = create.type_rule(caller, wanted)
    return confirmation.stamp(draft.audience, rule.priority.name)


def _objection(draft: Draft) -> str:
    """Return a sentence if the job has to be named and is not; else an empty text."""
    name = str(draft.value["name"]).strip()
    is_named = str(draft.value.get("confirmation") or "").strip() == name
    return "" if is_named or not draft.must_be_named else f"Write the name of the job: {name}"


def _size_text(draft: Draft) -> str:
    if draft.estimate is None:
        return "no recipient"
    about = "" if draft.estimate.is_exact else "about "
    plural = "" if draft.estimate.count == 1 else "s"
    return f"{about}{draft.estimate.count:,} recipient{plural}"


def _confirm_facts(draft: Draft, wanted: BulkJobRequest) -> Iterator[tuple[str, str]]:
    producer = draft.value["producer"]
    rule = create.type_rule(compose_draft.caller_of(producer, draft.mode, by=""), wanted)
    yield "Producer", producer.name
    yield "Type", f"{wanted.type}, priority {rule.priority.name}"
    if compose_text.CONTENT in draft.value:
        languages = dict.fromkeys(each.locale for each in draft.value[compose_text.CONTENT].texts)
        yield "Text", f"written for this job, in {', '.join(languages)}"
    else:
        yield "Template", wanted.template_id
    if wanted.variants:
        yield "Variants", "; ".join(_variant_text(each) for each in wanted.variants)
    if wanted.holdout_percent:
        yield "Holdout", f"{wanted.holdout_percent} % of the audience get no message"
    yield "Channels", _channels_text(wanted)
    said = wording.describe(draft.expression) if draft.expression else ""
    yield "Audience", f"{_size_text(draft)}: {said}"
    yield "Schedule", draft.schedule_words()


def _variant_text(variant: VariantRequest) -> str:
    text = f"variant {variant.template_variant}" if variant.template_variant else ""
    own = ", ".join(filter(None, [variant.template_id, text]))
    return f"{variant.name}{f' ({own})' if own else ''}, {variant.percent} %"


def _channels_text(wanted: BulkJobRequest) -> str:
    names = ", ".join(each.label for each in wanted.channels) or "in the order of each recipient"
    if wanted.delivery is Spread.ALL:
        return f"{names}; all of them"
    return f"{names}; the first usable one"
