"""The language of audience expressions.

nodes                 the parts of an expression
parse                 JSON to an expression, with a JSON pointer for each fault
searches              conditions `received` that one search of the notifications answers
attribute_conditions  conditions on attributes
faults                faults of an expression, with their places
canonical             an expression to JSON (wording: to words)
upload_lines          lines of an upload, CSV or NDJSON
"""
