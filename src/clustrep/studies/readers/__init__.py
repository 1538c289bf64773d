"""Files in the formats that people have."""
