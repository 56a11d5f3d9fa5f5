"""Audiences: the language of audience expressions, and the kinds of attributes.

attributes            kinds of attributes, and the values of a kind
nodes                 the parts of an expression
parse                 JSON to an expression, with a JSON pointer for each fault
searches              conditions `received` that one search of the notifications answers
attribute_conditions  conditions on attributes
faults                faults of an expression, with their places
canonical             an expression to JSON (wording: to words)
lists                 kinds and states of recipient lists
upload_lines          lines of an upload, CSV or NDJSON
"""
