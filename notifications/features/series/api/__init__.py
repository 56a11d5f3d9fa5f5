"""Operations on series, enrolments and custom events, for producers."""
