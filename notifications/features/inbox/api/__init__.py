"""Operations on inboxes: pages, changes, counts and marks."""
