"""What `remember_raw` infers of a text, by a model or from the text alone."""
