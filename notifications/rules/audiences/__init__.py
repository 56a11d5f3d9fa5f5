"""Audiences: the language of audience expressions, and the kinds of attributes.

attributes    kinds of attributes, and the values of a kind
nodes         the parts of an expression
parse         JSON to an expression, with a JSON pointer for each fault
canonical     an expression to JSON, and to words
lists         kinds and states of recipient lists
"""
