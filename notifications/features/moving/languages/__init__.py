"""Template languages of vendors, converted to the language of templates here.

    double_parentheses    GOV.UK Notify: ((name)), ((name??text)); the formatting of its e-mails
    handlebars            Novu: {{ name }}, {{#if}}, {{#each}}
    liquid                Novu and Knock: {{ name | upcase }}, {% if %}, {% for %}
    go_templates          listmonk: {{ .Tx.Data.name }}, {{ if }}
    converted             the result of a conversion, and the parts that cannot be converted

A conversion is exact or refused. Each converted text passes the check of templates. A difference
remains on purpose: a missing variable is an empty text in most of these languages, and here the
request is refused.
"""
