"""What is true of a project: facts, conventions, its stack."""
