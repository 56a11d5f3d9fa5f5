"""Template studio: pages of the admin on which people edit templates, and their test sends.

    test_send     sends the text of a draft in test mode, or through the live route to the
                  operator's own address
    test_lists    lists of accounts that get a test together
    translations  files for translators: XLIFF and CSV, out and in (`rules`); the page of the
                  admin and the command of `management` use the module

The core has the versions (`store.templates`), the API `/v1/templates`, and the commands
`import_templates` and `export_templates`.
"""
