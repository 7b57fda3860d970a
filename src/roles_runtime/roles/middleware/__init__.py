"""Middleware that a team may put round its turns."""
