"""A text as its channel takes it: compiled from its template once, fitted in each message.

              +-  mail_html, mail_text                  framed, inlined; a text part from the HTML
    wording  -+-  short_links, sms_transliteration      fewer and cheaper characters
              +-  push_size                             a body that fits

`sms_segments` counts what an SMS costs. Messages use `wording` alone.
"""
