"""Records, plots and progress as text for people."""
