"""What calls to models may cost and have cost."""
