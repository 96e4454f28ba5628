// What a splitter has to know of psql's backslash commands. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace pgparsed::splitter {

// How the arguments of a command end.
enum class Arguments : uint8_t {
  kWords,      // at the end of the line, or at a backslash outside quotes
  kWholeLine,  // at the end of the line, whatever it holds
  kPipe,       // as kWholeLine when they begin with |, else as kWords
};

// `name` is the command's name without its backslash; names are case-sensitive.
Arguments ArgumentsOf(std::string_view name);

// The command sends what psql has collected (\g and its kin).
bool SendsStatements(std::string_view name);
// The command drops what psql has collected.
bool DropsStatements(std::string_view name);
// The command, given whole, is a \copy that reads lines of the script. (FROM pstdin reads psql's
// own standard input, which a script is not.)
bool CopiesFromScript(std::string_view command);

}  // namespace pgparsed::splitter
