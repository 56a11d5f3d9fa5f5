"""Webhooks as a channel: a person's or a company's own endpoint as the address."""
