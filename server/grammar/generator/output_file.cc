#include "grammar/generator/output_file.h"

#include <fstream>
#include <iostream>

namespace pgparsed::generator {

bool WriteFile(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) std::cerr << "grammar_generator: cannot write " << path << "\n";
  return file.good();
}

}  // namespace pgparsed::generator
