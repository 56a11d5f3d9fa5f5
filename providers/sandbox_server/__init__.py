r"""The sandbox: a local provider, in a separate process, for every channel.

    python -m providers.sandbox_server --port 8025 --journal var/sandbox.jsonl \
        --receipts-url http://127.0.0.1:8000/v1/receipts/sandbox

    POST /v1/messages --> wire --> app --> steering   the outcome that the address chooses
                                    |----> ledger     received calls, in memory and in the journal
                                    '----> receipts   later receipts, signed
    POST /webhooks    --> wire --> app --> webhooks   status webhooks, verified

| request | answer |
| --- | --- |
| POST /v1/messages | as the address chooses; 202 and `message_id` by default |
| GET / | every message as the phone or mailbox shows it; `?channel=sms` |
| GET /messages.json | `?delivery_id= &notification_id= &address= &channel= &since= &limit=` |
| GET /stats.json | totals since the last DELETE |
| DELETE /messages | forget all |
| POST /steer | `{"words": "503x2", "channels": ["email"]}`: for every address; `{}` ends it |
| POST /reply | the page's form, `address= &text=`: an answer from the number |
| GET /healthz | 200 |
| /webhooks, /webhooks.json, /webhooks/secret | the receiver of status webhooks: `webhooks` |

With a journal, an accepted message is still known after the process is killed. The sandbox is a
tool for demonstrations and tests: the sandbox has no accounts, and listens on the loopback
interface by default.
"""
