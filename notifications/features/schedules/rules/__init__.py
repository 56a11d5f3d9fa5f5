"""Rules of schedules: the recurrence rule, and the local times at which a notification recurs."""
