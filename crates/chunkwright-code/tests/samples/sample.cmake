# Сборка: how it is made.
cmake_minimum_required(VERSION 3.20)
project(shapes LANGUAGES CXX)

include(GNUInstallDirs)
find_package(Threads REQUIRED)
add_subdirectory(src)

set(SOURCES
  circle.cpp
  # of «квадрат»
  square.cpp
)

#[[ Adds a test
    by its name. ]]
function(add_shape_test name)
  add_executable(${name} ${name}.cpp)
  if(WIN32)
    target_link_libraries(${name} PRIVATE ws2)
  else()
    target_link_libraries(${name} PRIVATE m)
  endif()
  foreach(kind IN LISTS ARGN)
    message(STATUS "${kind}")
  endforeach()
endfunction()

# Sets a flag.
macro(set_flag flag)
  set(${flag} ON)
endmacro()

if(BUILD_TESTING)
  function(only_in_tests)
    add_shape_test(all)
  endfunction()
  enable_testing()
endif()

add_shape_test(circle round)
