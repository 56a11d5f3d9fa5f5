"""Chat services through Apprise.

address (an Apprise URL) -> draft: Apprise parses it and writes the request, which never leaves
                         -> guard, transport: we send it
                         -> services: what the service's answer means

services      the chat services that we take: one row each, with their codes
draft         from a URL and a message to one request
apprise_chat  the adapter
"""
