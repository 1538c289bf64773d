"""Figures of results: the numbers of each figure are computed once and drawn twice.

A figure is one frozen dataclass that holds its numbers, names and axis titles. `Figure.of(result)` computes them,
`figure.draw(ax)` draws them with matplotlib, and `figure.view()` or `figure.chart()` writes them as plotly's traces for
the page. The drawers read nothing but the dataclass.

The three stand in one file, one file for each family of figures, so a new figure needs two source files: its class
here, and the result (its `plot` method) or the report that shows it. `style` holds the colours, markers and dashes of
both drawers; `canvas` what all matplotlib figures share; `charts` what all plotly charts share.
"""
