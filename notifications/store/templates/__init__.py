"""Templates in the database.

versions  drafted, published, rolled back; by whom, and when
sources   stored texts as the rules know them; why a version may not be published
exchange  import from files and export
news      tells every process of a change
shelf     versions for messages, cached in each process
"""
