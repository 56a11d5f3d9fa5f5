"""Resources of the API: rows of a table, with the operations that list, read and change them.

    SWITCHES = Resource(
        noun="switch",
        path="v1/switches/<int:switch_id>",
        rows=lambda _call: Switch.objects.all(),
        answer=SwitchAnswer,
        tag="Operations",
    )

    @SWITCHES.change("DELETE", "End a switch", Access(Scope.OPERATIONS_WRITE, LIVE), examples=...)
    def resume_switch(call: Call, switch: Switch) -> None:

A function gets a row that the caller may see; for another row the answer is 404. A list returns the
rows of all pages. A write runs in a transaction with its entries in the audit log and the read of
the row for the answer, so the answer shows this change and no later one. `operation` has the facts
of each declaration, and declares what is none of these.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, Unpack, overload

from django.db import transaction
from django.db.models import Model, QuerySet
from rest_framework.response import Response

from notifications.core.api import etags, schema
from notifications.core.api.base_view import MAX_ID, raise_not_found
from notifications.core.api.operation import (
    Access,
    Answer,
    Call,
    Input,
    Operation,
    Options,
    operation,
)
from notifications.core.api.pagination import DatedPageQuery, NumberedPageQuery, newest_rows, page
from notifications.core.api.schemas import ResponseModel

Row = TypeVar("Row", bound=Model)
Query = TypeVar("Query", bound=NumberedPageQuery | DatedPageQuery)
_NO_CONTENT: Final = 204


@dataclass(frozen=True, kw_only=True)
class Resource(Generic[Row]):
    """Rows that the API shows."""

    noun: str
    """Name of a row in a 404."""
    path: str
    """Path of a row, whose last part is its key; or path of a list without such paths."""
    rows: Callable[[Call], QuerySet[Row]]
    """The rows that the caller may see."""
    answer: type[ResponseModel]
    to_answer: Callable[[Row], ResponseModel] | None = None
    """None: the fields of the answer have the names of the columns."""
    tag: str
    key: str = "pk"
    """Field that the last part of the path names."""
    tag_of: Callable[[dict[str, Any]], str] | None = None
    """The ETag of an answer, for If-None-Match of a read and If-Match of a change."""

    def list(
        self,
        summary: str,
        callers: Access,
        query: type[Query],
        *,
        line: type[ResponseModel] | None = None,
        to_lines: Callable[[Sequence[Row]], Iterable[ResponseModel]] | None = None,
        **options: Unpack[Options],
    ) -> Callable[[Callable[[Call, Query], QuerySet[Row]]], Operation]:
        """Declare the list, newest first. The function returns the rows of all pages.

        Args:
            summary: as for `operation`, like `callers` and `options`.
            callers: the callers that the operation lets in.
            query: schema of the query string.
            line: schema of a result; None: that of the answer.
            to_lines: returns the results of the rows of a page; None: the answers.
            options: see `Options`.
        """
        shown = to_lines or (lambda rows: map(self._show, rows))

        def declare(function: Callable[[Call, Query], QuerySet[Row]]) -> Operation:
            @functools.wraps(function)
            def handle(call: Call, asked: Query) -> Response:
                rows, following = newest_rows(asked, function(call, asked))
                results = [each.to_json() for each in shown(rows)]
                return page(call.request, results, following=following)

            answers = {200: schema.page_of(line or self.answer)}
            route = f"GET {self._root}"
            declared = operation(
                route, summary, callers, query, answers=answers, tag=self.tag, **options
            )
            return declared(handle)

        return declare

    def read(
        self, summary: str, callers: Access, *, at: str = "", **options: Unpack[Options]
    ) -> Callable[[Callable[[Call, Row], Row | ResponseModel]], Operation]:
        """Declare the read of a row, or of a part `at` a path below. The function returns it."""

        def declare(function: Callable[[Call, Row], Row | ResponseModel]) -> Operation:
            @functools.wraps(function)
            def handle(call: Call) -> Answer:
                return self.respond(call, function(call, self.find(call)))

            answers: dict[int, Any] = {200: self.answer}
            if self.tag_of is not None:
                answers[304] = None
                options["parameters"] = [etags.IF_NONE_MATCH]
            route = f"GET {self.path}{at}"
            return operation(route, summary, callers, answers=answers, tag=self.tag, **options)(
                handle
            )

        return declare

    def create(
        self,
        summary: str,
        callers: Access,
        body: type[Input],
        *,
        at: str = "",
        status: int = 201,
        **options: Unpack[Options],
    ) -> Callable[[Callable[[Call, Input], Row]], Operation]:
        """Declare the creation of a row. The function returns the new row.

        Args:
            summary: as for `operation`, like `callers` and `options`.
            callers: the callers that the operation lets in.
            body: schema of the body.
            at: path; empty: the path of the list.
            status: status of the answer.
            options: see `Options`.
        """

        def declare(function: Callable[[Call, Input], Row]) -> Operation:
            @functools.wraps(function)
            def handle(call: Call, wanted: Input) -> Answer:
                with call.changes() as made:
                    row = function(call, wanted)
                    made.append(row)
                    return self._show(row)

            route, answers = f"POST {at or self._root}", {status: self.answer}
            return operation(
                route, summary, callers, body, answers=answers, tag=self.tag, **options
            )(handle)

        return declare

    @overload
    def change(
        self,
        route: str,
        summary: str,
        callers: Access,
        *,
        answers: dict[int, Any] | None = None,
        locks: bool = False,
        **options: Unpack[Options],
    ) -> Callable[[Callable[[Call, Row], ResponseModel | None]], Operation]: ...

    @overload
    def change(
        self,
        route: str,
        summary: str,
        callers: Access,
        body: type[Input],
        *,
        answers: dict[int, Any] | None = None,
        locks: bool = False,
        **options: Unpack[Options],
    ) -> Callable[[Callable[[Call, Row, Input], ResponseModel | None]], Operation]: ...

    def change(
        self,
        route: str,
        summary: str,
        callers: Access,
        body: Any = None,
        *,
        answers: dict[int, Any] | None = None,
        locks: bool = False,
        **options: Unpack[Options],
    ) -> Callable[[Callable[..., ResponseModel | None]], Operation]:
        """Declare a change of a row. The function returns None, or an answer without the row.

        Args:
            route: method, and the path below the row: `PATCH`, `POST /acknowledge`.
            summary: as for `operation`, like `callers` and `options`.
            callers: the callers that the operation lets in.
            body: schema of the input; None: the function takes the call and the row.
            answers: status -> schema; None: 200 with the row. 204 is answered without a body.
            locks: lock the row before the function runs, until the commit.
            options: see `Options`.
        """
        told = answers or {200: self.answer}
        verb, _, below = route.partition(" ")
        whole = f"{verb} {self.path}{below}"
        if self.tag_of is not None:
            options["parameters"] = [etags.IF_MATCH]

        def declare(function: Callable[..., ResponseModel | None]) -> Operation:
            @functools.wraps(function)
            def handle(call: Call, *wanted: Any) -> Answer:  # noqa: ANN401 - the body, if there is one
                with transaction.atomic():
                    found = self._change(call, function, wanted, locks=locks)
                    if found is not None or _NO_CONTENT in told:
                        return found
                    return self.respond(call, self.find(call), status=next(iter(told)))

            declared = operation(
                whole, summary, callers, body, answers=told, tag=self.tag, **options
            )
            return declared(handle)

        return declare

    def _change(
        self,
        call: Call,
        function: Callable[..., ResponseModel | None],
        wanted: tuple[Any, ...],
        *,
        locks: bool,
    ) -> ResponseModel | None:
        row = self.find(call, lock=locks or self.tag_of is not None)
        if (tag_of := self.tag_of) is not None:
            etags.check(call.request, lambda: tag_of(self._show(row).to_json()))
        with call.changes(self._this(call)):
            return function(call, row, *wanted)

    def check_tag(self, call: Call) -> None:
        """Refuse a write with a failed If-Match or If-None-Match, in an open transaction.

        Raises:
            ProblemError: the row has changed, or exists already (412).
        """
        if self.tag_of is not None:
            etags.check(call.request, lambda: self._current_tag(call))

    def find(self, call: Call, *, lock: bool = False) -> Row:
        """Return the row that the path names.

        Raises:
            ProblemError: the caller may see no such row (404).
        """
        rows = self._this(call)
        row = (rows.select_for_update(of=("self",)) if lock else rows).first()
        return row if row is not None else raise_not_found(self.noun)

    def _this(self, call: Call) -> QuerySet[Row]:
        value = call.path[self.path.rpartition(":")[2].rstrip(">")]
        if isinstance(value, int):
            value = min(value, MAX_ID)
        return self.rows(call).filter(**{self.key: value})

    @property
    def _root(self) -> str:
        return self.path.rpartition("/<")[0] if self.path.endswith(">") else self.path

    def _show(self, row: Row) -> ResponseModel:
        return self.to_answer(row) if self.to_answer else self.answer.model_validate(row)

    def _current_tag(self, call: Call) -> str | None:
        row = self._this(call).select_for_update(of=("self",)).first()
        if row is None or self.tag_of is None:
            return None
        return self.tag_of(self._show(row).to_json())

    def respond(
        self, call: Call, found: Row | ResponseModel, *, status: int = 200
    ) -> ResponseModel | Response:
        """Return the answer with a row or a model, and with its ETag if the resource has one."""
        answer = found if isinstance(found, ResponseModel) else self._show(found)
        if self.tag_of is None:
            return answer
        told = answer.to_json()
        return etags.etag_response(call.request, told, self.tag_of(told), status=status)
