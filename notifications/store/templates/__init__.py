"""Templates in the database: the life of their versions, files in and out, news to all processes.

    versions  drafted, published, rolled back; who did it, and when
    sources   stored texts as the rules know them; why a version may not be published
    exchange  taken in from files and given out
    news      who changes one tells every process at once
    shelf     versions as messages are made of them, kept in each process

What a version says is a matter of `rules.templates`.
"""
