"""Chat services through Apprise, and WhatsApp through Meta's Cloud API.

address (an Apprise URL) -> draft: Apprise parses the URL and writes a request
                         -> guard, transport: the request is sent
                         -> services: outcome of the answer

services      the supported chat services: a row each
codes         the verdicts of their answers, which `answers` reads
markup        the text of a message in each service's payload
limits        the longest message of each service
draft         from a URL and a message to one request
apprise_chat  the adapter

whatsapp           the adapter of Meta's Cloud API, with whatsapp_codes and whatsapp_receipts
whatsapp_number    addresses on WhatsApp, whatsapp_text the texts: shared with Twilio
"""
