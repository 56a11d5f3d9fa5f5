"""Template studio: pages of the admin on which people edit templates, and their test sends.

    test_send          sends the text of a draft in test mode
    test_to_operator   sends a text to the operator's own address, through the live route

The core has the versions (`store.templates`), the API `/v1/templates`, and the commands
`import_templates` and `export_templates`.
"""
