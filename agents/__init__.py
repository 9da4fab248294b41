"""Players of the games: random, heuristics, learned policies. All play from observation and mask, in batches."""
