"""Who speaks: the Role contract, the Turn, and the roles we bring."""
