"""Templates in the database.

versions          draft, publish and roll back, with author and time
files             attachments of versions
rows              conversion of stored texts for the rules; objections to publishing
import_export     import from files, export to files
invalidation      announces a change to every process
template_cache    template versions for rendering, cached in each process
"""
