"""What is known of a person across projects: a database of its own, and what is learned."""
