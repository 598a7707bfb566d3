"""What an assistant's hooks call: short programs that help where they can and never stand in the way."""
