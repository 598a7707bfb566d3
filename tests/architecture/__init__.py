"""The checkers behind `tests/test_architecture.py`: they read source, they import none of it."""
