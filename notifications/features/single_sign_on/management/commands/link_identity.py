"""`manage.py link_identity`: let a person of the identity provider sign in to a local account.

Single sign-on refuses a person with the e-mail address of a local account, because an identity
provider must not take over accounts. The audit log has an entry `refuse_sign_in` with the subject.
The owner of both accounts links the accounts with the command.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from notifications.core.models import ExternalIdentity
from notifications.core.store.postgres import audit


class Command(BaseCommand):
    """Creates the link, or says which account has the identity."""

    help = "Let a person of the identity provider sign in to a local account."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Read account, issuer and subject."""
        parser.add_argument("username", help="User name of the local account.")
        parser.add_argument("subject", help="Claim `sub` of the person, as the audit log has it.")
        parser.add_argument("--issuer", required=True, help="As NOTIFY_OIDC_ISSUER.")

    def handle(self, *_args: object, **given: Any) -> None:  # noqa: ANN401 - Django's signature
        """Link the identity.

        Raises:
            CommandError: the account does not exist, or another account has the identity.
        """
        user = User.objects.filter(username=given["username"]).first()
        if user is None:
            raise CommandError(f"There is no account {given['username']}.")
        issuer = str(given["issuer"]).rstrip("/")
        with audit.changes("manage.py", "link_identity") as made:
            identity, is_new = ExternalIdentity.objects.get_or_create(
                issuer=issuer, subject=given["subject"], defaults={"user": user}
            )
            if is_new:
                made.append(identity)
        if identity.user_id != user.pk:
            raise CommandError(f"The identity belongs to the account {identity.user}.")
        self.stdout.write(f"{user} may sign in by {issuer}.")
