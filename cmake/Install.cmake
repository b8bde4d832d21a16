# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later

# `cmake --install` and the Debian package. Programs for people lie in bin, those that the engine
# starts in libexec/cuda-agent, what they read in share/cuda-agent. Python with PyTorch is not part
# of it: `cuda-agent doctor` says how to get it.
include(GNUInstallDirs)
set(workers ${CMAKE_INSTALL_LIBEXECDIR}/cuda-agent)

install(TARGETS cuda-agent RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS cuda-agent-runner cuda-agent-profiler cuda-agent-nvrtc cuda-agent-probe
        RUNTIME DESTINATION ${workers})
if(TARGET cuda-agent-checker)
  install(TARGETS cuda-agent-checker cuda-agent-host-checked RUNTIME DESTINATION ${workers}
                                                             LIBRARY DESTINATION ${workers})
endif()
install(TARGETS cuda-agent-host cuda-agent-launches LIBRARY DESTINATION ${workers})
if(TARGET cuda-agent-onednn)
  install(TARGETS cuda-agent-onednn LIBRARY DESTINATION ${workers} RUNTIME DESTINATION ${workers})
endif()
install(
  DIRECTORY ${CMAKE_BINARY_DIR}/share/cuda-agent/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/cuda-agent
  # Where this very build found things is nobody else's business.
  PATTERN "*.path" EXCLUDE)
install(FILES packaging/requirements.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/cuda-agent)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(CUDA_AGENT_WINDOW)
  install(TARGETS cuda-agent-workbench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES packaging/io.github.cuda_agent_workbench.desktop
          DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES packaging/io.github.cuda_agent_workbench.metainfo.xml
          DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
  install(FILES packaging/cuda-agent-session-mime.xml
          DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)
  install(FILES resources/icons/cuda-agent-workbench.svg
          DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cuda-agent-workbench)
set(CPACK_PACKAGE_VENDOR "The CUDA Agent Workbench authors")
set(CPACK_PACKAGE_CONTACT "The CUDA Agent Workbench authors <authors@cuda-agent-workbench.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds verified, faster CUDA kernels for PyTorch modules")
set(CPACK_PACKAGE_DESCRIPTION
    "Hand over a PyTorch module and get back a CUDA kernel that is verified against a
 double-precision oracle and timed against PyTorch eager and torch.compile. Desktop program and
 command line. PyTorch itself comes from PyPI; 'cuda-agent doctor' says how.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "bubblewrap, clang-19 | g++, libopenblas0, python3, ripgrep")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-venv, python3-dev, fonts-dejavu-core, fonts-noto-cjk, qt6-translations-l10n")
include(CPack)
