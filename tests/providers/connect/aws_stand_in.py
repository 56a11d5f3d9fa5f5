"""An AWS account on a real socket: SES, End User Messaging, SNS topics, STS.

moto has no event destinations of SES, no GetAccount, no suppression list and no End User Messaging,
and its topics know neither SignatureVersion nor unconfirmed subscriptions. So this stand-in is
written from botocore's service models: a request is parsed and an answer is written by moto's
parsers and serializers, and both are held to the model's shapes. `test_receipts_topic` runs the
topic against moto's SNS as well.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from botocore import xform_name
from botocore.validate import ParamValidator
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.serialize import SERIALIZERS
from moto.core.utils import get_service_model
from werkzeug.datastructures import Headers, MultiDict

from providers.sandbox_server.wire import Connection, ServerAnswer, ServerRequest
from tests.providers.aws.fakes import REGION
from tests.providers.fakes import Listener

ACCOUNT_ID: Final = "123456789012"
_SERVICES: Final = {
    "ses": "sesv2",
    "sms-voice": "pinpoint-sms-voice-v2",
    "sns": "sns",
    "sts": "sts",
}
"""boto3's name by the name in the signature."""
_SCOPE: Final = re.compile(r"Credential=[^/]+/\d+/[a-z0-9-]+/([a-z-]+)/aws4_request")
_NOW: Final = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_PAGE: Final = 2
"""Items of one page, so that a few addresses make several pages."""


class Refused(Exception):
    """An error of AWS, by the code on the wire."""

    def __init__(self, code: str, message: str = "No.", *, status: int = 400) -> None:
        super().__init__(code)
        self.code, self.message, self.status = code, message, status

    def answer(self, protocol: str) -> ServerAnswer:
        """Write the error as the protocol has it."""
        if protocol == "query":
            error = f"<Code>{self.code}</Code><Message>{self.message}</Message>"
            body = f"<ErrorResponse><Error>{error}</Error></ErrorResponse>"
            return ServerAnswer(status=self.status, body=body.encode(), content_type="text/xml")
        body = json.dumps({"__type": self.code, "message": self.message})
        headers = (("x-amzn-errortype", self.code),)
        return ServerAnswer(status=self.status, body=body.encode(), headers=headers)


class AwsStandIn:
    """An empty account with a verified sender; tests change the public fields."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.refuse_all: Refused | None = None
        self.refused_operations: dict[str, Refused] = {}
        self.forgotten_operations: set[str] = set()
        """Operations that are accepted and change nothing."""
        self.confirms_after = 0
        """Listings of the subscriptions until a new subscription is confirmed."""
        self.quota = {"Max24HourSend": 50_000.0, "MaxSendRate": 14.0, "SentLast24Hours": 12.0}
        self.identities: dict[str, dict[str, Any]] = {
            "shop.example": {
                "VerifiedForSendingStatus": True,
                "DkimAttributes": {"Status": "SUCCESS"},
            }
        }
        self.ses_sets: dict[str, dict[str, dict[str, Any]]] = {}
        self.suppressed: list[tuple[str, str]] = []
        self.topics: dict[str, dict[str, str]] = {}
        self.subscriptions: dict[str, dict[str, str]] = {}
        self.sms_sets: dict[str, dict[str, dict[str, Any]]] = {}
        self.numbers: list[dict[str, Any]] = [number()]
        self.opted_out: dict[str, list[str]] = {"Default": []}
        self._unconfirmed: dict[str, int] = {}
        self._listener = Listener(lambda: Connection(self._handle))
        self.url = f"http://127.0.0.1:{self._listener.port}"
        self.close = self._listener.close

    @property
    def writes(self) -> list[str]:
        """The operations that changed something."""
        reading = ("get_", "list_", "describe_")
        return [each for each in self.calls if not each.startswith(reading)]

    def _handle(self, request: ServerRequest) -> ServerAnswer:
        found = _SCOPE.search(request.headers["authorization"])
        assert found is not None, "the request has no signature"
        service = get_service_model(_SERVICES[found[1]])
        operation, path_values = _operation(service, request)
        protocol = service.metadata["protocol"]
        given = PROTOCOL_PARSERS[protocol](operation).parse(_parts(request, path_values))
        if operation.input_shape:
            _hold_to(operation.input_shape, given)
        try:
            said = self._answer(operation.name, found[1], given)
        except Refused as error:
            return error.answer(protocol)
        if operation.output_shape:
            _hold_to(operation.output_shape, said)
        answer = SERIALIZERS[protocol](operation).serialize(said)
        headers = dict(answer["headers"])
        kind = headers.pop("Content-Type", "application/json")
        body = answer["body"]
        return ServerAnswer(
            status=answer["status_code"],
            body=body.encode() if isinstance(body, str) else body,
            content_type=kind,
            headers=tuple((name, str(value)) for name, value in headers.items()),
        )

    def _answer(self, operation: str, service: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        name = xform_name(operation)
        if self.refuse_all is not None:
            raise self.refuse_all
        if name in self.refused_operations:
            raise self.refused_operations[name]
        self.calls.append(name)
        if name in self.forgotten_operations:
            return {}
        act: Callable[[Mapping[str, Any]], Mapping[str, Any]]
        act = getattr(self, f"_{service.replace('-', '_')}_{name}")
        return act(given)

    # STS

    def _sts_get_caller_identity(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        arn = f"arn:aws:sts::{ACCOUNT_ID}:assumed-role/ops/me"
        return {"UserId": "AIDA", "Account": ACCOUNT_ID, "Arn": arn}

    # SES

    def _ses_get_account(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        return {
            "SendQuota": self.quota,
            "SendingEnabled": True,
            "ProductionAccessEnabled": True,
            "EnforcementStatus": "HEALTHY",
        }

    def _ses_get_email_identity(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        if given["EmailIdentity"] not in self.identities:
            raise Refused("NotFoundException")
        return self.identities[given["EmailIdentity"]]

    def _ses_get_configuration_set(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        self._ses_set(given)
        return {
            "ConfigurationSetName": given["ConfigurationSetName"],
            "SendingOptions": {"SendingEnabled": True},
        }

    def _ses_create_configuration_set(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        self.ses_sets[given["ConfigurationSetName"]] = {}
        return {}

    def _ses_get_configuration_set_event_destinations(
        self, given: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        found = self._ses_set(given)
        return {"EventDestinations": [{"Name": name, **each} for name, each in found.items()]}

    def _ses_create_configuration_set_event_destination(
        self, given: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        self._require_policy(given["EventDestination"]["SnsDestination"]["TopicArn"], "ses")
        assert given["EventDestinationName"] not in self._ses_set(given)
        self._ses_set(given)[given["EventDestinationName"]] = given["EventDestination"]
        return {}

    def _ses_update_configuration_set_event_destination(
        self, given: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        assert given["EventDestinationName"] in self._ses_set(given)
        self._ses_set(given)[given["EventDestinationName"]] = given["EventDestination"]
        return {}

    def _ses_list_suppressed_destinations(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        start = int(given.get("NextToken", 0))
        page = self.suppressed[start : start + _PAGE]
        answer: dict[str, Any] = {
            "SuppressedDestinationSummaries": [
                {"EmailAddress": address, "Reason": reason, "LastUpdateTime": _NOW}
                for address, reason in page
            ]
        }
        if start + _PAGE < len(self.suppressed):
            answer["NextToken"] = str(start + _PAGE)
        return answer

    def _ses_set(self, given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        if given["ConfigurationSetName"] not in self.ses_sets:
            raise Refused("NotFoundException")
        return self.ses_sets[given["ConfigurationSetName"]]

    def _require_policy(self, arn: str, service: str) -> None:
        """Refuse a topic that is absent, or to which the service may not publish."""
        policy = json.loads(self.topics.get(arn, {}).get("Policy", "{}"))
        allowed = [each.get("Principal", {}).get("Service") for each in policy.get("Statement", [])]
        if f"{service}.amazonaws.com" not in allowed:
            raise Refused("BadRequestException", "could not publish to the topic")

    # SNS

    def _sns_get_topic_attributes(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"Attributes": self._topic(given["TopicArn"])}

    def _sns_create_topic(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        arn = f"arn:aws:sns:{REGION}:{ACCOUNT_ID}:{given['Name']}"
        owner = {"Sid": "__default_statement_ID", "Effect": "Allow", "Principal": {"AWS": "*"}}
        policy = json.dumps({"Version": "2008-10-17", "Statement": [owner]})
        self.topics.setdefault(arn, {"Policy": policy, **given.get("Attributes", {})})
        return {"TopicArn": arn}

    def _sns_set_topic_attributes(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        self._topic(given["TopicArn"])[given["AttributeName"]] = given["AttributeValue"]
        return {}

    def _sns_subscribe(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        arn = f"{given['TopicArn']}:{len(self.subscriptions)}"
        same = [
            name
            for name, each in self.subscriptions.items()
            if each["Endpoint"] == given["Endpoint"]
        ]
        chosen = same[0] if same else arn
        self.subscriptions[chosen] = {
            "TopicArn": given["TopicArn"],
            "Protocol": given["Protocol"],
            "Endpoint": given["Endpoint"],
            "RawMessageDelivery": "false",
        }
        self._unconfirmed[chosen] = self.confirms_after
        return {"SubscriptionArn": "pending confirmation"}

    def _sns_list_subscriptions_by_topic(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        self._topic(given["TopicArn"])
        found = []
        for arn, each in self.subscriptions.items():
            waits = self._unconfirmed.get(arn, 0)
            self._unconfirmed[arn] = max(0, waits - 1)
            found.append({
                "SubscriptionArn": "PendingConfirmation" if waits else arn,
                "Owner": ACCOUNT_ID,
                **{name: each[name] for name in ("Protocol", "Endpoint", "TopicArn")},
            })
        return {"Subscriptions": found}

    def _sns_get_subscription_attributes(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"Attributes": self.subscriptions[given["SubscriptionArn"]]}

    def _sns_set_subscription_attributes(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        found = self.subscriptions[given["SubscriptionArn"]]
        found[given["AttributeName"]] = given["AttributeValue"]
        return {}

    def _topic(self, arn: str) -> dict[str, str]:
        if arn not in self.topics:
            raise Refused("NotFound", "Topic does not exist")
        return self.topics[arn]

    # End User Messaging

    def _sms_voice_describe_spend_limits(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        limit = {
            "Name": "TEXT_MESSAGE_MONTHLY_SPEND_LIMIT",
            "EnforcedLimit": 100,
            "MaxLimit": 1000,
            "Overridden": True,
        }
        return {"SpendLimits": [limit]}

    def _sms_voice_describe_account_attributes(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"AccountAttributes": [{"Name": "ACCOUNT_TIER", "Value": "PRODUCTION"}]}

    def _sms_voice_describe_configuration_sets(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        (name,) = given["ConfigurationSetNames"]
        found = {
            "ConfigurationSetArn": f"arn:aws:sms-voice:{REGION}:{ACCOUNT_ID}:configuration-set/x",
            "ConfigurationSetName": name,
            "EventDestinations": list(self._sms_set(name).values()),
            "CreatedTimestamp": _NOW,
        }
        return {"ConfigurationSets": [found]}

    def _sms_voice_create_configuration_set(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        self.sms_sets[given["ConfigurationSetName"]] = {}
        return {"ConfigurationSetName": given["ConfigurationSetName"]}

    def _sms_voice_create_event_destination(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        self._require_policy(given["SnsDestination"]["TopicArn"], "sms-voice")
        destination = {**_without_names(given), "Enabled": True}
        self._sms_set(given["ConfigurationSetName"])[given["EventDestinationName"]] = destination
        return {"EventDestination": destination}

    def _sms_voice_update_event_destination(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        found = self._sms_set(given["ConfigurationSetName"])[given["EventDestinationName"]]
        found |= _without_names(given)
        return {"EventDestination": found}

    def _sms_voice_describe_phone_numbers(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"PhoneNumbers": self.numbers}

    def _sms_voice_describe_opted_out_numbers(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        listed = self.opted_out[given["OptOutListName"]]
        start = int(given.get("NextToken", 0))
        page = [
            {"OptedOutNumber": each, "OptedOutTimestamp": _NOW, "EndUserOptedOut": True}
            for each in listed[start : start + _PAGE]
        ]
        more = {"NextToken": str(start + _PAGE)} if start + _PAGE < len(listed) else {}
        return {"OptedOutNumbers": page, **more}

    def _sms_set(self, name: str) -> dict[str, dict[str, Any]]:
        if name not in self.sms_sets:
            raise Refused("ResourceNotFoundException")
        return self.sms_sets[name]


def number(**changed: object) -> dict[str, Any]:
    """A number as DescribePhoneNumbers shows it."""
    return {
        "PhoneNumberArn": f"arn:aws:sms-voice:{REGION}:{ACCOUNT_ID}:phone-number/phone-1",
        "PhoneNumberId": "phone-1",
        "PhoneNumber": "+14255550100",
        "Status": "ACTIVE",
        "IsoCountryCode": "US",
        "MessageType": "TRANSACTIONAL",
        "NumberCapabilities": ["SMS"],
        "NumberType": "TOLL_FREE",
        "MonthlyLeasingPrice": "2.00",
        "TwoWayEnabled": False,
        "SelfManagedOptOutsEnabled": False,
        "OptOutListName": "Default",
        "DeletionProtectionEnabled": False,
        "MessagingLimits": {"RateLimits": {"SMS": 3}},
        "CreatedTimestamp": _NOW,
        **changed,
    }


def _without_names(given: Mapping[str, Any]) -> dict[str, Any]:
    left_out = {"ConfigurationSetName", "ClientToken"}
    return {name: value for name, value in given.items() if name not in left_out}


def _hold_to(shape: object, value: object) -> None:
    said = ParamValidator().validate(value, shape).generate_report()
    assert not said, said


def _parts(request: ServerRequest, path_values: Mapping[str, str]) -> Any:  # noqa: ANN401 - moto's own type
    query = parse_qsl(urlsplit(request.target).query)
    form = parse_qsl(request.body.decode()) if request.method == "POST" else []
    return {
        "method": request.method,
        "values": MultiDict([*query, *form]),
        "headers": Headers(list(request.headers.items())),
        "body": request.body,
        "url_path": request.path,
        "url_params": dict(path_values),
    }


def _operation(service: Any, request: ServerRequest) -> tuple[Any, Mapping[str, str]]:  # noqa: ANN401 - botocore has no types
    """Find the operation by the service's protocol, and the values in the path."""
    if target := request.headers.get("x-amz-target"):
        return service.operation_model(target.rpartition(".")[2]), {}
    if service.metadata["protocol"] == "query":
        return service.operation_model(dict(parse_qsl(request.body.decode()))["Action"]), {}
    for name in service.operation_names:
        operation = service.operation_model(name)
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", operation.http["requestUri"])
        found = re.fullmatch(pattern, request.path)
        if found and operation.http["method"] == request.method:
            return operation, {key: unquote(value) for key, value in found.groupdict().items()}
    raise AssertionError(request.target)
