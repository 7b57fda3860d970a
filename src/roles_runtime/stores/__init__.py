"""Where the journal rests: the Store contract and its makers."""
