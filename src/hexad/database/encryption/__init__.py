"""Keys, sealed files and the switch of a store from plain to encrypted."""
