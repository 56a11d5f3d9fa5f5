"""The editor of a series: the steps as forms, beside the picture of the steps.

    show      the page of a new series, or of the draft of a series
    answer    a posted form
      check   the faults and the picture; stores nothing
      save    stores the draft
      publish stores the draft, and leads to the question of the publication

The script draws the forms from the definition in the text box, and writes each change into the text
box. So the form takes the JSON of the API, through the same checks, and works without the script.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse

from notifications.core.admin import base
from notifications.core.admin.audited import AuditedAdmin, name_of
from notifications.core.intake.validation import Caller
from notifications.core.rules.problems import FieldError, Problem
from notifications.core.store.postgres import audit
from notifications.features.series import figures, versions
from notifications.features.series.admin import choices, page, picture
from notifications.features.series.admin.forms import NewSeriesForm
from notifications.features.series.models import Series
from notifications.features.series.rules import definition, program, wording
from notifications.features.series.rules.definition import Definition

_EMPTY: Final = '{\n  "steps": []\n}'
"""The definition of a new series."""


@dataclass(slots=True)
class Typed:
    """A posted definition."""

    text: str
    content: object = None
    parsed: Definition | None = None
    faults: list[FieldError] = field(default_factory=list)
    """Reasons against saving."""
    objections: list[FieldError] = field(default_factory=list)
    """Reasons against publishing."""
    seen: str = ""
    """`versions.mark_of` the draft that the page has shown."""


def show(model_admin: AuditedAdmin, request: HttpRequest, series: Series | None) -> HttpResponse:
    """Show the page; the text box has the draft, or the published version for a new draft."""
    typed = examine(_stored_definition(series), _caller_of(series))
    typed.seen = versions.mark_of(series) if series else ""
    form = NewSeriesForm(initial={"mode": request.GET.get("mode", "")}) if series is None else None
    return _page(model_admin, request, series, typed, form)


def answer(model_admin: AuditedAdmin, request: HttpRequest, series: Series | None) -> HttpResponse:
    """Answer a posted form: JSON for the script, otherwise a page."""
    form = NewSeriesForm(request.POST) if series is None else None
    caller = form.caller() if form else _caller_of(series)
    typed = examine(request.POST.get("definition", ""), caller)
    typed.seen = request.POST.get("seen", "")
    asked = request.POST.get("do", "")
    told = ""
    if asked in {"save", "publish"} and not typed.faults and (form is None or form.is_valid()):
        saved = _save(request, series, caller, form, typed)
        if isinstance(saved, Problem):
            _refuse(saved, series, form, typed)
        elif asked == "publish" and not typed.objections:
            return _lead(request, f"{_address('publish', saved)}?seen={versions.mark_of(saved)}")
        else:
            told = f"The draft of {saved.name} is saved."
            typed.seen = versions.mark_of(saved)
            if series is None or not _is_script(request):
                messages.success(request, told)
                return _lead(request, _address("editor", saved))
    if _is_script(request):
        errors = form.errors if form and asked != "check" else {}
        return JsonResponse(_as_json(typed, errors) | {"told": told, "seen": typed.seen})
    return _page(model_admin, request, series, typed, form, is_tried=True)


def examine(text: str, caller: Caller | None) -> Typed:
    """Return a definition with all faults; the objections need a caller and a valid definition."""
    typed = Typed(text)
    try:
        typed.content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        typed.faults = [FieldError("", f"This is not JSON: {error}")]
        return typed
    parsed = definition.parse(typed.content)
    if isinstance(parsed, Problem):
        typed.faults = _errors(parsed)
        return typed
    typed.parsed = parsed
    objection = versions.objection_to(caller, parsed) if caller else None
    typed.objections = _errors(objection) if objection else []
    return typed


def sentences(problem: Problem) -> list[str]:
    """Return the errors of a problem as sentences that name the step and the field."""
    return _lines(_errors(problem))


def _save(
    request: HttpRequest,
    series: Series | None,
    caller: Caller | None,
    form: NewSeriesForm | None,
    typed: Typed,
) -> Series | Problem:
    """Store the draft; returns the series."""
    by = name_of(request)
    if series is not None:
        with audit.changes(by, "change_series", series.versions.filter(published_at=None)) as made:
            draft = versions.save_draft(series, typed.content, seen=typed.seen)
            if isinstance(draft, Problem):
                return draft
            made.append(draft)
        return series
    assert form is not None  # noqa: S101 - for mypy: a page without a series has the form
    assert caller is not None  # noqa: S101 - for mypy: a valid form names a producer
    with audit.changes(by, "create_series") as made:
        created = versions.create(caller, form.cleaned_data["name"], typed.content)
        if not isinstance(created, Problem):
            made.append(created)
    return created


def _refuse(
    problem: Problem, series: Series | None, form: NewSeriesForm | None, typed: Typed
) -> None:
    """Show a refusal at the field of a new series, or above the steps."""
    if form is not None:
        form.add_error("name", f"{problem.detail}.")
        return
    detail = problem.detail
    if detail == versions.CHANGED and series is not None:
        detail += "; save again to replace the stored draft by these steps"
        typed.seen = versions.mark_of(series)
    typed.faults = [FieldError("", detail)]


def _page(
    model_admin: AuditedAdmin,
    request: HttpRequest,
    series: Series | None,
    typed: Typed,
    form: NewSeriesForm | None,
    *,
    is_tried: bool = False,
) -> HttpResponse:
    context = {
        "series": series,
        "form": form,
        "definition": typed.text,
        "seen": typed.seen,
        "is_tried": is_tried,
        "faults": [*_lines(typed.faults), *_lines(typed.objections)] if is_tried else [],
        "picture": _picture(typed),
        "published": _published_picture(series),
        "data": choices.data(series) | _as_json(typed, {}, has_picture=False),
        **choices.lists(series),
    }
    title = f"Edit {series.name}" if series else "New series"
    return base.page(model_admin, request, "series/editor.html", title=title, context=context)


def _as_json(
    typed: Typed, errors: Mapping[str, Iterable[object]], *, has_picture: bool = True
) -> dict[str, Any]:
    """Return the faults and objections for the script: pointer, place in words and sentence."""
    drawn = _picture(typed) if has_picture else None
    return {
        "faults": [[each.pointer, place, each.detail] for each, place in _places(typed.faults)],
        "objections": [
            [each.pointer, place, each.detail] for each, place in _places(typed.objections)
        ],
        "errors": {name: " ".join(map(str, each)) for name, each in errors.items()},
        "picture": base.part("series/picture.html", {"picture": drawn}) if drawn else "",
    }


def _picture(typed: Typed) -> picture.Picture | None:
    if typed.parsed is None:
        return None
    return picture.of(program.compile_definition(typed.parsed), title="These steps")


def _published_picture(series: Series | None) -> picture.Picture | None:
    """Return the picture of the version for new enrolments, with the enrolments at each step."""
    if series is None or series.current is None:
        return None
    read, current = page.read(series.current), series.current
    if read is None:
        return None
    found = figures.of_series([series.pk])[series.pk]
    title = f"Version {current.number}, published"
    return picture.of(read, title=title, version_id=current.pk, found=found)


def _stored_definition(series: Series | None) -> str:
    version = (versions.draft_of(series) or series.current) if series else None
    if version is None:
        return _EMPTY
    return json.dumps(version.definition, ensure_ascii=False, indent=2)


def _caller_of(series: Series | None) -> Caller | None:
    return versions.caller_of(series.producer, series.mode) if series else None


def _errors(problem: Problem) -> list[FieldError]:
    return list(problem.errors) or [FieldError("", problem.detail)]


def _places(errors: Iterable[FieldError]) -> list[tuple[FieldError, str]]:
    return [(each, wording.place(each.pointer)) for each in errors]


def _lines(errors: Iterable[FieldError]) -> list[str]:
    lines = (f"{place}: {each.detail}" if place else each.detail for each, place in _places(errors))
    return [f"{line[:1].upper()}{line[1:]}" for line in lines]


def _address(name: str, series: Series) -> str:
    return reverse(f"admin:notifications_series_{name}", args=[series.pk])


def _lead(request: HttpRequest, address: str) -> HttpResponse:
    """Lead to another page, by the script or by a redirect."""
    if _is_script(request):
        return JsonResponse({"location": address})
    return HttpResponseRedirect(address)


def _is_script(request: HttpRequest) -> bool:
    return request.headers.get("Accept") == "application/json"
