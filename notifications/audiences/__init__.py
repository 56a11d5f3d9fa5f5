"""Audiences: groups of recipients for bulk jobs and series.

expressions   check an expression of a request; saved audiences
uploads       files of user ids to recipient lists
snapshots     an expression to a recipient list, in pages
upkeep        deleted topics and lists; lists that expired or stopped loading

The language is in `rules.audiences`, the SQL in `store.audiences`.
"""
