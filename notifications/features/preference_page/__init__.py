"""The preference page: all choices of a recipient, on a page of HTML.

    e-mail, unsubscribe page ── /preferences/{token} ──> api.page ──> api.form
                                                            │
                                            feedback.preference_changes

`api.page` has the view, `api.form` the values and changes of the form, `templates` the HTML.

The core has the links (`delivery.preference_links`), which are empty without the feature, the style
and the faults that the unsubscribe page shares (`api.recipient_pages`), and the changes, which the
preferences API shares (`feedback.preference_matrix`, `feedback.preference_changes`).
"""
