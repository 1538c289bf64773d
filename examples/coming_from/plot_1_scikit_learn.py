"""
scikit-learn
============

Stub.
"""

print(1)
