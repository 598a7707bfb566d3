"""What is being worked on: working sets and their changes."""
