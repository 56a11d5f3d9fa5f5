"""Clients of AWS for the control plane, and AWS's errors as one line.

boto3 repeats throttled calls by itself: the describing operations of End User Messaging allow one
call a second (https://docs.aws.amazon.com/sms-voice/latest/userguide/quotas.html).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from providers.aws import faults
from providers.aws.settings import Account
from providers.connect.account import UNREADABLE, CannotConnect

AwsClient: TypeAlias = Any
"""A client of boto3, which has no types."""

_CONNECT_SECONDS: Final = 5
_READ_SECONDS: Final = 15
_TRIES: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The AWS account of the credentials."""

    account_id: str
    partition: str
    """`aws`, `aws-cn`, `aws-us-gov`."""


def client(account: Account, service: str, *, endpoint: str = "") -> AwsClient:
    """Return a client with the keys of the settings, or with botocore's chain.

    Args:
        account: region and keys.
        service: boto3's name of the service.
        endpoint: URL of a stand-in; empty: the region's endpoint, or AWS_ENDPOINT_URL_<SERVICE>.
    """
    import boto3  # noqa: PLC0415 - 20 MiB that only this command needs
    from botocore.config import Config  # noqa: PLC0415 - as above

    # At DEBUG botocore logs whole answers, and urllib3 logs URLs; both contain addresses.
    for name in ("botocore", "urllib3"):
        logging.getLogger(name).setLevel(logging.INFO)
    return boto3.client(
        service,
        region_name=account.region,
        endpoint_url=endpoint or None,
        aws_access_key_id=account.access_key_id or None,
        aws_secret_access_key=account.secret_access_key or None,
        aws_session_token=account.session_token or None,
        config=Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"total_max_attempts": _TRIES, "mode": "standard"},
        ),
    )


@contextmanager
def calling(subject: str) -> Iterator[None]:
    """Turn AWS's errors into CannotConnect; an unreadable answer is left out of the text.

    Raises:
        CannotConnect: AWS refused the call, did not answer, or the answer cannot be read.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - see `client`
    from botocore.parsers import ResponseParserError  # noqa: PLC0415 - see `client`

    try:
        yield
    except ClientError as error:
        said = error.response.get("Error", {})
        detail = f"{said.get('Code', '')}: {faults.redact(said.get('Message', ''))}"
        raise CannotConnect(subject, detail) from None
    except BotoCoreError as error:
        raise CannotConnect(subject, f"AWS cannot be asked: {type(error).__name__}") from None
    except (ResponseParserError, *UNREADABLE) as error:
        said = f"the answer of AWS cannot be read: {type(error).__name__}"
        raise CannotConnect(subject, said) from None


def caller(account: Account) -> Caller:
    """Ask STS for the account of the credentials; the call needs no permission.

    Raises:
        CannotConnect: AWS does not accept the credentials, or the answer cannot be read.
    """
    with calling("credentials"):
        identity = client(account, "sts").get_caller_identity()
        return Caller(account_id=identity["Account"], partition=identity["Arn"].split(":")[1])
