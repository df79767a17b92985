"""The experiments: data sets, networks, training, methods, and how runs are made and kept."""
