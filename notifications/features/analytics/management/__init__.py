"""The management command `report`."""
