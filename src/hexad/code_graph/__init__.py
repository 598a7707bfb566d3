"""How code hangs together: files, symbols and slices, and what imports, calls, references and tests what."""
