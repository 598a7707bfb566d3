"""What memories are worth: an audit of their flaws."""
