"""The one answer: clusters of each study, matched across studies, and the verdict that follows."""

# Results hold findings, and findings are a result: whichever is imported first, results begin.
import clustrep.results  # noqa: F401
