"""The doors: configuration, assembly and the command line."""
