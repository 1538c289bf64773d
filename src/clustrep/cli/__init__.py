"""`clustrep …`: the command line. Importing it is quick: each command imports what it needs when it runs.

program               the group of commands
analysis_commands     run, demo, local, valleys: several studies
one_study_commands    stability, test: within each study
file_commands         report, inspect
options               options that commands share, and the values that they take
input_files           options → Studies
config_file           options from a TOML file, and back
output                the folder of results, and its figures
console               the terminal and exit codes, and the library's sentences in terms of options
"""
