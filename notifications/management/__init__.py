"""The shell's door."""
