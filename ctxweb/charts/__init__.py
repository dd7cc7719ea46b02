"""Geometry of the pictures: pure functions from plain numbers to frozen drawings, which templates write as SVG."""
