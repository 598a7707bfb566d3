"""What a file's text is made of, by its format: sections, definitions, front matter."""
