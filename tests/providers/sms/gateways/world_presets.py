"""The documents of vendors that work in most countries. Each preset names its sources."""

from __future__ import annotations

from urllib.parse import urlencode

import orjson

from providers.verdicts import Verdict
from tests.providers.sms.gateways.preset_case import (
    CALLBACK,
    DELIVERY,
    DIGITS,
    NUMBER,
    TEXT,
    PresetCase,
    Reported,
    answer,
    basic,
    bearer,
)

_SINCH_REPORT = {
    "type": "recipient_delivery_report_sms",
    "batch_id": "01FC66621VHDBN119Z8PMV1QPU",
    "recipient": DIGITS,
    "code": 0,
    "status": "Delivered",
    "at": "2022-08-30T08:16:08.930Z",
    "client_reference": str(DELIVERY),
}
_SINCH = PresetCase(
    settings={"SERVICE_PLAN_ID": "plan/1", "API_TOKEN": "token", "FROM": "12345"},
    target="/xms/v1/plan%2F1/batches",
    headers=bearer("token"),
    body={
        "from": "12345",
        "to": [NUMBER],
        "body": TEXT,
        "delivery_report": "per_recipient_final",
        "client_reference": str(DELIVERY),
        "callback_url": CALLBACK,
    },
    taken=answer(201, {"id": "01FC66621VHDBN119Z8PMV1QPU", "to": [DIGITS], "canceled": False}),
    message_id="01FC66621VHDBN119Z8PMV1QPU",
    refusals=[
        (
            answer(400, {"code": "syntax_invalid_parameter_format", "text": "Invalid value: to"}),
            Verdict.REJECTED,
        ),
        (answer(401, {"code": "unauthorized", "text": "Unauthorized"}), Verdict.MISCONFIGURED),
        (answer(403, {"code": "forbidden", "text": "Forbidden"}), Verdict.MISCONFIGURED),
        (answer(429, {}), Verdict.THROTTLED),
        (answer(500, {}), Verdict.UNAVAILABLE),
    ],
    reports=[
        Reported(
            body=orjson.dumps(_SINCH_REPORT),
            says="delivered",
            message_id="01FC66621VHDBN119Z8PMV1QPU",
        ),
        Reported(
            body=orjson.dumps(_SINCH_REPORT | {"status": "Dispatched", "code": 401}),
            says="on its way",
            message_id="",
        ),
        Reported(
            body=orjson.dumps(_SINCH_REPORT | {"status": "Aborted", "code": 412}),
            says="failed misconfigured",
            message_id="01FC66621VHDBN119Z8PMV1QPU",
        ),
    ],
)


def _infobip_status(group: int, status: int, name: str) -> dict[str, object]:
    return {"messageId": "2250be2d4219", "status": {"groupId": group, "id": status, "name": name}}


def _infobip_report(group: str, error: int, name: str = "") -> dict[str, object]:
    return {
        "messageId": "2250be2d4219",
        "to": DIGITS,
        "messageCount": 1,
        "callbackData": str(DELIVERY),
        "price": {"pricePerMessage": 0.01, "currency": "EUR"},
        "status": {"groupName": group, "name": name or f"{group}_FOR_A_REASON"},
        "error": {"id": error},
    }


_INFOBIP = PresetCase(
    settings={"API_KEY": "key", "FROM": "InfoSMS"},
    target="/sms/3/messages",
    headers={"authorization": "App key"},
    body={
        "messages": [
            {
                "sender": "InfoSMS",
                "destinations": [{"to": DIGITS}],
                "content": {"text": TEXT},
                "options": {"validityPeriod": {"amount": 300, "timeUnit": "SECONDS"}},
                "webhooks": {
                    "delivery": {"url": CALLBACK},
                    "contentType": "application/json",
                    "callbackData": str(DELIVERY),
                },
            }
        ]
    },
    taken=answer(200, {"messages": [_infobip_status(1, 26, "PENDING_ACCEPTED")]}),
    message_id="2250be2d4219",
    refusals=[
        (answer(200, {"messages": [_infobip_status(5, status, name)]}), verdict)
        for status, name, verdict in [
            (12, "REJECTED_NOT_ENOUGH_CREDITS", Verdict.MISCONFIGURED),
            (13, "REJECTED_SENDER", Verdict.SENDER_REFUSED),
            (14, "REJECTED_DESTINATION_BLOCKLISTED", Verdict.OPTED_OUT),
            (18, "REJECTED_DESTINATION_NOT_REGISTERED", Verdict.IN_SANDBOX),
            (52, "REJECTED_DESTINATION", Verdict.REJECTED),
        ]
    ]
    + [
        (
            answer(401, {"requestError": {"serviceException": {"messageId": "UNAUTHORIZED"}}}),
            Verdict.MISCONFIGURED,
        ),
        (answer(429, {"errorCode": "E429"}), Verdict.THROTTLED),
    ],
    reports=[
        Reported(
            body=orjson.dumps({
                "results": [_infobip_report("DELIVERED", 0, "DELIVERED_TO_HANDSET")]
            }),
            says="delivered",
            message_id="2250be2d4219",
        ),
        Reported(
            body=orjson.dumps({
                "results": [_infobip_report("DELIVERED", 0, "DELIVERED_TO_OPERATOR")]
            }),
            says="on its way",
            message_id="",
        ),
        Reported(
            body=orjson.dumps({"results": [_infobip_report("UNDELIVERABLE", 1)]}),
            says="bounced dead",
            message_id="2250be2d4219",
        ),
        Reported(
            body=orjson.dumps({"results": [_infobip_report("EXPIRED", 27)]}),
            says="failed",
            message_id="2250be2d4219",
        ),
    ],
)


def _telnyx_report(status: str, *codes: str) -> bytes:
    payload = {
        "id": "40385f64-5717-4562-b3fc-2c963f66afa6",
        "to": [{"phone_number": NUMBER, "status": status}],
        "parts": 1,
        "cost": {"amount": "0.0051", "currency": "USD"},
        "errors": [{"code": code, "title": "An error"} for code in codes],
    }
    event = {"event_type": "message.finalized", "record_type": "event", "payload": payload}
    return orjson.dumps({"data": event})


_TELNYX = PresetCase(
    settings={"API_KEY": "KEY123", "FROM": "+18445550001"},
    target="/v2/messages",
    headers=bearer("KEY123"),
    body={"from": "+18445550001", "to": NUMBER, "text": TEXT, "webhook_url": CALLBACK},
    taken=answer(
        200, {"data": {"id": "40385f64-5717-4562-b3fc-2c963f66afa6", "parts": 1, "errors": []}}
    ),
    message_id="40385f64-5717-4562-b3fc-2c963f66afa6",
    segments=1,
    refusals=[
        (answer(status, {"errors": [{"code": code, "title": "An error"}]}), verdict)
        for status, code, verdict in [
            (400, "40300", Verdict.OPTED_OUT),
            (400, "40305", Verdict.SENDER_REFUSED),
            (400, "40310", Verdict.REJECTED),
            (401, "10009", Verdict.MISCONFIGURED),
            (429, "10011", Verdict.THROTTLED),
            (500, "10007", Verdict.UNAVAILABLE),
        ]
    ],
    reports=[
        Reported(
            body=_telnyx_report("delivered"),
            says="delivered",
            message_id="40385f64-5717-4562-b3fc-2c963f66afa6",
        ),
        Reported(
            body=_telnyx_report("delivery_failed", "40001"),
            says="bounced",
            message_id="40385f64-5717-4562-b3fc-2c963f66afa6",
        ),
        Reported(body=_telnyx_report("sent"), says="on its way", message_id=""),
    ],
)


def _plivo_report(status: str, code: str = "") -> bytes:
    fields = {"MessageUUID": "db3ce55a", "From": "14155550001", "To": DIGITS, "Units": "1"}
    return urlencode(fields | {"Status": status, "ErrorCode": code}).encode()


_PLIVO = PresetCase(
    settings={"AUTH_ID": "MAXXX", "AUTH_TOKEN": "token", "FROM": "+14155550001"},
    target="/v1/Account/MAXXX/Message/",
    headers=basic("MAXXX:token"),
    body={
        "src": "+14155550001",
        "dst": NUMBER,
        "text": TEXT,
        "url": CALLBACK,
        "method": "POST",
        "message_expiry": 300,
    },
    taken=answer(
        202, {"api_id": "db342550", "message": "message(s) queued", "message_uuid": ["db3ce55a"]}
    ),
    message_id="db3ce55a",
    refusals=[
        (answer(400, {"api_id": "97ce", "error": "invalid dst parameter"}), Verdict.REJECTED),
        (answer(401, {"error": "authentication failed"}), Verdict.MISCONFIGURED),
        (answer(402, {"error": "insufficient credit"}), Verdict.MISCONFIGURED),
        (answer(404, {"api_id": "97ce", "error": "not found"}), Verdict.MISCONFIGURED),
        (answer(429, {"error": "rate limit exceeded"}), Verdict.THROTTLED),
        (answer(500, {"error": "server error"}), Verdict.UNAVAILABLE),
    ],
    reports=[
        Reported(body=_plivo_report("delivered"), says="delivered", message_id="db3ce55a"),
        Reported(body=_plivo_report("sent"), says="on its way", message_id=""),
        Reported(
            body=_plivo_report("undelivered", "70"), says="bounced dead", message_id="db3ce55a"
        ),
        Reported(
            body=_plivo_report("failed", "200"), says="bounced opted out", message_id="db3ce55a"
        ),
    ],
)


def _clicksend(status: str) -> dict[str, object]:
    message = {"message_id": "BF7AD270", "message_parts": 1, "status": status, "to": NUMBER}
    return {
        "http_code": 200,
        "response_code": "SUCCESS",
        "data": {"queued_count": 1, "messages": [message]},
    }


def _clicksend_report(status: str, error: str) -> bytes:
    return urlencode({
        "timestamp": "1439173981",
        "message_id": "BF7AD270",
        "status_code": status,
        "error_code": error,
        "custom_string": str(DELIVERY),
        "message_type": "sms",
    }).encode()


_CLICKSEND = PresetCase(
    settings={"USERNAME": "name", "API_KEY": "key"},
    target="/v3/sms/send",
    headers=basic("name:key"),
    body={
        "messages": [
            {"source": "notify", "to": NUMBER, "body": TEXT, "custom_string": str(DELIVERY)}
        ]
    },
    taken=answer(200, _clicksend("SUCCESS")),
    message_id="BF7AD270",
    segments=1,
    refusals=[
        (answer(200, _clicksend("INVALID_RECIPIENT")), Verdict.REJECTED),
        (answer(200, _clicksend("INVALID_SENDER_ID")), Verdict.SENDER_REFUSED),
        (answer(200, _clicksend("INSUFFICIENT_CREDIT")), Verdict.MISCONFIGURED),
        (answer(200, _clicksend("COUNTRY_NOT_ENABLED")), Verdict.REJECTED_HERE),
        (answer(200, _clicksend("THROTTLED")), Verdict.THROTTLED),
        (answer(200, _clicksend("INTERNAL_ERROR")), Verdict.UNAVAILABLE),
        (answer(401, {"response_code": "UNAUTHORIZED"}), Verdict.MISCONFIGURED),
        (answer(429, {"response_code": "TOO_MANY_REQUESTS"}), Verdict.THROTTLED),
    ],
    reports=[
        Reported(body=_clicksend_report("201", "4"), says="delivered", message_id="BF7AD270"),
        Reported(body=_clicksend_report("200", "3"), says="on its way", message_id=""),
        Reported(body=_clicksend_report("301", "8"), says="bounced dead", message_id="BF7AD270"),
        Reported(body=_clicksend_report("301", "12"), says="failed", message_id="BF7AD270"),
    ],
)


def _clickatell(code: int) -> dict[str, object]:
    error = {"code": code, "description": "An error"}
    return {"messages": [{"error": error, "accepted": False, "to": DIGITS}], "error": None}


_CLICKATELL = PresetCase(
    settings={"API_KEY": "key=="},
    target="/v1/message",
    headers={"authorization": "key=="},
    body={
        "messages": [
            {
                "channel": "sms",
                "to": DIGITS,
                "content": TEXT,
                "clientMessageId": str(DELIVERY),
            }
        ]
    },
    taken=answer(
        202,
        {
            "messages": [{"apiMessageId": "02ca87d5", "accepted": True, "to": DIGITS}],
            "error": None,
        },
    ),
    message_id="02ca87d5",
    refusals=[
        (answer(207, _clickatell(25)), Verdict.REJECTED),
        (answer(400, _clickatell(26)), Verdict.OPTED_OUT),
        (answer(400, _clickatell(43)), Verdict.THROTTLED),
        (answer(400, _clickatell(45)), Verdict.SENDER_REFUSED),
        (answer(402, _clickatell(20)), Verdict.MISCONFIGURED),
        (answer(401, {"error": {"code": 1, "description": "Invalid"}}), Verdict.MISCONFIGURED),
        (answer(503, {"error": {"code": 19, "description": "Retry"}}), Verdict.UNAVAILABLE),
    ],
)


def _messagebird_report(status: str, says: str) -> Reported:
    fields = {"id": "e8077d80", "reference": str(DELIVERY), "recipient": DIGITS}
    return Reported(
        body=urlencode(fields | {"status": status}).encode(),
        says=says,
        message_id="e8077d80" if says != "on its way" else "",
        is_query=True,
    )


_MESSAGEBIRD = PresetCase(
    settings={"ACCESS_KEY": "live_key", "FROM": "Shop"},
    target="/messages",
    headers={"authorization": "AccessKey live_key"},
    body={
        "originator": "Shop",
        "recipients": [DIGITS],
        "body": TEXT,
        "datacoding": "plain",
        "validity": 300,
        "reference": str(DELIVERY),
    },
    taken=answer(201, {"id": "e8077d80", "reference": str(DELIVERY), "recipients": {}}),
    message_id="e8077d80",
    refusals=[
        (answer(status, {"errors": [{"code": code, "description": "An error"}]}), verdict)
        for status, code, verdict in [
            (401, 2, Verdict.MISCONFIGURED),
            (422, 9, Verdict.REJECTED),
            (422, 10, Verdict.REJECTED),
            (422, 25, Verdict.MISCONFIGURED),
            (500, 99, Verdict.UNAVAILABLE),
        ]
    ],
    reports=[
        _messagebird_report("delivered", "delivered"),
        _messagebird_report("buffered", "on its way"),
        _messagebird_report("delivery_failed", "failed"),
    ],
)

CASES = {
    "clickatell": _CLICKATELL,
    "clicksend": _CLICKSEND,
    "infobip": _INFOBIP,
    "messagebird": _MESSAGEBIRD,
    "plivo": _PLIVO,
    "sinch": _SINCH,
    "telnyx": _TELNYX,
}
