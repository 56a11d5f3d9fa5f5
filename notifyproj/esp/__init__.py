"""Any e-mail service that django-anymail knows, behind the contract of `providers`.

    registry.add(anymail_vendor.VENDOR)              by `environment`, before it reads anything
          |
    anymail_vendor   settings, and the Provider
          |--> services   what differs between the services: one row each
          |--> encoding   a Message as the service's own request     (anymail's backends)
          |--> answers    its answer as an Outcome                   (one table of codes)
          '--> callbacks  its callback as Receipts                   (anymail's webhook views)

Why here: anymail's classes are Django mail backends and views, and read Django's settings. No code
in `providers` may need Django, so this adapter lives with the wiring and is handed to the registry
from outside; the app sees one provider more and knows nothing of it.

Why not anymail's own `send_messages`: it sends through `requests`, one message at a time, with a
timeout for each read but none for the whole, and cannot tell "never sent" from "not answered". So
anymail does what it knows (how each service wants a message, what its answer says of the
recipient, how its callbacks are verified and read), and the process's one Transport does the
sending, with the deadline, the bounds and the certainty that all other adapters have.

Nothing of anymail is imported, and Django's settings are not looked at, before the first message
or callback: every process imports this package, and `environment` does so while Django's settings
are being made. That is why `services` says which options a service needs: a missing one must stop
the start. A test holds its rows to anymail's own code.

What breaks it: a release of anymail that changes how backends build a payload. It is pinned.
"""
