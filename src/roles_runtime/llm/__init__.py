"""Talking to a model: messages, requests, the Model contract and its providers."""
