"""The action in its container, played as GitHub's runner plays it. Run by `make test-container`."""
