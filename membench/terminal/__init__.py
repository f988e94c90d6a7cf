"""What a person sees of a run, as the command and the action share it: streams, progress, tables, the process's end."""
