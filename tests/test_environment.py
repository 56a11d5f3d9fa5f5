"""A process starts with a whole and valid environment, or says in a line each what is wrong."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core.rules.allowed import AllowList
from notifications.core.rules.lane import Priority
from notifications.core.rules.rate_limits.circuit_breaker import Streak
from notifications.core.rules.rate_limits.frequency_caps import DEFAULTS, Cap
from notifyproj import environment
from notifyproj.environment import Delivery, InvalidEnvironment, LogLevel
from providers import registry
from providers.contract import Channel
from providers.errors import ConfigurationError
from providers.sms.gateways import vendors

_KEY = "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk="
_WHOLE = {
    "DATABASE_URL": "postgresql://notify:hidden-1@db/notify",
    "REDIS_URL": "redis://:hidden-2@state:6379/0",
    "CELERY_BROKER_URL": "redis://:hidden-3@broker:6379/0",
    "NOTIFY_SECRET_KEY": "hidden-4-and-as-long-as-it-has-to-be",
    "NOTIFY_ENCRYPTION_KEYS": _KEY,
    "NOTIFY_PUBLIC_URL": "https://notify.example.com/",
    "NOTIFY_ROUTES": "push=sandbox, email=sandbox",
    "NOTIFY_SANDBOX_URL": "http://127.0.0.1:1",
    "NOTIFY_SANDBOX_SECRET": "whsec_dGVzdHMtc2lnbi10aGVpci1yZWNlaXB0cy13aXRoLXRoaXM=",
    "PATH": "/bin",
}


def _refusal(**changes: str) -> str:
    with pytest.raises(InvalidEnvironment) as refused:
        environment.load({**_WHOLE, **changes})
    return str(refused.value)


def test_the_settings_of_an_unread_description_are_not_called_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = vendors.Gateways(fault=ConfigurationError("acme.toml", "is no valid TOML"))
    monkeypatch.setattr(registry, "_GATEWAYS", broken)
    assert _refusal(NOTIFY_ACME_TOKEN="hidden-5") == "acme.toml: is no valid TOML."


def test_a_whole_environment_is_read_into_types() -> None:
    loaded = environment.load({**_WHOLE, "NOTIFY_DEBUG": "yes", "NOTIFY_LOG_LEVEL": "warning"})
    assert loaded.routes == {Channel.PUSH: "sandbox", Channel.EMAIL: "sandbox"}
    assert loaded.encryption_keys == (_KEY,)
    assert loaded.public_url == "https://notify.example.com"
    assert loaded.hosts == ["notify.example.com"]
    assert loaded.caps == DEFAULTS
    assert loaded.debug is True
    assert loaded.log_level is LogLevel.WARNING


def test_the_public_address_has_the_form_that_browsers_send() -> None:
    """Otherwise cookies lack `Secure`, and no `Origin` of a browser is trusted."""
    loaded = environment.load({**_WHOLE, "NOTIFY_PUBLIC_URL": "HTTPS://Notify.Example.COM/"})
    assert loaded.public_url == "https://notify.example.com"


def test_everybody_is_reached_unless_an_environment_says_otherwise() -> None:
    usual = environment.load(_WHOLE)
    assert (usual.delivery, usual.allowed_recipients) == (Delivery.LIVE, None)
    careful = environment.load({
        **_WHOLE,
        "NOTIFY_DELIVERY": "dry_run",
        "NOTIFY_ALLOWED_RECIPIENTS": "u_1, @example.com",
    })
    assert careful.delivery is Delivery.DRY_RUN
    assert careful.allowed_recipients == AllowList.of(["u_1", "@example.com"])


def test_caps_are_read_and_can_be_lifted() -> None:
    loaded = environment.load({**_WHOLE, "NOTIFY_CAPS": "sms=1/day, push=5/hour"})
    assert loaded.caps == {Channel.SMS: Cap.parse("1/day"), Channel.PUSH: Cap.parse("5/hour")}
    assert environment.load({**_WHOLE, "NOTIFY_CAPS": "none"}).caps == {}


def test_rabbitmq_may_be_the_broker() -> None:
    loaded = environment.load({**_WHOLE, "CELERY_BROKER_URL": "amqp://u:p@rabbit//"})
    assert loaded.broker_url == "amqp://u:p@rabbit//"


def test_redis_and_broker_over_tls_are_verified_unless_their_url_says_otherwise() -> None:
    urls = {"REDIS_URL": "rediss://x/0", "CELERY_BROKER_URL": "amqps://y//?ssl_cert_reqs=CERT_NONE"}
    loaded = environment.load(_WHOLE | urls)
    assert loaded.state_url == "rediss://x/0?ssl_cert_reqs=required&ssl_check_hostname=true"
    assert loaded.broker_url == "amqps://y//?ssl_cert_reqs=none&ssl_check_hostname=true"


@pytest.mark.parametrize(
    "name",
    [
        *("BROKER_URL", "CELERY_BROKER_READ_URL", "CELERY_BROKER_WRITE_URL"),
        *("RESULT_BACKEND", "CELERY_RESULT_BACKEND"),
    ],
)
def test_a_variable_of_celery_that_names_another_server_is_refused(name: str) -> None:
    said = _refusal(**{name: "redis://:hidden-5@elsewhere:6379/0"})
    assert said.startswith(f"{name} is a variable of Celery, and ")
    assert "remove it" in said
    assert "hidden" not in said


def test_everything_that_is_missing_is_told_at_once_a_line_each() -> None:
    with pytest.raises(InvalidEnvironment) as refused:
        environment.load({"NOTIFY_DEBUG": "yes"})
    lines = str(refused.value).splitlines()
    assert [line.split()[0] for line in lines] == [
        "DATABASE_URL",
        "REDIS_URL",
        "CELERY_BROKER_URL",
        "NOTIFY_SECRET_KEY",
        "NOTIFY_ENCRYPTION_KEYS",
        "NOTIFY_PUBLIC_URL",
        "NOTIFY_ROUTES",
    ]
    assert all("is missing. Give " in line for line in lines)


def test_a_variable_that_is_set_to_nothing_is_missing() -> None:
    assert _refusal(NOTIFY_SECRET_KEY="  ").startswith("NOTIFY_SECRET_KEY is missing.")


def test_the_variables_of_a_producer_stop_no_start() -> None:
    said = _refusal(NOTIFY_URL="http://127.0.0.1:8000", NOTIFY_KEY="nk_live_x", NOTIFY_CAPS="x")
    assert len(said.splitlines()) == 1
    assert "NOTIFY_CAPS" in said


def test_a_misspelt_name_stops_the_start_with_a_hint() -> None:
    said = _refusal(NOTIFY_PUBLIC_ULR="https://x")
    assert said == ("NOTIFY_PUBLIC_ULR is an unknown setting: did you mean NOTIFY_PUBLIC_URL?")


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("DATABASE_URL", "mysql://db/x", "must begin with postgresql:// or postgres://"),
        ("DATABASE_URL", "postgresql:///x", "has no host"),
        ("REDIS_URL", "redis://state:99999", "has an invalid port; use a number up to 65535"),
        ("REDIS_URL", "redis://state/hidden", "has a database that is no number"),
        ("REDIS_URL", "redis://state/0?hidden=1", "has a parameter that redis-py does not know"),
        ("REDIS_URL", "redis://state?socket_timeout=hidden", "has a parameter that redis-py"),
        ("CELERY_BROKER_URL", "redis://broker/hidden", "has a database that is no number"),
        ("CELERY_BROKER_URL", "memory://", "must begin with redis://"),
        (
            "REDIS_URL",
            "rediss://x?ssl_ca_cert=/hidden",
            "has the unknown TLS parameter ssl_ca_cert",
        ),
        ("CELERY_BROKER_URL", "amqps://x?verify=hidden", "has the unknown TLS parameter verify"),
        ("NOTIFY_SECRET_KEY", "hidden-short", "is shorter than 32 characters"),
        ("NOTIFY_ENCRYPTION_KEYS", f"{_KEY},hidden", "item 2 is an invalid Fernet key"),
        ("NOTIFY_ENCRYPTION_KEYS", ",", "is an empty list"),
        (
            "NOTIFY_ROUTES",
            "pidgeon=sandbox",
            "'pidgeon' is an unknown channel; use one of push, sms",
        ),
        ("NOTIFY_ROUTES", "push", "'push' must have the form channel=provider"),
        ("NOTIFY_ROUTES", "push=sandbox,push=sandbox", "names the channel push twice"),
        ("NOTIFY_CAPS", "sms=3", "'3' is an invalid cap; use a form such as 3/day"),
        ("NOTIFY_CAPS", "sms", "'sms' must have the form channel=cap"),
        ("NOTIFY_DEBUG", "perhaps", "must be yes or no"),
        ("NOTIFY_LOG_LEVEL", "chatty", "has an unknown value"),
        ("NOTIFY_DELIVERY", "perhaps", "has an unknown value"),
        ("NOTIFY_RELEASE_RAMP_SECONDS", "-1", "Input should be greater than or equal to 0"),
        ("NOTIFY_MAX_CLOCK_SKEW_SECONDS", "0", "Input should be greater than or equal to 0.1"),
        ("NOTIFY_CALLS_IN_FLIGHT", "0", "Input should be greater than or equal to 1"),
        ("NOTIFY_METRICS_LISTEN", "9464", "must have the form host:port or host:first-last"),
        ("NOTIFY_METRICS_LISTEN", "[::]:9480-9464", "must have ports from 1 to 65535"),
        ("NOTIFY_METRICS_LISTEN", "0.0.0.0:99999", "must have ports from 1 to 65535"),
        ("NOTIFY_SMS_MAX_SEGMENTS", "0", "Input should be greater than or equal to 1"),
        ("NOTIFY_ALLOWED_RECIPIENTS", ",", "is an empty list"),
        ("NOTIFY_ALLOWED_RECIPIENTS", "u_1,+hidden", "entry 2 is an invalid beginning of a number"),
    ],
)
def test_a_wrong_value_is_told_in_one_line_that_names_it(
    name: str, value: str, problem: str
) -> None:
    said = _refusal(**{name: value})
    assert said.startswith(f"{name} {problem}")
    assert "\n" not in said
    assert "hidden" not in said


def test_broker_and_state_on_one_server_are_refused_whatever_their_database_number() -> None:
    one = {"REDIS_URL": "redis://one/0", "CELERY_BROKER_URL": "redis://one:6379/1"}
    assert "name the same server" in _refusal(**one)
    allowed = environment.load({**_WHOLE, **one, "NOTIFY_ALLOW_SHARED_REDIS": "yes"})
    assert allowed.broker_url == one["CELERY_BROKER_URL"]


def test_a_route_through_a_provider_without_settings_is_refused() -> None:
    said = _refusal(NOTIFY_ROUTES="push=sandbox,sms=twilio")
    assert said.startswith("NOTIFY_ROUTES sends sms through twilio, which is not configured")


def test_a_vendors_own_setting_is_checked_at_start_and_not_repeated() -> None:
    said = _refusal(NOTIFY_SANDBOX_SECRET="hidden")
    assert said.startswith("NOTIFY_SANDBOX_SECRET: ")
    assert "hidden" not in said


def test_secrets_do_not_show_in_the_repr() -> None:
    assert "hidden" not in repr(environment.load(_WHOLE))


_SINGLE_SIGN_ON = {
    "NOTIFY_OIDC_ISSUER": "https://id.example.com/realms/main/",
    "NOTIFY_OIDC_CLIENT_ID": "notify",
    "NOTIFY_OIDC_CLIENT_SECRET": "hidden-5",
    "NOTIFY_OIDC_ROLES": "oncall=operator, cn=writers=editor",
}


def test_single_sign_on_is_off_without_an_issuer() -> None:
    assert environment.load(_WHOLE).single_sign_on is None
    options = environment.load({**_WHOLE, **_SINGLE_SIGN_ON}).single_sign_on
    assert options is not None
    assert options.issuer == "https://id.example.com/realms/main"
    assert options.roles == {"oncall": "operator", "cn=writers": "editor"}
    assert options.all_hosts == {"id.example.com"}
    assert "hidden" not in repr(options)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"NOTIFY_OIDC_CLIENT_SECRET": ""}, "NOTIFY_OIDC_CLIENT_SECRET is missing"),
        ({"NOTIFY_OIDC_ROLES": ""}, "NOTIFY_OIDC_ROLES is missing"),
        ({"NOTIFY_OIDC_ROLES": "oncall=boss"}, "'boss' is an unknown role; use one of auditor"),
        ({"NOTIFY_OIDC_ROLES": "oncall"}, "'oncall' must have the form group=role"),
        ({"NOTIFY_OIDC_ROLES": "a=editor,a=owner"}, "names the group a twice"),
        ({"NOTIFY_OIDC_ISSUER": "http://id.example.com"}, "must begin with https://"),
        ({"NOTIFY_OIDC_ALGORITHM": "none"}, "NOTIFY_OIDC_ALGORITHM"),
        ({"NOTIFY_OIDC_SCOPES": "email"}, "NOTIFY_OIDC_SCOPES"),
        ({"NOTIFY_OIDC_ISSUER": "", "NOTIFY_PASSWORD_SIGN_IN": "no"}, "nobody could sign in"),
    ],
)
def test_a_wrong_single_sign_on_stops_the_start(changes: dict[str, str], said: str) -> None:
    assert said in _refusal(**{**_SINGLE_SIGN_ON, **changes})


def test_times_to_live_keys_and_breakers_are_settings_with_defaults() -> None:
    usual = environment.load(_WHOLE)
    assert usual.times_to_live[Priority.P0] == dt.timedelta(seconds=300)
    assert usual.breaker_failures[Channel.SMS] == Streak(5, 2)
    tuned = environment.load(
        _WHOLE
        | {
            "NOTIFY_TIME_TO_LIVE": "P0=120",
            "NOTIFY_IDEMPOTENCY_HOURS": "48",
            "NOTIFY_BREAKER_FAILURES": "email=8/10",
        }
    )
    assert tuned.times_to_live[Priority.P0] == dt.timedelta(seconds=120)
    assert tuned.times_to_live[Priority.P3] == dt.timedelta(days=2)
    assert tuned.idempotency_hours == 48
    assert tuned.breaker_failures == {Channel.EMAIL: Streak(8, 10)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NOTIFY_TIME_TO_LIVE", "P9=1"),
        ("NOTIFY_TIME_TO_LIVE", "P0=0"),
        ("NOTIFY_TIME_TO_LIVE", "P0=soon"),
        ("NOTIFY_TIME_TO_LIVE", "P0=5184001"),
        ("NOTIFY_BREAKER_FAILURES", "email=8"),
        ("NOTIFY_BREAKER_FAILURES", "email=1/5"),
        ("NOTIFY_BREAKER_FAILURES", "fax=3/5"),
        ("NOTIFY_IDEMPOTENCY_HOURS", "0"),
    ],
)
def test_a_tuning_that_cannot_work_is_told(name: str, value: str) -> None:
    assert name in _refusal(**{name: value})


def test_the_url_of_the_live_processes_has_no_slash_at_its_end() -> None:
    assert environment.load(_WHOLE).live_url is None
    loaded = environment.load({**_WHOLE, "NOTIFY_LIVE_URL": "https://live.example.com/"})
    assert loaded.live_url == "https://live.example.com"
    assert "NOTIFY_LIVE_URL" in _refusal(NOTIFY_LIVE_URL="live.example.com")


def test_the_limits_of_a_live_process_are_checked() -> None:
    loaded = environment.load({**_WHOLE, "NOTIFY_LIVE_CONNECTIONS": "500"})
    assert (loaded.live.connections, loaded.live.connections_per_recipient) == (500, 20)
    assert "NOTIFY_LIVE_CONNECTIONS" in _refusal(NOTIFY_LIVE_CONNECTIONS="5")
    assert "NOTIFY_LIVE_HEARTBEAT_SECONDS" in _refusal(NOTIFY_LIVE_HEARTBEAT_SECONDS="none")
