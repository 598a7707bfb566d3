"""The values of the experience database; they know nothing of tables or files."""
