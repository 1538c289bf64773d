"""What several tests of this folder compute by hand."""

from __future__ import annotations


def nearest_labels(points, training_points, labels):
    nearest = []
    for point in points:
        distances = [sum((a - b) ** 2 for a, b in zip(point, other, strict=True)) for other in training_points]
        nearest.append(labels[distances.index(min(distances))])
    return nearest
