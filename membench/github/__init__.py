"""The GitHub Action: its inputs and outputs, its log, the step summary, and the pull request of new baselines."""
