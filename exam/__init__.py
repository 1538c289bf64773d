"""How often the words are right: "separated", "structured", "one piece", and each cluster present or absent."""
