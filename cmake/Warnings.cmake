# Warnings for the project's own code. Generated and imported code does not link this.
add_library(pgparsed_warnings INTERFACE)
target_compile_options(pgparsed_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wcast-align -Wformat=2 -Wno-missing-field-initializers
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi>
  $<$<BOOL:${PGPARSED_WERROR}>:-Werror>)
