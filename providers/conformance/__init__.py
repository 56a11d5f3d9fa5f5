"""The adapters' contract as checks, over real sockets against a server that misbehaves.

    subject       the adapter, the fake of its vendor, and the fake's behaviour
    checks        the checks, in CHECKS
    http_server   a fake for vendors with an HTTP API
    __main__      the command

Bring a `Subject`: the adapter, configured to talk to a fake of its vendor, and the fake's
controls. Run each check of CHECKS on a fresh Subject; a failed check raises ContractBroken
with the reason.

    @pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
    def test_keeps_the_contract(check, subject):
        check(subject)

Without pytest: `python -m providers.conformance acme_sms:subject`, where `subject` is a context
manager that yields a Subject.
"""

from providers.conformance import checks
from providers.conformance.checks import CHECKS
from providers.conformance.subject import Act, ContractBroken, FakeVendor, Subject

__all__ = [
    "CHECKS",
    "Act",
    "ContractBroken",
    "FakeVendor",
    "Subject",
    "checks",
]
