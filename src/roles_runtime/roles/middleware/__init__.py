"""Middleware: one hook, an onion round the agent turn."""
