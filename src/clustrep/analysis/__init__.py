"""The whole road in one call: findings, scores, the null model where it is needed."""
