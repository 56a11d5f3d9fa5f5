"""Operations on recipient tokens, for producers."""
