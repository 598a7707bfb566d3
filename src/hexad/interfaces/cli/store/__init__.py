"""The commands about the store itself, its sources and its encryption."""
