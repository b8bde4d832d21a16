# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later

# cmake -DFILES=a|b/c -DFROM=folder -DTO=folder -P copy.cmake: TO holds exactly those files after it.
string(REPLACE "|" ";" files "${FILES}")
file(REMOVE_RECURSE ${TO})
foreach(file IN LISTS files)
  get_filename_component(folder ${file} DIRECTORY)
  file(COPY ${FROM}/${file} DESTINATION ${TO}/${folder})
endforeach()
