"""Values: frozen, typed, without input or output."""
