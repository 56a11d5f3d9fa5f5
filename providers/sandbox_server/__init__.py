r"""The sandbox: a provider of our own, in a process of its own, for every channel.

    python -m providers.sandbox_server --port 8025 --journal var/sandbox.jsonl \
        --receipts-url http://127.0.0.1:8000/v1/receipts/sandbox

    POST /v1/messages --> wire --> app --> steering   what the address asks for
                                    |----> ledger     what came, in memory and in the journal
                                    '----> receipts   what we tell afterwards, signed

| request | answer |
| --- | --- |
| POST /v1/messages | as the address chooses; 202 and `message_id` without a wish |
| GET / | every message as the phone or mailbox shows it; `?channel=sms` |
| GET /messages.json | `?delivery_id= &notification_id= &address= &channel= &since= &limit=` |
| GET /stats.json | totals since the last DELETE |
| DELETE /messages | forget all |
| POST /steer | `{"words": "503x2", "channels": ["email"]}`: for every address; `{}` ends it |
| POST /reply | the page's form, `address= &text=`: that number answers us |
| GET /healthz | 200 |

It promises that a message whose acceptance was answered is still known after the process is
killed, when a journal was asked for. It is a tool for demonstrations and tests: it has no
accounts, and listens on the loopback interface unless told otherwise.
"""
