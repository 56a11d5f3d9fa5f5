"""Our signature and botocore's, for the same request at the same moment."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from providers.aws.credentials import Keys
from providers.aws.service import Signer
from providers.sandbox_server.wire import ServerRequest
from tests.providers.aws.fakes import KEY_ID, REGION, SECRET, TOKEN, signature

AT = datetime(2026, 3, 29, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize("token", ["", TOKEN])
@pytest.mark.parametrize(
    ("method", "url", "body"),
    [
        (
            "POST",
            "https://email.eu-west-1.amazonaws.com/v2/email/outbound-emails",
            b'{"a": "\xc3\xbc"}',
        ),
        ("POST", "https://sns.eu-west-1.amazonaws.com/", b"Action=Publish"),
        ("GET", "https://email.eu-west-1.amazonaws.com/v2/email/account", b""),
        ("POST", "http://127.0.0.1:4566/", b"{}"),
        ("POST", "http://[::1]:4566/v2/a b~c", b"{}"),
        ("POST", "https://vpce-1.example:443/", b"{}"),
    ],
)
def test_it_is_what_botocore_would_have_signed(
    method: str, url: str, body: bytes, token: str
) -> None:
    keys = Keys(access_key_id=KEY_ID, secret_access_key=SECRET, session_token=token)
    signer = Signer(keys, region=REGION, service="ses", at=AT)
    given = ["X-Amz-Target: A.B", "Content-Type: application/json; charset=utf-8"]
    lines = signer.sign_headers(given, method=method, url=url, body=body)
    headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in lines)}
    request = ServerRequest(method, "/", headers, body)
    assert headers["authorization"] == signature(request, url=url, service="ses", token=token)
    assert headers["x-amz-date"] == "20260329T235959Z"
    assert ("x-amz-security-token" in headers) == bool(token)
    assert {"host", "x-amz-date", "content-type", "x-amz-target"} <= set(
        headers["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    )


def test_keys_show_no_secret() -> None:
    shown = repr(Keys(access_key_id=KEY_ID, secret_access_key=SECRET, session_token=TOKEN))
    assert SECRET not in shown
    assert TOKEN not in shown
