"""Settings of operators: single sign-on, passwords, publishing and the daily report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from notifications.core.rules.roles import ROLES
from notifications.core.rules.single_sign_on import Options, SecondFactorBy
from notifications.core.rules.times import local_time
from notifyproj.values import Issuer, Names

_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def _roles_by_group(value: object) -> object:
    """Read `oncall=operator,writers=editor`.

    Raises:
        ValueError: an item has another form, a group repeats, or the role is unknown.
    """
    found: dict[str, str] = {}
    for item in str(value).split(","):
        group, separator, role = (part.strip() for part in item.rpartition("="))
        if not (group and separator and role):
            raise ValueError(f"{item.strip()!r} must have the form group=role")
        if role not in ROLES:
            raise ValueError(f"{role!r} is an unknown role; use one of {', '.join(ROLES)}")
        if group in found:
            raise ValueError(f"names the group {group} twice")
        found[group] = role
    return found


def _timezone(name: str) -> str:
    if not local_time.is_zone(name):
        raise ValueError("is an unknown timezone")
    return name


TimezoneName = Annotated[str, AfterValidator(_timezone)]
GroupRoles = Annotated[Mapping[str, str], BeforeValidator(_roles_by_group)]


class SignInEnvironment(BaseModel):
    """Each description completes the sentence "Give ..."."""

    oidc_issuer: Issuer | None = Field(
        alias="NOTIFY_OIDC_ISSUER",
        default=None,
        description="the issuer URL of the identity provider, such as https://id.example.com/realms"
        "/main, without /.well-known/openid-configuration",
    )
    oidc_client_id: str = Field(
        alias="NOTIFY_OIDC_CLIENT_ID",
        default="",
        description="the client id that the identity provider gave to this service",
    )
    oidc_client_secret: str = Field(
        alias="NOTIFY_OIDC_CLIENT_SECRET",
        default="",
        description="the client secret that the identity provider gave to this service",
        repr=False,
    )
    oidc_name: str = Field(
        alias="NOTIFY_OIDC_NAME",
        default="single sign-on",
        description="the name of the identity provider for the button of the sign-in page",
    )
    oidc_scopes: str = Field(
        alias="NOTIFY_OIDC_SCOPES",
        default="openid email profile",
        description="the scopes, separated by spaces, with openid and email",
        pattern=r"(^| )openid( |$)",
    )
    oidc_groups_claim: str = Field(
        alias="NOTIFY_OIDC_GROUPS_CLAIM",
        default="groups",
        description="the claim with the groups of a person, such as groups or realm_access.roles",
    )
    oidc_roles: GroupRoles = Field(
        alias="NOTIFY_OIDC_ROLES",
        default={},
        description="a comma list of group=role, such as oncall=operator; the roles are"
        f" {', '.join(ROLES)}",
    )
    oidc_domains: Names = Field(
        alias="NOTIFY_OIDC_DOMAINS",
        default=(),
        description="a comma list of the domains whose e-mail addresses may sign in",
    )
    oidc_hosts: Names = Field(
        alias="NOTIFY_OIDC_HOSTS",
        default=(),
        description="a comma list of the hosts of the identity provider's endpoints beside the"
        " host of the issuer, such as oauth2.googleapis.com,www.googleapis.com",
    )
    oidc_algorithm: Literal["RS256", "PS256", "ES256"] = Field(
        alias="NOTIFY_OIDC_ALGORITHM",
        default="RS256",
        description="one of RS256, PS256, ES256: the signature of the ID tokens",
    )
    oidc_verified_email: bool = Field(
        alias="NOTIFY_OIDC_VERIFIED_EMAIL",
        default=True,
        description="yes or no: whether the claim email_verified must be true",
    )
    oidc_second_factor: SecondFactorBy = Field(
        alias="NOTIFY_OIDC_SECOND_FACTOR",
        default=SecondFactorBy.PROVIDER,
        description=f"one of {', '.join(SecondFactorBy)}: the party that asks an operator with"
        " single sign-on for the second factor",
    )
    password_sign_in: bool = Field(
        alias="NOTIFY_PASSWORD_SIGN_IN",
        default=True,
        description="yes or no: whether operators may sign in with a password",
    )

    report_hour: Annotated[int, Field(ge=0, le=23)] = Field(
        alias="NOTIFY_REPORT_HOUR",
        default=6,
        description="an hour from 0 to 23: the hour of the day in which the daily report is sent",
    )
    report_timezone: TimezoneName = Field(
        alias="NOTIFY_REPORT_TIMEZONE",
        default="UTC",
        description="the timezone of NOTIFY_REPORT_HOUR, such as Europe/Berlin",
    )
    publish_needs_second_person: bool = Field(
        alias="NOTIFY_PUBLISH_NEEDS_SECOND_PERSON",
        default=False,
        description="yes or no: whether another operator than the authors publishes a version of a"
        " template in the admin",
    )

    @property
    def single_sign_on(self) -> Options | None:
        """The settings as `Options`; None without an issuer."""
        if self.oidc_issuer is None:
            return None
        return Options(
            issuer=self.oidc_issuer,
            client_id=self.oidc_client_id,
            client_secret=self.oidc_client_secret,
            name=self.oidc_name,
            scopes=self.oidc_scopes,
            groups_claim=self.oidc_groups_claim,
            roles=self.oidc_roles,
            domains=tuple(domain.lower() for domain in self.oidc_domains),
            hosts=self.oidc_hosts,
            algorithm=self.oidc_algorithm,
            needs_verified_email=self.oidc_verified_email,
            second_factor=self.oidc_second_factor,
        )

    def sign_in_contradictions(self) -> list[str]:
        """Return a line for each missing or conflicting setting of the sign-in."""
        if self.oidc_issuer is None:
            return (
                []
                if self.password_sign_in
                else ["NOTIFY_PASSWORD_SIGN_IN=no needs NOTIFY_OIDC_ISSUER: nobody could sign in."]
            )
        needed = {
            "NOTIFY_OIDC_CLIENT_ID": self.oidc_client_id,
            "NOTIFY_OIDC_CLIENT_SECRET": self.oidc_client_secret,
            "NOTIFY_OIDC_ROLES": self.oidc_roles,
        }
        lines = [
            f"{name} is missing: NOTIFY_OIDC_ISSUER is set."
            for name, value in needed.items()
            if not value
        ]
        parts = urlsplit(self.oidc_issuer)
        if parts.scheme != "https" and parts.hostname not in _LOCAL:
            lines.append("NOTIFY_OIDC_ISSUER must begin with https://: tokens are secrets.")
        return lines
