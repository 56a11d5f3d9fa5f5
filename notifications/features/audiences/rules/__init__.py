"""The language of audience expressions.

nodes                 the parts of an expression; conditions `received` that one search answers
parse                 JSON to an expression, with a JSON pointer for each fault
attribute_conditions  conditions on attributes
faults                faults of an expression, with their places
canonical             an expression to JSON (wording: to words)
upload_lines          lines of an upload, CSV or NDJSON
"""
