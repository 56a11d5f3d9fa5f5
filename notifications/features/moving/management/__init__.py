"""The commands of moving."""
