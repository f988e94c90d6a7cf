"""Speed and memory, as ratios and sizes within one run: `make benchmark`."""
