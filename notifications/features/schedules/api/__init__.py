"""Operations on schedules, for producers."""
