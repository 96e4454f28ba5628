// Types in PL/pgSQL functions. There is no catalog: libpg_query guesses what a type is, and where
// its guess makes the compiler refuse a good function, plpgsql_types.cc guesses better. It does so
// by standing between the library's object files (the linker's --wrap, see CMakeLists.txt):
//
//  - a type of another schema is a row, as an unknown one of the search path is (18)
//  - an array of rows, and of what %TYPE and %ROWTYPE name, is a scalar like every array (18)
//  - VARIADIC takes every array (18)
//  - refcursor makes a cursor, however it is written (15 and 17)
//  - nothing but text is text: not what it begins with (17)
//  - a variable of unknown type whose fields are assigned is a row, when the function does not
//    compile otherwise
//
// And it keeps "#option dump" from printing the function to the process's output (18).
//
// For sources of this folder.
#pragma once

#include "grammar/plpgsql_library.h"

namespace pgparsed::grammar {

// A variable, by its name and the line of its declaration. Lives in the library's memory.
struct RowVariable {
  const char* name;
  int line;
  RowVariable* next;
};

// What variables of unknown type are, for the compilations of a thread during its life.
class RowVariables {
 public:
  RowVariables();
  ~RowVariables();
  RowVariables(const RowVariables&) = delete;
  RowVariables& operator=(const RowVariables&) = delete;

  // From now on the variables whose fields the last compilation met are rows. Whether there are
  // any that were none before. Compilations after the first call do not stop at a new one, so that
  // few of them find all; their result is void if this returns true.
  bool Learn();

  // For the functions between the library's. NoteFieldOf: whether the item is a row now.
  bool NoteFieldOf(PLpgSQL_nsitem* item);
  void Decide(const char* name, int line, PLpgSQL_type* type) const;

 private:
  static bool Contains(const RowVariable* list, const char* name, int line);

  bool go_on_ = false;
  RowVariable* met_ = nullptr;
  RowVariable* rows_ = nullptr;
};

}  // namespace pgparsed::grammar
