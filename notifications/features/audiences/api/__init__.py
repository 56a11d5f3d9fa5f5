"""Operations of topics, saved audiences, uploads and snapshots, with their URLs and examples."""
