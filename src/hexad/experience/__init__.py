"""The stream path: recording experience, and asking for it again."""
