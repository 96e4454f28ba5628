// tree_edits_<grammar> STRIDE CORPUS: trees that no parser makes. Every statement of the corpus
// with one edit of its tree (a field dropped, a node of another kind, a list cut or emptied,
// another number, enum value or name) as protobuf and as JSON: the readers refuse it or the
// deparser survives it. The same edit at the same sort of place is tried once, and of those every
// STRIDEth.
//
// A process tries them; when it dies the next one goes on behind the edit that killed it.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grammar/deparse.h"
#include "grammar/node_tables.h"
#include "grammar/parsed_query.h"
#include "grammar/stack_limit.h"
#include "grammar/tree_compare.h"
#include "grammar/tree_reader.h"
#include "grammar/tree_writer.h"
#include "tests/conformance/corpus.h"
#include "worker/region_sink.h"

// Last: its macros would break other headers.
#include "grammar/library.h"

namespace pgparsed::grammar {
namespace {

constexpr size_t kStackBytes = size_t{256} << 20;
constexpr size_t kSorts = size_t{1} << 24;
constexpr unsigned kSecondsForOne = 20;
constexpr size_t kMostSqlBytes = 2000;  // longer ones say nothing new

// What the process that tries and the one that waits for it share.
struct Progress {
  size_t statement;  // that is being edited
  uint64_t edit;     // of the statement, from 1; 0: as it is
  uint64_t sorts;
  uint64_t tried;
  uint64_t refused;  // by the readers
  uint64_t errors;   // by the deparser
  uint64_t printed;
  uint64_t wrongly_refused;
  char what[1024];
  std::array<bool, kSorts> seen;  // by hash
};

char* BaseOf(const FieldRow& field, char* base) {
  char* at = base + field.offset;
  return field.type == CType::kStruct ? at : *reinterpret_cast<char**>(at);
}

template <typename T>
T& At(const FieldRow& field, char* base) {
  return *reinterpret_cast<T*>(base + field.offset);
}

bool IsList(const void* node) { return node != nullptr && nodeTag(node) == T_List; }

std::string KindOf(const void* node) {
  if (node == nullptr) return "null";
  if (!IsList(node)) return std::string(FindMessageByTag(nodeTag(node))->name);
  const auto* list = static_cast<const List*>(node);
  return "List of " + (list->length > 0 ? KindOf(list->elements[0].ptr_value) : "nothing");
}

// One node of each kind, and one List for each kind of first element, out of the corpus; and what
// options are called.
class Donors {
 public:
  void Gather(std::unique_ptr<ParsedQuery> query) {
    const size_t before = nodes_.size();
    Gather(query->statements());
    if (nodes_.size() > before) owners_.push_back(std::move(query));
  }

  const std::map<std::string, void*>& nodes() const { return nodes_; }
  const std::set<std::string>& names() const { return names_; }

 private:
  void Gather(const void* node) {
    if (node == nullptr) return;
    nodes_.emplace(KindOf(node), const_cast<void*>(node));
    if (IsList(node)) {
      const auto* list = static_cast<const List*>(node);
      for (int i = 0; i < list->length; ++i) Gather(list->elements[i].ptr_value);
      return;
    }
    const MessageRow* row = FindMessageByTag(nodeTag(node));
    GatherFields(*row, static_cast<char*>(const_cast<void*>(node)));
  }

  void GatherFields(const MessageRow& row, char* base) {
    for (const FieldRow& field : FieldsOf(row)) {
      if (field.in_union || field.shape == Shape::kIntegerSet) continue;
      if (field.name() == "defname" && At<char*>(field, base) != nullptr) {
        names_.insert(At<char*>(field, base));
      }
      if (field.shape == Shape::kScalar) continue;
      char* at = BaseOf(field, base);
      if (at == nullptr) continue;
      if (field.shape == Shape::kMessage) {
        const MessageRow& message = Messages()[field.reference];
        if (message.tag != 0 && field.type == CType::kPointer) nodes_.emplace(message.name, at);
        GatherFields(message, at);
      } else {
        Gather(at);
      }
    }
  }

  std::map<std::string, void*> nodes_;
  std::set<std::string> names_;
  std::vector<std::unique_ptr<ParsedQuery>> owners_;
};

class Editor {
 public:
  Editor(Progress& progress, const Donors& donors, uint64_t stride)
      : progress_(progress), donors_(donors), stride_(stride) {}

  // Tries the statement's edits behind the first `skip`.
  void Statement(const conformance::CorpusStatement& statement, uint64_t skip) {
    const auto query = ParsedQuery::Parse(statement.sql.c_str(), {});
    if (!query.ok() || !IsList(query.value()->statements())) return;
    skip_ = skip;
    edit_ = 0;
    place_ = statement.file + ":" + std::to_string(statement.line) + ":";
    statements_ = const_cast<void*>(query.value()->statements());
    const auto* list = static_cast<const List*>(statements_);
    if (skip == 0) AsItIs();
    for (int i = 0; i < list->length; ++i) {
      auto* raw = static_cast<RawStmt*>(list->elements[i].ptr_value);
      kind_ = KindOf(raw->stmt);
      EditFields(*FindMessageByTag(T_RawStmt), reinterpret_cast<char*>(raw));
    }
  }

 private:
  void AsItIs() {
    std::snprintf(progress_.what, sizeof(progress_.what), "%s as it is", place_.c_str());
    const uint64_t refused = progress_.refused;
    Deparse();
    if (progress_.refused == refused || PGPARSED_GRAMMAR == 15) return;
    ++progress_.wrongly_refused;
    std::printf("%s: refused\n", progress_.what);
  }

  // The scalars that say what the other fields mean, and which are there.
  static std::string SortOf(const MessageRow& row, char* base) {
    std::string sort;
    for (const FieldRow& field : FieldsOf(row)) {
      if (field.in_union || field.shape == Shape::kIntegerSet) continue;
      switch (field.type) {
        case CType::kEnum:
          sort += std::to_string(At<int32_t>(field, base)) + ",";
          break;
        case CType::kBool:
        case CType::kChar:
          sort += std::to_string(At<char>(field, base)) + ",";
          break;
        case CType::kString:
        case CType::kPointer:
          sort += At<char*>(field, base) != nullptr ? "+" : "-";
          if (field.name() == "defname") sort += At<char*>(field, base);
          break;
        default:
          break;
      }
    }
    return sort;
  }

  void EditFields(const MessageRow& row, char* base) {
    const std::string sort = SortOf(row, base);
    for (const FieldRow& field : FieldsOf(row)) {
      if (field.shape == Shape::kIntegerSet) continue;
      if (field.in_union) {
        const MessageRow& message = Messages()[field.reference];
        if (reinterpret_cast<A_Const*>(base)->isnull || nodeTag(base + field.offset) != message.tag)
          continue;
      }
      path_.push_back(std::string(row.name) + "." + std::string(field.name()));
      sort_ = sort;
      EditField(field, base);
      path_.pop_back();
    }
  }

  void EditField(const FieldRow& field, char* base) {
    switch (field.shape) {
      case Shape::kScalar:
        return EditScalar(field, base);
      case Shape::kMessage:
        if (field.type == CType::kPointer) {
          if (At<void*>(field, base) == nullptr) return;
          Try("dropped", At<void*>(field, base), static_cast<void*>(nullptr));
        }
        return EditFields(Messages()[field.reference], BaseOf(field, base));
      case Shape::kNode:
        return EditNode(At<void*>(field, base));
      default:
        return EditList(At<List*>(field, base));
    }
  }

  void EditNode(void*& node) {
    if (node != nullptr) Try("dropped", node, static_cast<void*>(nullptr));
    const std::string kind = KindOf(node);
    for (const auto& [other, donor] : donors_.nodes()) {
      if (other != kind) Try("is a " + other, node, donor);
    }
    Below(node);
  }

  void Below(void* node) {
    if (node == nullptr) return;
    if (IsList(node)) {
      auto* list = static_cast<List*>(node);
      path_.push_back("List.items");
      EditList(list);
      path_.pop_back();
      return;
    }
    EditFields(*FindMessageByTag(nodeTag(node)), static_cast<char*>(node));
  }

  void EditList(List*& list) {
    if (list == nullptr) {
      // A list where none was.
      for (const auto& [other, donor] : donors_.nodes()) {
        if (IsList(donor)) Try("is a " + other, list, static_cast<List*>(donor));
      }
      return;
    }
    List* const original = list;
    Try("emptied", list, static_cast<List*>(nullptr));
    const int length = original->length;
    if (length > 1) {
      Try("cut to one", original->length, 1);
      Try("cut by one", original->length, length - 1);
    }
    List longer = *original;
    std::vector<ListCell> cells(original->elements, original->elements + length);
    cells.push_back(cells.back());
    longer.elements = cells.data();
    longer.length = length + 1;
    Try("longer", list, &longer);
    for (int i = 0; i < length; ++i) {
      void*& element = original->elements[i].ptr_value;
      const std::string sort = sort_;
      sort_ += "[" + std::to_string(std::min(i, 3)) + "]";
      if (length < 3) sort_ += "/" + std::to_string(length);
      if (element != nullptr) Try("null", element, static_cast<void*>(nullptr));
      const std::string kind = KindOf(element);
      for (const auto& [other, donor] : donors_.nodes()) {
        if (other != kind) Try("is a " + other, element, donor);
      }
      Below(element);
      sort_ = sort;
    }
  }

  void EditScalar(const FieldRow& field, char* base) {
    switch (field.type) {
      case CType::kBool:
        return Try("flipped", At<bool>(field, base), !At<bool>(field, base));
      case CType::kChar:
        for (const char other : {'\0', 'a', 'n', 'x', ' ', '\x7F'}) {
          Try("char", At<char>(field, base), other);
        }
        return;
      case CType::kInt16:
      case CType::kUint16:
        for (const int16_t other : {0, 1, -1}) {
          Try(std::to_string(other), At<int16_t>(field, base), other);
        }
        return;
      case CType::kInt32:
      case CType::kUint32:
        for (const int32_t other : {0, 1, -1, INT32_MIN, INT32_MAX}) {
          Try(std::to_string(other), At<int32_t>(field, base), other);
        }
        return;
      case CType::kEnum:
        for (const EnumValue& value : EnumOf(field).values) {
          if (value.c_value == At<int32_t>(field, base)) continue;
          Try(std::string(value.name), At<int32_t>(field, base), value.c_value);
        }
        return;
      case CType::kString: {
        char*& text = At<char*>(field, base);
        static char a[] = "a";
        static char empty[] = "";
        if (text != nullptr) Try("dropped", text, static_cast<char*>(nullptr));
        Try("a", text, static_cast<char*>(a));
        Try("empty", text, static_cast<char*>(empty));
        if (field.name() == "defname") {
          for (const std::string& name : donors_.names()) {
            Try(name, text, const_cast<char*>(name.c_str()));
          }
        }
        return;
      }
      default:
        return;
    }
  }

  template <typename T>
  void Try(const std::string& edit, T& place, T value) {
    if (place == value) return;
    ++edit_;
    if (edit_ <= skip_ || !IsNewSort(edit) || ++progress_.sorts % stride_ != 0) return;
    progress_.edit = edit_;
    std::string path;
    for (const std::string& step : path_) path += " " + step;
    constexpr size_t kMostPath = 300;
    if (path.size() > kMostPath) path = "…" + path.substr(path.size() - kMostPath);
    std::snprintf(progress_.what, sizeof(progress_.what), "%s%s (%s): %s", place_.c_str(),
                  path.c_str(), sort_.c_str(), edit.c_str());
    const T original = place;
    place = value;
    alarm(kSecondsForOne);
    Deparse();
    place = original;
    ++progress_.tried;
  }

  bool IsNewSort(const std::string& edit) {
    std::string sort = kind_ + ";";
    for (size_t i = path_.size() < 2 ? 0 : path_.size() - 2; i < path_.size(); ++i) {
      sort += path_[i] + ";";
    }
    sort += sort_ + ";" + edit;
    bool& seen = progress_.seen[std::hash<std::string>{}(sort) % kSorts];
    return !std::exchange(seen, true);
  }

  // The tree as protobuf and as JSON, read back and printed.
  void Deparse() {
    const text::PositionIndex bytes("", text::Encoding::kUtf8);
    LibraryScope scope;
    void* from_protobuf = nullptr;
    const auto protobuf = WriteProtobuf(statements_, bytes, region_);
    if (protobuf.ok() && protobuf.value().bytes <= region_.size()) {
      const size_t size = protobuf.value().bytes;
      const auto read = ReadProtobufTree(scope, {region_.data() + region_.size() - size, size});
      if (read.ok()) from_protobuf = read.value();
      Print(scope, read);
    }
    worker::RegionSink sink(region_);
    const auto json = WriteJson(statements_, bytes, sink);
    if (!json.ok() || !sink.fits()) return;
    const auto read = ReadJsonTree(scope, {region_.data(), json.value().bytes});
    if (!read.ok() || (from_protobuf != nullptr && !FirstDifference(from_protobuf, read.value())))
      return;
    Print(scope, read);
  }

  void Print(LibraryScope& scope, const Result<void*>& statements) {
    if (!statements.ok()) {
      ++progress_.refused;
      return;
    }
    std::vector<LibraryText> results;
    const auto printed = PrintStatements(scope, statements.value(), {}, {}, false, results);
    ++(printed.ok() ? progress_.printed : progress_.errors);
    if (PGPARSED_GRAMMAR < 18) return;
    Layout layout;
    layout.pretty = true;
    (void)PrintStatements(scope, statements.value(), layout, {}, false, results);
  }

  Progress& progress_;
  const Donors& donors_;
  const uint64_t stride_;
  uint64_t skip_ = 0;
  uint64_t edit_ = 0;
  void* statements_ = nullptr;
  std::string place_;  // in the corpus
  std::string kind_;   // of the statement
  std::string sort_;   // of the struct that is edited
  std::vector<std::string> path_;
  std::vector<char> region_ = std::vector<char>(size_t{16} << 20);
};

struct Work {
  const std::vector<conformance::CorpusStatement>& statements;
  const Donors& donors;
  Progress& progress;
  uint64_t stride;
};

void* TryAll(void* argument) {
  const auto& work = *static_cast<Work*>(argument);
  // The library recurses.
  pgparsed_set_stack_limit(static_cast<char*>(__builtin_frame_address(0)) - kStackBytes / 4 * 3);
  Editor editor(work.progress, work.donors, work.stride);
  for (size_t& i = work.progress.statement; i < work.statements.size(); ++i) {
    editor.Statement(work.statements[i], work.progress.edit);
    work.progress.edit = 0;
  }
  std::fflush(stdout);
  _exit(0);
}

void TryOnLargeStack(Work& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, TryAll, &work) != 0) std::abort();
  pthread_join(thread, nullptr);
}

int Run(uint64_t stride, const std::string& corpus) {
  auto loaded = conformance::LoadCorpus(corpus);
  if (!loaded.ok() || loaded->empty()) {
    std::printf("no statements in %s\n", corpus.c_str());
    return 1;
  }
  std::erase_if(*loaded, [](const auto& statement) {
    return !conformance::IsQueryText(statement.sql) || statement.sql.size() > kMostSqlBytes;
  });
  Donors donors;
  for (const auto& statement : *loaded) {
    auto query = ParsedQuery::Parse(statement.sql.c_str(), {});
    if (query.ok()) donors.Gather(std::move(query.value()));
  }
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (shared == MAP_FAILED) return 1;
  auto& progress = *static_cast<Progress*>(shared);
  Work work{*loaded, donors, progress, stride};
  uint64_t deaths = 0;
  for (;;) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      TryOnLargeStack(work);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    ++deaths;
    std::printf("%s: %s %d\n", progress.what, WIFSIGNALED(status) ? "signal" : "exit",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  std::printf(
      "%lu edits: %lu deaths; read %lu times refused, %lu times printed, %lu errors; "
      "%lu trees of the parser refused\n",
      progress.tried, deaths, progress.refused, progress.printed, progress.errors,
      progress.wrongly_refused);
  return deaths == 0 && progress.wrongly_refused == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pgparsed::grammar

int main(int argc, char** argv) {
  const uint64_t stride = argc == 3 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (stride == 0) {
    std::printf("usage: %s STRIDE CORPUS\n", argv[0]);
    return 2;
  }
  return pgparsed::grammar::Run(stride, argv[2]);
}
