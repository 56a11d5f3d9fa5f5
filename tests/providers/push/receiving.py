"""Callbacks that no push vendor sends."""

from __future__ import annotations

from providers.contract import ReceiptRequest


def no_receipts() -> ReceiptRequest:
    return ReceiptRequest(url="https://notify.example/v1/receipts/push", headers={}, body=b"{}")
