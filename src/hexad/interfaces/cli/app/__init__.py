"""The program: its commands, their shared options, messages, completion."""
