"""Algorithm 1: private training of an adapter, one record at a time, round by round."""
