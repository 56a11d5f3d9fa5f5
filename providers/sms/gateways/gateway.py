"""The adapter of a described gateway.

| answer | outcome |
| --- | --- |
| 2xx, each path of `answer.taken` has one of its values | Accepted, with `answer.id` |
| a code of `answer.codes`, or of NOTIFY_<NAME>_CODES | as there |
| 2xx without a known code, a path of `answer.taken` leads nowhere | Unanswered |
| 2xx without a known code, no `answer.taken`, `answer.id` leads nowhere | Unanswered |
| 2xx without a known code, another value there | Rejected |
| others | `providers.http_outcomes` |

An SMS that was not answered is seen twice if it is repeated, unless the description says
`repeat = "deduplicated"`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from urllib.parse import quote, urlencode

from providers import http_outcomes, rounds, verdicts
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Outcome,
    Pace,
    Receipt,
    ReceiptRequest,
    Repeat,
    Result,
    Unanswered,
)
from providers.errors import NoReceipts
from providers.rounds import Unsendable
from providers.sms import gsm7, outcomes
from providers.sms.gateways import paths, places
from providers.sms.gateways.description import Description
from providers.sms.gateways.hiding import hide
from providers.sms.gateways.places import Scalar
from providers.sms.gateways.receipts import GatewayReceipts
from providers.transport import Reply, Request, Response, Transport
from providers.verdicts import Table, Verdict

_A_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayAccount:
    """The values of the settings `NOTIFY_<NAME>_*`."""

    settings: Mapping[str, str] = field(repr=False)
    """Those that the description names; an empty text: no value."""
    url: str
    per_second: int
    codes: Table


class Gateway:
    """See `providers.contract.Provider`."""

    def __init__(
        self,
        name: str,
        described: Description,
        account: GatewayAccount,
        *,
        receipts: GatewayReceipts | None,
        transport: Transport,
    ) -> None:
        """Store the settings; the first `send` connects. `receipts`: None for no callbacks."""
        self.name = name
        self._described = described
        self._settings = {key: text or None for key, text in account.settings.items()}
        self._secrets = [
            account.settings[key] for key, each in described.settings.items() if each.secret
        ]
        self._url, self._codes = account.url, account.codes
        self._receipts = receipts
        self._transport = transport
        about = described.receipts
        signature = about.signature if about else None
        self.capabilities = Capabilities(
            marks_begin=True,
            channels=frozenset({Channel.SMS}),
            repeat=Repeat(described.repeat),
            gives_receipts=receipts is not None,
            receipts_by_get=about is not None and about.method == "GET",
            receipt_headers=frozenset({signature.header.lower()} if signature else ()),
            pace=Pace.even(account.per_second),
        )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        return rounds.send_one_request_each(
            batch,
            prepare=self._request,
            judge=self._outcome,
            transport=self._transport,
            deadline=deadline,
        )

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt]:
        """See `providers.contract.Provider.parse_receipt`.

        Raises:
            NoReceipts: the description has no receipts.
        """
        if self._receipts is None:
            raise NoReceipts
        return self._receipts.parse(request)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`: the page of the account, if one is described."""
        page = self._described.check
        if page is None:
            return
        url = self._url + _path(page.path, self._settings)
        request = Request(url=url, headers=self._headers(self._settings), method="GET")
        for _index, reply in self._transport.send([request], deadline=deadline):
            found = outcomes.page(reply)
            if isinstance(found, Finding):
                yield found
                continue
            yield Finding(subject="credentials", is_good=True, detail="signed in")
            balance = paths.text_at(found, page.balance)
            if balance:
                yield outcomes.of_balance(balance, currency=paths.text_at(found, page.currency))

    def _request(self, message: Message) -> Request:
        """Build the request of a message.

        Raises:
            Unsendable: the text is too long, or is no Unicode.
        """
        described, length = self._described.request, len(message.body)
        if length > described.max_characters:
            detail = f"{length} characters, at most {described.max_characters}"
            raise Unsendable("payload_too_large", detail)
        values = self._values(message)
        url = self._url + _path(described.path, values)
        if described.query:
            url += "?" + _form(described.query, values)
        headers, body = self._headers(values), b""
        if described.json_ is not None:
            headers.append("Content-Type: application/json")
            body = rounds.json_body(places.fill(described.json_, values))
        elif described.form:
            headers.append("Content-Type: application/x-www-form-urlencoded")
            body = _form(described.form, values).encode()
        return Request(url=url, headers=headers, body=body, method=described.method)

    def _values(self, message: Message) -> dict[str, Scalar | None]:
        shape = self._described.request
        shortest, longest = (timedelta(seconds=each) for each in shape.ttl_seconds)
        left = min(max(message.time_to_live, shortest), longest)
        receipts, encoding = self._receipts, None
        if shape.encoding is not None:
            is_gsm7 = gsm7.fits(message.body)
            encoding = shape.encoding.gsm7 if is_gsm7 else shape.encoding.unicode
        return {
            **self._settings,
            "to": message.address,
            "to_digits": _digits(message.address),
            "text": message.body,
            "delivery_id": str(message.delivery_id),
            "idempotency_key": message.idempotency_key,
            "callback_url": receipts.address_for(message.delivery_id) if receipts else None,
            "ttl_seconds": int(left.total_seconds()),
            "ttl_minutes": max(1, left // _A_MINUTE),
            "encoding": encoding,
        }

    def _headers(self, values: Mapping[str, Scalar | None]) -> list[str]:
        shape = self._described.request
        lines = ["Accept: application/json"]
        if shape.basic is not None:
            user = ":".join(places.fill_text(each, values) for each in shape.basic)
            lines.append("Authorization: Basic " + b64encode(user.encode()).decode())
        if shape.bearer:
            lines.append("Authorization: Bearer " + places.fill_text(shape.bearer, values))
        lines += (
            f"{key}: {places.fill_text(text, values)}"
            for key, text in shape.headers.items()
            if values.keys() >= set(places.names(text))  # a check has no message
        )
        return lines

    def _outcome(self, reply: Reply, message: Message) -> Outcome:
        if not isinstance(reply, Response):
            return http_outcomes.of_failure(reply)
        tree, answer = paths.read(reply.body), self._described.answer
        found = {path: paths.text_at(tree, path) for path in answer.taken}
        if reply.is_success and all(_is_one_of(found[path], answer.taken[path]) for path in found):
            segments = outcomes.segments_of(paths.text_at(tree, answer.segments))
            message_id = paths.text_at(tree, answer.id)
            if found or message_id or not answer.id:
                return Accepted(message_id=message_id, segments=segments)
        code = paths.first_text(tree, tuple(answer.code))
        marks = self._marks(message)
        answered = hide(reply.body.decode(errors="replace"), marks).encode()
        detail = http_outcomes.excerpt(answered, hide="")
        for each in (code, f"http-{reply.status}"):
            verdict = verdicts.look_up(each, answer.codes, self._codes)
            if verdict is not None:
                wait = reply.retry_after
                return verdicts.outcome(verdict, code=each, detail=detail, retry_after=wait)
        code = hide(code, marks)
        if not reply.is_success:
            return http_outcomes.of_status(reply, detail=detail, code=code)
        if not found or not all(found.values()):
            return Unanswered(code="unreadable", detail=detail)
        said = code or hide(next(iter(found.values())), marks)
        return verdicts.outcome(Verdict.REJECTED, code=said, detail=detail)

    def _marks(self, message: Message) -> dict[str, str]:
        """Return what no outcome may contain, and the mark in its place."""
        secrets = dict.fromkeys(self._secrets, "[secret]")
        if self._receipts is not None:
            secrets[self._receipts.token_for(message.delivery_id)] = "[secret]"
        return {**secrets, message.body: "[text]", _digits(message.address): "[address]"}


def _digits(number: str) -> str:
    return number.removeprefix("+")


def _is_one_of(found: str, wanted: Sequence[Scalar]) -> bool:
    return found in {paths.text_at(each, paths.WHOLE) for each in wanted}


def _path(template: str, values: Mapping[str, Scalar | None]) -> str:
    used = {name: values[name] for name in places.names(template)}
    quoted = {
        name: quote(str(each), safe="", errors="replace")
        for name, each in used.items()
        if each is not None
    }
    return places.fill_text(template, {**used, **quoted})


def _form(template: Mapping[str, Scalar], values: Mapping[str, Scalar | None]) -> str:
    filled = {
        key: places.fill(each, values) if isinstance(each, str) else each
        for key, each in template.items()
    }
    fields = {
        key: paths.text_at(each, paths.WHOLE) if isinstance(each, bool) else each
        for key, each in filled.items()
        if each is not None
    }
    return urlencode(fields, errors="replace")
