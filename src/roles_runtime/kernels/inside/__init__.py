"""Sources that run where the code runs, never in the runtime: it reads these files, it does not import them."""
