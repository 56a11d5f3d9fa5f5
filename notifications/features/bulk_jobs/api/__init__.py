"""Operations of bulk jobs, with their URLs, schemas and examples."""
