"""Audiences: groups of recipients for bulk jobs.

    expressions   check an expression of a request; saved audiences
    uploads       files of user ids to recipient lists
    snapshots     an expression to a recipient list, in pages
    rules/        the language of expressions
    rows/         an expression to SQL; topics, uploads and snapshots

The definitions of attributes belong to recipients, so they are in the core. The tables are there
too, because an erasure and a merge of recipients change the rows also without the feature.
"""
