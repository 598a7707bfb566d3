"""Opening a store, its schema, and changes of its encryption."""
