"""E-mail services of django-anymail behind the contract of `providers`.

    adapter   settings, and the Provider
          |--> services   a row of differences for each service
          |--> encoding   a Message as a request of the service      (anymail's backends)
          |--> answers    the service's response as an Outcome       (one table of codes)
          '--> callbacks  the service's callback as Receipts         (anymail's webhook views)

Django: anymail's classes are Django mail backends and views, and read Django's settings. So
`encoding` and `callbacks` need Django, and no other module of `providers` may import Django; a
contract in `pyproject.toml` holds this.

Transport: anymail's `send_messages` sends one message at a time through `requests`, with a timeout
for each read but without a timeout for the whole call, and cannot distinguish "never sent" from
"not answered". So anymail builds the request of a service, reads the recipient's status from the
response, and verifies and reads callbacks. The process's Transport sends the request, with the
deadline, the limits and the distinct outcomes of all other adapters.

Imports: no code of anymail is imported and no setting of Django is read before the first message or
callback, because every process imports the registry, and `notifyproj.environment` imports the
registry while Django builds the settings. So `services` lists the options that a service
needs, and a missing option stops the start. A test compares the rows with anymail's code.

Limit: a release of anymail may change the way in which backends build a payload. The version is
pinned.
"""
