"""The porch: what watches, and is worn like a coat."""
