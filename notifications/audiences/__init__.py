"""Audiences: attributes, topics, uploads, and their combinations."""
