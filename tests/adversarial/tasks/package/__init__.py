"""A task that lives in a package and imports its neighbours relatively."""
