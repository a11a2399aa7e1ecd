"""Kills Footnote's processes with SIGKILL at random moments, and checks what a restart finds.

python -m benchmarks.crash                      # 40 kills of each of five operations
python -m benchmarks.crash --kills 5 --only edit --seed 7
"""
