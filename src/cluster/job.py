"""The job of `dwindle cluster`."""
