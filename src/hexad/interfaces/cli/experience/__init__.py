"""The commands about experience: `hexad xdb`, `hexad docs`, `hexad tags`."""
