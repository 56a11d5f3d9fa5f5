"""Django's authentication by an ID token.

mozilla-django-oidc verifies signature, algorithm and nonce. Added here: a sign-in without nonce is
refused, issuer, audience and expiry are required, and the user info must be about the subject of
the ID token (OpenID Connect Core 1.0, sections 3.1.3.7 and 5.3.2).
"""

from __future__ import annotations

from typing import Any

import jwt
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from notifications.core import conf
from notifications.core.rules.single_sign_on import Options
from notifications.features.single_sign_on import accounts, metadata


class SingleSignOn(OIDCAuthenticationBackend):
    """Accounts by identities of the configured identity provider."""

    def __init__(self) -> None:
        """Skip the parent's settings: a request of a session must cause no call."""
        self.UserModel = get_user_model()

    @staticmethod
    def get_settings(attr: str, *args: Any) -> Any:  # noqa: ANN401 - the library's signature
        """Return a setting of the library."""
        return library_setting(attr, *args)

    def authenticate(self, request: HttpRequest | None, **kwargs: Any) -> User | None:  # noqa: ANN401 - the library's signature
        """Return the account of the code in the request; None: the request is no callback.

        Raises:
            SuspiciousOperation: a check of the ID token failed.
            SignInRefused: the person may not sign in.
            ProviderUnavailable: the identity provider gave no usable answer.
        """
        options = conf.single_sign_on()
        if request is None or options is None or not kwargs.get("nonce"):
            return None  # a password, or a callback that did not begin here
        self.options = options
        self.endpoints = metadata.endpoints(options)
        self.OIDC_OP_TOKEN_ENDPOINT = self.endpoints.token
        self.OIDC_RP_CLIENT_ID = options.client_id
        self.OIDC_RP_CLIENT_SECRET = options.client_secret
        self.OIDC_RP_SIGN_ALGO = options.algorithm
        self.OIDC_RP_IDP_SIGN_KEY = None
        try:
            account: User | None = super().authenticate(request, **kwargs)
        except (jwt.PyJWTError, KeyError) as error:
            raise SuspiciousOperation(f"invalid ID token: {type(error).__name__}") from error
        return account

    def retrieve_matching_jwk(self, token: str) -> Any:  # noqa: ANN401 - the library's signature
        """Return the provider's key that signed the token.

        Raises:
            SuspiciousOperation: no key fits, or several keys fit.
        """
        header = jwt.get_unverified_header(token)
        keys = metadata.get_json(self.options, self.endpoints.keys).get("keys", [])
        fitting = [
            key
            for key in keys
            if key.get("alg", self.options.algorithm) == self.options.algorithm
            and key.get("use", "sig") == "sig"
            and ("kid" not in header or key.get("kid") == header["kid"])
        ]
        if len(fitting) != 1:
            raise SuspiciousOperation("no key of the identity provider fits the ID token")
        return jwt.PyJWK(fitting[0], algorithm=self.options.algorithm)

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401 - the library's signature
        """Return the claims of an ID token.

        Raises:
            SuspiciousOperation: signature, algorithm, nonce, issuer, audience or time is wrong.
        """
        claims: dict[str, Any] = super().verify_token(token, **kwargs)
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        client = self.options.client_id
        is_valid = (
            str(claims.get("iss", "")).rstrip("/") == self.options.issuer
            and client in audiences
            and (len(audiences) == 1 or claims.get("azp") == client)
            and "exp" in claims
            and bool(claims.get("sub"))
        )
        if not is_valid:
            raise SuspiciousOperation("the ID token is for another client or of another issuer")
        return claims

    def get_token(self, payload: dict[str, str]) -> dict[str, Any]:
        """Exchange the code for tokens."""
        return metadata.post_form(self.options, self.endpoints.token, payload)

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> User:
        """Return the account of the verified claims and of the user info.

        Raises:
            SuspiciousOperation: the user info is about another subject.
        """
        del id_token
        bearer = f"Authorization: Bearer {access_token}"
        info = metadata.get_json(self.options, self.endpoints.user_info, headers=(bearer,))
        if info.get("sub") != payload["sub"]:
            raise SuspiciousOperation("the user info is about another subject")
        return accounts.account_of({**info, **payload}, self.options)


def library_setting(attr: str, *args: Any) -> Any:  # noqa: ANN401 - the library's signature
    """Return a setting of mozilla-django-oidc from the environment's options.

    Raises:
        ProviderUnavailable: the setting is an endpoint, and the provider gave no usable answer.
    """
    options = _options()
    if attr == "OIDC_OP_AUTHORIZATION_ENDPOINT":
        return metadata.endpoints(options).authorization
    settings = {
        "OIDC_RP_CLIENT_ID": options.client_id,
        "OIDC_RP_SCOPES": options.scopes,
        "OIDC_USE_NONCE": True,
        "OIDC_USE_PKCE": True,
        "LOGIN_REDIRECT_URL": "admin:index",
    }
    return settings.get(attr, args[0] if args else None)


def _options() -> Options:
    options = conf.single_sign_on()
    if options is None:
        raise metadata.ProviderUnavailable("single sign-on is not configured")
    return options
