"""`manage.py connect`: check a provider's account, repair the account, and read its lists.

    check of the adapter -> findings of the account -> changes -> suppression list -> rate -> plan

A run may be repeated at any time: a change sets a wanted state, an address enters the suppression
list once, and the rate is stored once. A run that dies halfway leaves a smaller plan. A dry run
asks the vendor and changes nothing, neither at the vendor nor here.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Final

import structlog

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.models import ProviderConnection, ProviderPace
from notifications.core.rules.connect_lines import ConnectLine, LineState
from notifications.core.rules.suppression import Cause, address_fault
from notifications.core.store.postgres import audit, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.configuration import PUBLIC_URL
from providers.connect import registry
from providers.connect.account import (
    CannotConnect,
    Change,
    ConnectableAccount,
    ListedAddress,
    ListedFor,
)
from providers.contract import Finding, Pace, Provider

_log = structlog.get_logger(__name__)
_CHECK: Final = dt.timedelta(seconds=10)
"""Deadline of the adapter's check."""
_OPERATION: Final = "connect_provider"
_CAUSES: Final = {
    ListedFor.BOUNCE: Cause.BOUNCE,
    ListedFor.COMPLAINT: Cause.COMPLAINT,
    ListedFor.OPT_OUT: Cause.STOP_KEYWORD,
}
"""An opt-out at the vendor counts as STOP, so START ends the opt-out here as well."""


class NotConfigured(ValueError):
    """The environment does not configure the provider."""


def run(name: str, *, by: str, is_dry: bool) -> Iterator[ConnectLine]:
    """Connect a provider, and yield each line as soon as the line is known.

    Raises:
        NotConfigured: no setting of the provider is present.
    """
    provider = routing.providers_by_name().get(name)
    if provider is None:
        raise NotConfigured(f"{name} is not configured")
    steps = _Run(provider, by=by, is_dry=is_dry)
    lines = []
    for line in steps.lines():
        lines.append(line)
        yield line
    if not is_dry:
        steps.store(lines)


class _Run:
    """A run for a provider."""

    def __init__(self, provider: Provider, *, by: str, is_dry: bool) -> None:
        self._provider, self._by, self._is_dry = provider, by, is_dry
        self._name = provider.name
        self._before = ProviderConnection.objects.filter(provider=self._name).first()
        self._per_second = self._before.per_second if self._before else None

    def lines(self) -> Iterator[ConnectLine]:
        """Yield the lines; a refusal of the vendor is the last line."""
        checked = list(dict.fromkeys(self._provider.check(deadline=_CHECK)))
        yield from map(_line, checked)
        if any(each.subject == "credentials" and not each.is_good for each in checked):
            return
        public_url = conf.current().public_url
        account = registry.account_of(
            self._name, os.environ, receipts_url=f"{public_url}/v1/receipts/{self._name}"
        )
        if account is None:
            return
        try:
            yield from self._account_lines(account, can_receive=public_url.startswith("https://"))
        except CannotConnect as error:
            yield ConnectLine(subject=error.subject, state=LineState.BAD, detail=error.detail)

    def store(self, lines: Sequence[ConnectLine]) -> None:
        """Store the run for the page of providers."""
        ProviderConnection.objects.update_or_create(
            provider=self._name,
            defaults={
                "run_by": self._by,
                "findings": [asdict(each) for each in lines],
                "per_second": self._per_second,
            },
        )
        bad = sum(each.state is LineState.BAD for each in lines)
        _log.info("provider_connected", provider=self._name, by=self._by, bad=bad)

    def _account_lines(
        self, account: ConnectableAccount, *, can_receive: bool
    ) -> Iterator[ConnectLine]:
        yield from map(_line, account.findings())
        changes = account.plan() if can_receive else []
        yield from map(self._apply, changes)
        yield from self._import(account)
        yield from self._rate(account)
        if not can_receive:
            said = f"{PUBLIC_URL} is no https URL, so no vendor can send receipts"
            yield ConnectLine(subject="receipts", state=LineState.BAD, detail=said)
        elif not changes:
            said = "nothing is to be changed at the vendor"
            yield ConnectLine(subject="account", state=LineState.GOOD, detail=said)
        elif not self._is_dry:
            yield from map(_still_missing, account.plan())

    def _apply(self, change: Change) -> ConnectLine:
        """Write the audit entry before the change, so that a dying process leaves a trace."""
        return self._do(change.subject, change.detail, change.apply)

    def _do(self, subject: str, detail: str, change: Callable[[], None]) -> ConnectLine:
        self._record(subject, detail)
        if not self._is_dry:
            change()
        return self._change_line(subject, detail)

    def _change_line(self, subject: str, detail: str) -> ConnectLine:
        state = LineState.PENDING if self._is_dry else LineState.CHANGED
        return ConnectLine(subject=subject, state=state, detail=detail)

    def _record(self, subject: str, detail: str) -> None:
        if self._is_dry:
            return
        audit.record_about(
            self._by,
            _OPERATION,
            object_type="provider",
            name=self._name,
            after={"subject": subject, "change": detail},
        )

    def _import(self, account: ConnectableAccount) -> Iterator[ConnectLine]:
        """Import the vendor's list page by page, each page in a transaction of its own.

        The audit entry comes before the first page with a new address.
        """
        total = added = 0
        for page in account.suppression_pages():
            entries = [_entry(each) for each in page]
            fit = [each for each in entries if not address_fault(each.channel, each.address)]
            total += len(fit)
            new = suppressions.count_new(fit) if fit else 0
            if new and not added:
                self._record("suppressions", "import the vendor's suppression list")
            if new and not self._is_dry:
                new = suppressions.add(fit, by=self._by, provider=self._name, are_opt_outs=False)
            added += new
        if not total:
            return
        if not added:
            said = f"{total} addresses at the vendor, all of them known"
            yield ConnectLine(subject="suppressions", state=LineState.GOOD, detail=said)
            return
        said = f"{added} of the vendor's {total} addresses are new"
        yield self._change_line("suppressions", said)

    def _rate(self, account: ConnectableAccount) -> Iterator[ConnectLine]:
        """Store the granted rate, unless the rate is in force or an operator set another rate."""
        granted = account.rate()
        if granted is None:
            return
        stored = ProviderPace.objects.filter(provider=self._name).first()
        adapter = self._provider.capabilities.pace
        in_force = stored.per_second if stored else adapter.per_second if adapter else None
        said = f"{granted.per_second:g} a second"
        if in_force == granted.per_second:
            yield ConnectLine(
                subject="rate", state=LineState.GOOD, detail=f"{said}, which is in force"
            )
        elif stored is None or stored.per_second == self._per_second:
            yield self._do("rate", f"limit the rate to {said}", lambda: self._set_pace(granted))
        else:
            is_good = stored.per_second <= granted.per_second
            limit = f"an operator's limit is {stored.per_second:g}, the account's {said}"
            yield _line(Finding(subject="rate", is_good=is_good, detail=limit))

    def _set_pace(self, pace: Pace) -> None:
        """Store rate and origin in one write: a dead run then leaves no operator's rate."""
        chosen = ProviderPace.objects.filter(provider=self._name)
        with audit.changes(self._by, _OPERATION, chosen):
            ProviderPace.objects.update_or_create(
                provider=self._name,
                defaults={"burst": pace.burst, "per_second": pace.per_second},
            )
            rows = ProviderConnection.objects
            rows.get_or_create(provider=self._name, defaults={"run_by": self._by})
            rows.filter(provider=self._name).update(per_second=pace.per_second)
        self._per_second = pace.per_second


def _line(finding: Finding) -> ConnectLine:
    state = LineState.GOOD if finding.is_good else LineState.BAD
    return ConnectLine(subject=finding.subject, state=state, detail=finding.detail)


def _still_missing(change: Change) -> ConnectLine:
    said = f"still missing after the change: {change.detail}"
    return ConnectLine(subject=change.subject, state=LineState.BAD, detail=said)


def _entry(listed: ListedAddress) -> SuppressionEntry:
    return SuppressionEntry(
        channel=listed.channel,
        address=listed.address,
        cause=_CAUSES[listed.listed_for],
        note="from the list of the vendor",
    )
