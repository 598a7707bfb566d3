"""Text generators: hosted models, local ones, a caller's own function, a script for tests."""
