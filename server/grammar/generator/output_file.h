// Files that the generator writes.
#pragma once

#include <string>

namespace pgparsed::generator {

// Writes the file whole. Prints what is wrong to stderr and returns false if it cannot.
bool WriteFile(const std::string& path, const std::string& content);

}  // namespace pgparsed::generator
