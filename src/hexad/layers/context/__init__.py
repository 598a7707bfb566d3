"""The router's answer: a context of all layers within a token budget."""
