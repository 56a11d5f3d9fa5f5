"""Identity providers for the tests: a real one in its own process, and one that lies on request."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from notifications.core import clock
from notifications.core.rules.single_sign_on import Options, SecondFactorBy
from notifyproj.devstack.ports import free_port

CLIENT = "notify"


def options(issuer: str, **changed: Any) -> Options:  # noqa: ANN401 - fields of different types
    """Settings for a provider of the tests."""
    given: dict[str, Any] = {
        "issuer": issuer,
        "client_id": CLIENT,
        "client_secret": "a secret of the tests, long enough for HS256",
        "name": "Example ID",
        "scopes": "openid email profile",
        "groups_claim": "groups",
        "roles": {"oncall": "operator", "writers": "editor"},
        "domains": (),
        "hosts": (),
        "algorithm": "RS256",
        "needs_verified_email": True,
        "second_factor": SecondFactorBy.PROVIDER,
    }
    return Options(**given | changed)


@contextmanager
def real_provider() -> Iterator[str]:
    """Run oidc-provider-mock; yields the issuer. Its warnings stay in its own process."""
    port = free_port("identity-provider")
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    ends_by = time.monotonic() + 30
    while time.monotonic() < ends_by and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=2).close()
        except OSError:
            threading.Event().wait(0.1)
        else:
            return
    raise AssertionError("the identity provider did not start")


def set_person(issuer: str, subject: str, **claims: object) -> None:
    """Give a person of the real provider these claims."""
    body = json.dumps({"email_verified": True, **claims})
    status, _ = _request("PUT", f"{issuer}/users/{subject}", body, "application/json")
    assert status == 204


def consent(authorize_url: str, subject: str) -> str:
    """Sign in at the real provider; returns the URL to which the provider sends the browser."""
    form = urlencode({"sub": subject})
    status, location = _request("POST", authorize_url, form, "application/x-www-form-urlencoded")
    assert status == 302
    return location


def _request(method: str, url: str, body: str, kind: str) -> tuple[int, str]:
    parts = urlsplit(url)
    link = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10)
    try:
        link.request(method, f"{parts.path}?{parts.query}", body, {"Content-Type": kind})
        answer = link.getresponse()
        answer.read()
        return answer.status, answer.headers.get("Location", "")
    finally:
        link.close()


@dataclass
class LyingProvider:
    """A provider whose ID token, keys and user info the test chooses."""

    issuer: str = ""
    nonce: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    user_info: dict[str, Any] = field(default_factory=dict)
    signs_with: rsa.RSAPrivateKey | str | None = None
    """Another key, a shared secret (HS256), or the word `none`."""
    discovery: dict[str, Any] = field(default_factory=dict)
    token_requests: list[dict[str, str]] = field(default_factory=list)
    key: ClassVar[rsa.RSAPrivateKey] = rsa.generate_private_key(65537, 2048)

    def id_token(self) -> str:
        """The ID token, signed as the test wants."""
        now = int(clock.now().timestamp())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "anna",
            "nonce": self.nonce,
            "iat": now,
            "exp": now + 60,
            "email": "anna@example.com",
            "email_verified": True,
            "groups": ["oncall"],
            **self.claims,
        }
        kept = {name: value for name, value in claims.items() if value is not None}
        if self.signs_with == "none":
            return jwt.encode(kept, "", algorithm="none")
        if isinstance(self.signs_with, str):
            return jwt.encode(kept, self.signs_with, algorithm="HS256", headers={"kid": "1"})
        return jwt.encode(kept, self.signs_with or self.key, "RS256", headers={"kid": "1"})

    def answer(self, path: str) -> dict[str, Any]:
        """The JSON at a path."""
        if path.endswith("openid-configuration"):
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "jwks_uri": f"{self.issuer}/keys",
                "end_session_endpoint": f"{self.issuer}/end",
                **self.discovery,
            }
        if path == "/keys":
            public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
            return {"keys": [{**public, "kid": "1", "use": "sig", "alg": "RS256"}]}
        if path == "/token":
            return {"access_token": "a", "token_type": "Bearer", "id_token": self.id_token()}
        return {"sub": "anna", **self.user_info}


@contextmanager
def lying_provider() -> Iterator[LyingProvider]:
    """Run the provider in a thread."""
    provider = LyingProvider()

    class LyingHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            provider.token_requests.append({k: v[0] for k, v in parse_qs(body).items()})
            self._reply()

        def _reply(self) -> None:
            body = json.dumps(provider.answer(self.path)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_line: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), LyingHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
