"""What the library costs, beside what a user would write instead."""
