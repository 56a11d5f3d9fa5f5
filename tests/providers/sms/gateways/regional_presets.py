"""The documents of vendors of Europe and Africa. Each preset names its sources."""

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
    plain,
)


def _seven(code: str, *errors: str) -> dict[str, object]:
    messages = [{"id": None, "success": False, "error": error} for error in errors]
    return {"success": code, "total_price": 0, "messages": messages, "sms_type": "direct"}


def _seven_report(status: str) -> bytes:
    data = {"msg_id": "77125998588", "status": status, "foreign_id": str(DELIVERY)}
    return orjson.dumps({"webhook_event": "dlr", "data": data})


_SEVEN = PresetCase(
    settings={"API_KEY": "key", "FROM": "Shop"},
    target="/api/sms",
    headers={"x-api-key": "key"},
    body={"to": NUMBER, "from": "Shop", "text": TEXT, "foreign_id": str(DELIVERY)},
    taken=answer(
        200,
        {
            "success": "100",
            "messages": [{"id": "77125998588", "parts": 1, "success": True, "error": None}],
        },
    ),
    message_id="77125998588",
    segments=1,
    refusals=[
        (answer(200, _seven("201")), Verdict.SENDER_REFUSED),
        (answer(200, _seven("202")), Verdict.REJECTED),
        (answer(200, _seven("500")), Verdict.MISCONFIGURED),
        (answer(200, _seven("101", "600")), Verdict.UNAVAILABLE),
        (answer(200, _seven("600")), Verdict.UNAVAILABLE),
        (plain(200, "900"), Verdict.MISCONFIGURED),
        (plain(401, "900"), Verdict.MISCONFIGURED),
        (answer(429, {}), Verdict.THROTTLED),
    ],
    reports=[
        Reported(body=_seven_report("DELIVERED"), says="delivered", message_id="77125998588"),
        Reported(body=_seven_report("TRANSMITTED"), says="on its way", message_id=""),
        Reported(body=_seven_report("REJECTED"), says="bounced", message_id="77125998588"),
        Reported(body=_seven_report("EXPIRED"), says="failed", message_id="77125998588"),
    ],
)


def _elks_report(status: str) -> bytes:
    return urlencode({"id": "s70df59406a1b", "status": status}).encode()


_ELKS = PresetCase(
    settings={"USERNAME": "u123", "PASSWORD": "secret", "FROM": "Shop"},
    target="/a1/sms",
    headers=basic("u123:secret"),
    body={"from": "Shop", "to": NUMBER, "message": TEXT, "whendelivered": CALLBACK},
    taken=answer(
        200, {"status": "created", "id": "s70df59406a1b", "parts": 1, "cost": 5000, "to": NUMBER}
    ),
    message_id="s70df59406a1b",
    segments=1,
    refusals=[
        (plain(400, "Invalid to number"), Verdict.REJECTED),
        (plain(401, "API access requires Basic HTTP authentication"), Verdict.MISCONFIGURED),
        (plain(403, "Not enough credits"), Verdict.MISCONFIGURED),
        (plain(500, "Error"), Verdict.UNAVAILABLE),
        (answer(200, {"status": "failed", "id": "s70df"}), Verdict.REJECTED),
    ],
    reports=[
        Reported(body=_elks_report("delivered"), says="delivered", message_id="s70df59406a1b"),
        Reported(body=_elks_report("sent"), says="on its way", message_id=""),
        Reported(body=_elks_report("failed"), says="failed", message_id="s70df59406a1b"),
    ],
)


def _gatewayapi(code: str) -> dict[str, str]:
    return {"code": code, "incident_uuid": "d8127429", "message": "An error"}


def _gatewayapi_report(status: str, **error: str) -> bytes:
    about = {"id": 1000001, "msisdn": int(DIGITS), "time": 1450000000, "userref": str(DELIVERY)}
    return orjson.dumps(about | {"status": status} | error)


_GATEWAYAPI = PresetCase(
    settings={"TOKEN": "token", "FROM": "Shop"},
    target="/rest/mtsms",
    headers=basic("token:"),
    body={
        "sender": "Shop",
        "message": TEXT,
        "encoding": "UTF8",
        "validity_period": 300,
        "userref": str(DELIVERY),
        "callback_url": CALLBACK,
        "recipients": [{"msisdn": DIGITS}],
    },
    taken=answer(200, {"ids": [421332671], "usage": {"countries": {"DE": 1}, "currency": "EUR"}}),
    message_id="421332671",
    refusals=[
        (answer(403, _gatewayapi("0x0215")), Verdict.OPTED_OUT),
        (answer(403, _gatewayapi("0x0216")), Verdict.MISCONFIGURED),
        (answer(403, _gatewayapi("0x0217")), Verdict.REJECTED_HERE),
        (answer(401, _gatewayapi("0x0229")), Verdict.MISCONFIGURED),
        (answer(422, _gatewayapi("0x0308")), Verdict.REJECTED),
        (answer(500, {}), Verdict.UNAVAILABLE),
    ],
    reports=[
        Reported(body=_gatewayapi_report("DELIVERED"), says="delivered", message_id="1000001"),
        Reported(body=_gatewayapi_report("ENROUTE"), says="on its way", message_id=""),
        Reported(
            body=_gatewayapi_report("UNDELIVERABLE", code="0x1010", error="Unknown subscriber"),
            says="bounced dead",
            message_id="1000001",
        ),
        Reported(
            body=_gatewayapi_report("UNDELIVERABLE", code="0x1013"),
            says="failed",
            message_id="1000001",
        ),
    ],
)


def _bulksms(status: str, subtype: str | None = None) -> dict[str, object]:
    about = {"id": f"{status}.{subtype or 'null'}", "type": status, "subtype": subtype}
    return {"id": "77", "type": "SENT", "to": DIGITS, "numberOfParts": 1, "status": about}


_BULKSMS_ERRORS = "https://developer.bulksms.com/json/v1/errors#"
_BULKSMS = PresetCase(
    settings={"TOKEN_ID": "id", "TOKEN_SECRET": "secret"},
    target="/v1/messages",
    headers=basic("id:secret"),
    body={"to": NUMBER, "body": TEXT, "encoding": "TEXT", "longMessageMaxParts": 11},
    taken=answer(201, [_bulksms("ACCEPTED")]),
    message_id="77",
    refusals=[
        (answer(400, {"type": f"{_BULKSMS_ERRORS}bad-request", "status": 400}), Verdict.REJECTED),
        (answer(401, {}), Verdict.MISCONFIGURED),
        (
            answer(403, {"type": f"{_BULKSMS_ERRORS}insufficient-credits", "status": 403}),
            Verdict.MISCONFIGURED,
        ),
        (answer(201, [_bulksms("FAILED", "BLOCKED")]), Verdict.OPTED_OUT),
        (answer(201, [_bulksms("FAILED", "NOT_SENT")]), Verdict.REJECTED_HERE),
        (answer(503, {}), Verdict.UNAVAILABLE),
    ],
    reports=[
        Reported(
            body=orjson.dumps([_bulksms(status, subtype)]),
            says=says,
            message_id="77" if says != "on its way" else "",
            names_delivery=False,
        )
        for status, subtype, says in [
            ("DELIVERED", None, "delivered"),
            ("SENT", None, "on its way"),
            ("FAILED", "BLOCKED", "bounced opted out"),
            ("FAILED", "HANDSET_ERROR", "failed"),
        ]
    ]
    + [
        Reported(
            body=orjson.dumps([{"id": "77", "status": {"condition": condition}}]),
            says=says,
            message_id="77" if says != "on its way" else "",
            names_delivery=False,
        )
        for condition, says in [("DELIVERED", "delivered"), ("SENT", "on its way")]
    ],
)


def _africastalking(code: int, status: str) -> dict[str, object]:
    told = {"statusCode": code, "number": NUMBER, "status": status, "messageId": "ATPid_1"}
    return {"SMSMessageData": {"Message": "Sent to 1/1", "Recipients": [told]}}


def _africastalking_report(status: str, **reason: str) -> Reported:
    fields = {"id": "ATPid_1", "status": status, "phoneNumber": NUMBER, "networkCode": "63902"}
    says = {"Success": "delivered", "Sent": "on its way"}.get(status)
    if says is None:
        says = "bounced dead" if reason["failureReason"] == "UserDoesNotExist" else "failed"
    return Reported(
        body=urlencode(fields | reason).encode(),
        says=says,
        message_id="ATPid_1" if says != "on its way" else "",
        names_delivery=False,
    )


_AFRICASTALKING = PresetCase(
    settings={"USERNAME": "shop", "API_KEY": "key", "FROM": "Shop"},
    target="/version1/messaging",
    headers={"apikey": "key"},
    body={
        "username": "shop",
        "to": NUMBER,
        "from": "Shop",
        "message": TEXT,
        "bulkSMSMode": "1",
        "enqueue": "1",
    },
    taken=answer(201, _africastalking(101, "Success")),
    message_id="ATPid_1",
    refusals=[
        (answer(201, _africastalking(402, "InvalidSenderId")), Verdict.SENDER_REFUSED),
        (answer(201, _africastalking(403, "InvalidPhoneNumber")), Verdict.REJECTED),
        (answer(201, _africastalking(405, "InsufficientBalance")), Verdict.MISCONFIGURED),
        (answer(201, _africastalking(406, "UserInBlacklist")), Verdict.OPTED_OUT),
        (answer(201, _africastalking(501, "GatewayError")), Verdict.UNAVAILABLE),
        (
            answer(201, {"SMSMessageData": {"Message": "InvalidSenderId", "Recipients": []}}),
            Verdict.SENDER_REFUSED,
        ),
        (plain(401, "The supplied authentication is invalid"), Verdict.MISCONFIGURED),
    ],
    reports=[
        _africastalking_report("Success"),
        _africastalking_report("Sent"),
        _africastalking_report("Failed", failureReason="UserDoesNotExist"),
        _africastalking_report("Failed", failureReason="DeliveryFailure"),
    ],
)


def _termii_report(status: str, says: str) -> Reported:
    event = {"type": "outbound", "message_id": "5964465985113503103", "status": status}
    return Reported(
        body=orjson.dumps(event | {"receiver": DIGITS, "channel": "dnd"}),
        says=says,
        message_id="5964465985113503103" if says != "on its way" else "",
        names_delivery=False,
    )


_TERMII = PresetCase(
    settings={"API_KEY": "key", "SECRET_KEY": "signing", "FROM": "Shop"},
    target="/api/sms/send",
    headers={},
    body={
        "api_key": "key",
        "to": DIGITS,
        "from": "Shop",
        "sms": TEXT,
        "type": "plain",
        "channel": "dnd",
    },
    taken=answer(
        200,
        {
            "message_id": 902022080211300900000078460,
            "message": "Successfully Sent",
            "balance": 9,
            "user": "Shop",
        },
    ),
    message_id="902022080211300900000078460",
    refusals=[
        (answer(400, {"message": "Bad Request"}), Verdict.REJECTED),
        (answer(401, {"message": "Unauthorized"}), Verdict.MISCONFIGURED),
        (answer(404, {"message": "ApplicationSenderId not found"}), Verdict.SENDER_REFUSED),
        (answer(429, {"message": "Too Many Requests"}), Verdict.THROTTLED),
        (answer(500, {"message": "Server Error"}), Verdict.UNAVAILABLE),
    ],
    reports=[
        _termii_report("DELIVERED | Message delivered to handset", "delivered"),
        _termii_report("Delivered", "delivered"),
        _termii_report("Message Sent", "on its way"),
        _termii_report("DND Active on Phone Number", "bounced"),
        _termii_report("Message Failed", "failed"),
    ],
)

CASES = {
    "africastalking": _AFRICASTALKING,
    "bulksms": _BULKSMS,
    "elks": _ELKS,
    "gatewayapi": _GATEWAYAPI,
    "seven": _SEVEN,
    "termii": _TERMII,
}
