"""One file a vendor; `scripted` and `rules` need nothing installed and no key."""
