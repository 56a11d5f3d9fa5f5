"""Operations of budgets and costs."""
