"""The objects behind `hx.spaces` and its siblings: thin, one file each."""
