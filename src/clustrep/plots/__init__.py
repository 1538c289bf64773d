"""What all figures share: canvas and style for matplotlib, coordinates of samples.

A figure is drawn by a function beside its result. `result.plot(ax)` draws it, the page shows the same drawing
(`clustrep.report.figures`), and `clustrep run` writes it to the folder `figures`.
"""
