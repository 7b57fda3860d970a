"""How Posts travel: the envelope and the Transport contract."""
