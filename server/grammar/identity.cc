#include "grammar/options.h"

// Last: its macros would break other headers.
#include "grammar/library.h"

namespace pgparsed::grammar {

Identity GrammarIdentity() {
  return {.major = PGPARSED_GRAMMAR,
          .library_version = PGPARSED_LIBRARY_VERSION,
          .postgres_version = PG_VERSION,
          .postgres_version_num = PG_VERSION_NUM};
}

}  // namespace pgparsed::grammar
