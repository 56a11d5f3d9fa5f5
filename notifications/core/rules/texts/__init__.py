"""Texts for channels: compiled from a template once, adapted in each message.

              +-  mail_html, mail_text                  frame, inlined CSS; plain text from the HTML
              |   mail_blocks                           an e-mail in blocks, compiled to HTML
    wording  -+-  short_links, sms_segments             fewer and cheaper characters

`mail_block_tree` reads the directives of a mail in blocks, and `mail_block_markup` writes its HTML.
`mail_markup` limits the HTML of a mail, and `mail_styles` the work of its style sheets, of which
`mail_sheets` keeps some rules.
`mail_warnings` warns authors by rules of spam filters and mail programs.
`in_app_text` has the link, image and actions of an in-app message. `sms_segments` counts the
segments of an SMS, `brand_uses` checks the uses of the brand, and `mail_tracking` adds a pixel and
tracked links to a rendered mail. `push_size` cuts the text of a push, and `vendor_template` has the
template that a vendor sends in place of a chat text. `variants` completes the further wordings of
a text for an A/B test. Other packages import `wording`, `variants`, `short_links`, `mail_tracking`
and `vendor_template` only.
"""
