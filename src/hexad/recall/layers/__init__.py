"""The six layers as the router sees them: each gives its items for a query."""
