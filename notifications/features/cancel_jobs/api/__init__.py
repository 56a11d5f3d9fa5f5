"""Operations on cancel jobs, for producers."""
