"""The version of the package. It is the version of the program (`project(...)` in CMakeLists.txt); house.version compares them."""

__version__ = "0.1.0"
