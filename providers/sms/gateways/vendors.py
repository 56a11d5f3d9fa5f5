"""From files to vendors: the descriptions of this folder, and those of the company.

`NOTIFY_SMS_GATEWAYS` is read at the import of the registry, as the entry points of packages are.
"""

from __future__ import annotations

import dataclasses
import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from providers import configuration, plugins, verdicts
from providers.configuration import parse_with
from providers.errors import ConfigurationError
from providers.sms.gateways import description
from providers.sms.gateways.description import Description, Setting
from providers.sms.gateways.gateway import Gateway, GatewayAccount
from providers.sms.gateways.receipts import GatewayReceipts
from providers.transport import Transport
from providers.vendor import Vendor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FOLDER: Final = "NOTIFY_SMS_GATEWAYS"
PRESETS: Final = Path(__file__).parent

_SHORTEST_SECRET: Final = 16
"""Characters; `openssl rand -hex 16` makes 32."""


@dataclass(frozen=True, slots=True)
class Gateways:
    """The vendors of descriptions, the status pages by name, and the first unusable file."""

    vendors: tuple[Vendor[Any], ...] = ()
    own: tuple[Vendor[Any], ...] = ()
    """Those of the company, also in `vendors`."""
    status_pages: Mapping[str, str] = field(default_factory=dict)
    fault: ConfigurationError | None = None


def find(
    environ: Mapping[str, str], *, builtin: Sequence[Vendor[Any]], reserved: frozenset[str]
) -> Gateways:
    """Read all descriptions; a file of the company replaces the file of this folder with its name.

    Args:
        environ: Names the folder of the company.
        builtin: Vendors in Python; a description must not use their names or settings.
        reserved: Names of providers that are no vendors.
    """
    every = {file.stem: description.load(file) for file in sorted(PRESETS.glob("*.toml"))}
    presets = {name: vendor_of(name, each) for name, each in every.items()}
    fault: ConfigurationError | None = None
    own: dict[str, Description] = {}
    vendors = dict(presets)
    try:
        for file in _own_files(environ.get(FOLDER, "").strip()):
            name, others = file.stem, {**vendors}
            others.pop(name, None)
            own[name] = description.load(file)
            vendors[name] = vendor_of(name, own[name])
            known = [*builtin, *others.values()]
            plugins.refuse_taken(vendors[name], where=str(file), known=known, reserved=reserved)
    except ConfigurationError as error:
        fault, own, vendors = error, {}, presets
    every |= own
    return Gateways(
        vendors=tuple(each for _name, each in sorted(vendors.items())),
        own=tuple(vendors[name] for name in sorted(own)),
        status_pages={name: each.status_page for name, each in every.items() if each.status_page},
        fault=fault,
    )


def _own_files(folder: str) -> list[Path]:
    """Return the files of the company's folder.

    Raises:
        ConfigurationError: the folder cannot be read, or has no description.
    """
    if not folder:
        return []
    try:
        files = sorted(each for each in Path(folder).iterdir() if each.suffix == ".toml")
    except OSError as error:
        raise ConfigurationError(FOLDER, f"name a readable folder: {error}") from error
    if not files:
        raise ConfigurationError(FOLDER, "the folder has no file *.toml: add one, or unset it")
    return files


def vendor_of(name: str, described: Description) -> Vendor[Any]:
    """Return the vendor of a description."""

    def build(config: DataclassInstance, /, *, transport: Transport) -> Gateway:
        values = dataclasses.asdict(config)
        settings = {key: values[_field(key)] for key in described.settings}
        shared = {key: values[key] for key in ("url", "per_second", "codes")}
        account = GatewayAccount(settings=settings, **shared)
        receipts = _receipts(name, described, values, account)
        return Gateway(name, described, account, receipts=receipts, transport=transport)

    return Vendor(name, _config(name, described), build)


def _receipts(
    name: str, described: Description, values: Mapping[str, str], account: GatewayAccount
) -> GatewayReceipts | None:
    if described.receipts is None:
        return None
    signature = described.receipts.signature
    return GatewayReceipts(
        described.receipts,
        address=f"{values['public_url']}/v1/receipts/{name}",
        secret=values.get("callback_secret", ""),
        signing_key=account.settings[signature.key] if signature else "",
        codes=account.codes,
    )


def _config(name: str, described: Description) -> type[DataclassInstance]:
    """Make the Config of a gateway."""
    in_headers = described.request.places_of_headers
    made: list[tuple[str, Any, Any]] = [
        (_field(key), str, _setting(each, is_in_headers=key in in_headers))
        for key, each in described.settings.items()
    ]
    receipts = described.receipts
    if receipts is not None:
        shared = parse_with(configuration.http_url, setting=configuration.PUBLIC_URL)
        made.append(("public_url", str, field(metadata=shared)))
        if receipts.signature is None:
            said = _said_of_secret(name, described)
            metadata = parse_with(_secret, said=said)
            made.append(("callback_secret", str, field(repr=False, metadata=metadata)))
    pace = parse_with(configuration.positive_number)
    url = parse_with(configuration.http_url)
    table = parse_with(verdicts.overrides)
    made += [
        ("per_second", int, field(default=described.per_second, metadata=pace)),
        ("url", str, _with_default(described.url, metadata=url)),
        ("codes", verdicts.Table, field(default_factory=dict, metadata=table)),
    ]
    return make_dataclass(f"Config_{name}", made, frozen=True, slots=True, kw_only=True)


def _setting(described: Setting, *, is_in_headers: bool) -> Any:  # noqa: ANN401 - `field` claims the type of the value
    metadata = parse_with(_of_header if is_in_headers else str, said=described.help)
    if described.default is None:
        return field(repr=not described.secret, metadata=metadata)
    return field(default=described.default, repr=not described.secret, metadata=metadata)


def _of_header(text: str) -> str:
    """Read a part of a header.

    Raises:
        ValueError: a header cannot contain the text.
    """
    if not text.isascii() or not text.isprintable():
        raise ValueError("write ASCII characters in one line")
    return text


def _with_default(url: str, *, metadata: Mapping[str, object]) -> Any:  # noqa: ANN401 - `field` claims the type of the value
    return field(default=url, metadata=metadata) if url else field(metadata=metadata)


def _said_of_secret(name: str, described: Description) -> str:
    entered = "callback_url" not in described.request.places
    where = f" Enter `{{NOTIFY_PUBLIC_URL}}/v1/receipts/{name}?token=SECRET` at the vendor."
    return "Secret in the address of receipts, at least 16 characters." + where * entered


def _secret(text: str) -> str:
    """Read the secret of an address.

    Raises:
        ValueError: the secret is short.
    """
    if len(text) < _SHORTEST_SECRET:
        raise ValueError(f"write at least {_SHORTEST_SECRET} characters")
    return text


def _field(key: str) -> str:
    """Return the name of a Config field: `from_` for `from`."""
    return f"{key}_" if keyword.iskeyword(key) else key
