"""The accuracy benchmark: how often the verdict, the number of clusters and every status are right."""
