"""The one answer: clusters of each study, matched across studies, and the verdict that follows."""
