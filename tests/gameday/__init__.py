"""The game day: promises of docs/guarantees.md, played and told in its table."""
