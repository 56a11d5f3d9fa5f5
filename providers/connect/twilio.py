"""The Twilio account: sender, and the webhook of inbound texts.

Each message names its own status callback (`providers.sms.twilio`), so no status callback is set at
the account: a messaging service may carry messages of other systems. Inbound texts have one
webhook, of the messaging service or of the number; the service handles STOP and START from there.

Twilio has no API that lists the numbers that opted out; a send to such a number gets the error
21610, which enters the suppression list. Twilio reports no rate either.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from providers.connect.account import UNREADABLE, CannotConnect, Change, ListedAddress
from providers.contract import Finding, Pace
from providers.sms.twilio import Config

TwilioClient: TypeAlias = Any
"""Twilio's client, which has no types."""

_SECONDS: Final = 15
"""Timeout of a call; Twilio's own default is none."""
_SERVICE: Final = re.compile("MG[0-9a-fA-F]{32}")
_SHORT_CODE: Final = re.compile("[0-9]{3,8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundWebhook:
    """The webhook of a sender as Twilio stores the webhook."""

    settings: Mapping[str, Any]
    """Present values by the SDK's names."""
    wanted: Mapping[str, Any]
    """Wanted values by the SDK's names."""
    update: Callable[..., object]
    """The SDK's call that stores the values."""


class TwilioAccount:
    """See `providers.connect.account.ConnectableAccount`."""

    def __init__(self, config: Config, *, receipts_url: str) -> None:
        """Contact no server."""
        self._config, self._url = config, receipts_url

    def findings(self) -> Iterator[Finding]:
        """See `ConnectableAccount.findings`."""
        sender = self._sender
        if sender is not None:
            yield Finding(subject="sender", is_good=True, detail="the sender is of this account")
        elif self._is_name:
            said = "a sender id: nobody can answer, and the account has no record of it"
            yield Finding(subject="sender", is_good=True, detail=said)
        else:
            said = "the account has no such number or messaging service"
            yield Finding(subject="sender", is_good=False, detail=said)
        if sender is not None and sender.settings.get("sms_application_sid"):
            said = "an application of Twilio takes the texts: remove it from the number"
            yield Finding(subject="webhook", is_good=False, detail=said)
        if sender is not None and self._is_service:
            yield self._pool()

    def plan(self) -> list[Change]:
        """See `ConnectableAccount.plan`."""
        sender = self._sender
        if sender is None or all(
            sender.settings[name] == sender.wanted[name] for name in sender.wanted
        ):
            return []
        detail = f"send inbound texts to {self._url}"
        return [Change(subject="webhook", detail=detail, apply=self._set_webhook)]

    def suppression_pages(self) -> Iterator[Sequence[ListedAddress]]:
        """See `ConnectableAccount.suppression_pages`: Twilio has no list."""
        yield from ()

    def rate(self) -> Pace | None:
        """See `ConnectableAccount.rate`."""
        return None

    @property
    def _is_service(self) -> bool:
        return _SERVICE.fullmatch(self._config.from_) is not None

    @property
    def _is_short_code(self) -> bool:
        return _SHORT_CODE.fullmatch(self._config.from_) is not None

    @property
    def _is_name(self) -> bool:
        """Return True for an alphanumeric sender id."""
        is_number = self._config.from_.startswith("+") or self._is_short_code
        return not (is_number or self._is_service)

    @cached_property
    def _client(self) -> TwilioClient:
        from twilio.http.http_client import TwilioHttpClient  # noqa: PLC0415 - only this command needs the SDK
        from twilio.rest import Client  # noqa: PLC0415 - as above

        # At INFO the SDK logs the URLs of requests, at DEBUG urllib3; the URLs contain numbers.
        for name in ("twilio.http_client", "urllib3"):
            logging.getLogger(name).setLevel(logging.WARNING)
        user, _, password = self._config.api_key.partition(":")
        client = Client(
            username=user or self._config.account_sid,
            password=password or self._config.auth_token,
            account_sid=self._config.account_sid,
            http_client=TwilioHttpClient(timeout=_SECONDS),
        )
        # Of a region or an edge, both hosts have the same rest of the name.
        client.api.base_url = self._config.url
        client.messaging.base_url = self._config.url.replace("//api.", "//messaging.", 1)
        return client

    @property
    def _sender(self) -> InboundWebhook | None:
        """The sender's webhook at Twilio; None if the account lacks the sender."""
        with _calling("sender"):
            if self._is_service:
                return self._service()
            if self._is_name:
                return None
            senders, named = (
                (self._client.short_codes, "short_code")
                if self._is_short_code
                else (self._client.incoming_phone_numbers, "phone_number")
            )
            found = senders.list(**{named: self._config.from_}, limit=1)
        return self._number(found[0]) if found else None

    def _service(self) -> InboundWebhook | None:
        context = self._client.messaging.v1.services(self._config.from_)
        try:
            found = context.fetch()
        except _errors() as error:
            if _status(error) == _NOT_FOUND:
                return None
            raise
        wanted = {
            "inbound_request_url": self._url,
            "inbound_method": "POST",
            "use_inbound_webhook_on_number": False,
        }
        settings = {name: getattr(found, name) for name in wanted}
        return InboundWebhook(settings=settings, wanted=wanted, update=context.update)

    def _number(self, found: Any) -> InboundWebhook:  # noqa: ANN401 - the SDK has no types
        wanted = {"sms_url": self._url, "sms_method": "POST"}
        settings = {name: getattr(found, name) for name in wanted}
        application = getattr(found, "sms_application_sid", "")
        return InboundWebhook(
            settings={**settings, "sms_application_sid": application},
            wanted=wanted,
            update=found.update,
        )

    def _set_webhook(self) -> None:
        sender = self._sender
        if sender is not None:
            with _calling("webhook"):
                sender.update(**sender.wanted)

    def _pool(self) -> Finding:
        """Check that the messaging service has a sender."""
        with _calling("sender"):
            service = self._client.messaging.v1.services(self._config.from_)
            has_one = any(
                each.list(limit=1)
                for each in (service.phone_numbers, service.short_codes, service.alpha_senders)
            )
        said = "the messaging service has senders" if has_one else "the messaging service is empty"
        return Finding(subject="senders", is_good=has_one, detail=said)


_NOT_FOUND: Final = 404


def _errors() -> type[Exception]:
    from twilio.base.exceptions import TwilioException  # noqa: PLC0415 - only this command needs the SDK

    return TwilioException  # type: ignore[no-any-return] # the SDK has no types


def _status(error: Exception) -> int | None:
    """Return the HTTP status; the error of a list has no status, but the whole answer."""
    answer = next((each for each in error.args if hasattr(each, "status_code")), None)
    status: int | None = getattr(error, "status", None) or getattr(answer, "status_code", None)
    return status


@contextmanager
def _calling(subject: str) -> Iterator[None]:
    """Turn errors of the SDK into CannotConnect, without the SDK's text, which has addresses.

    Raises:
        CannotConnect: Twilio refused the call, did not answer, or the answer cannot be read.
    """
    try:
        yield
    except _errors() as error:
        raise CannotConnect(subject, f"Twilio answered HTTP {_status(error)}") from None
    except OSError as error:  # the errors of `requests`
        raise CannotConnect(subject, f"Twilio cannot be asked: {type(error).__name__}") from None
    except UNREADABLE as error:
        said = f"the answer of Twilio cannot be read: {type(error).__name__}"
        raise CannotConnect(subject, said) from None
