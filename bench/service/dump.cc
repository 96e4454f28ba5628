#include "bench/service/dump.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"

namespace pgparsed::bench {
namespace {

// Of each table.
constexpr int kSingleRows = 3'000;  // an INSERT each
constexpr int kInserts = 40;        // of kRowsPerInsert rows
constexpr int kRowsPerInsert = 50;
constexpr int kCopyRows = 1'000;

class Dump {
 public:
  Dump(uint64_t bytes, const DumpPart& part) : wanted_(bytes), part_(part) {}

  void Generate() {
    Other("--\n-- PostgreSQL database dump\n--\n\n\\restrict 4pGkxtqPjXw0\n\n");
    for (const char* setting : {"statement_timeout = 0", "client_encoding = 'UTF8'",
                                "standard_conforming_strings = on", "row_security = off"}) {
      Statement(absl::StrCat("SET ", setting));
    }
    for (int table = 0; made_ < wanted_; ++table) Table(table);
    Other("\n\\unrestrict 4pGkxtqPjXw0\n\n--\n-- PostgreSQL database dump complete\n--\n");
  }

 private:
  void Table(int number) {
    const std::string name = absl::StrCat("public.order_", number);
    Other(absl::Substitute("\n--\n-- Name: order_$0; Type: TABLE; Schema: public\n--\n\n", number));
    Statement(absl::Substitute(
        "CREATE TABLE $0 (\n    id bigint NOT NULL,\n    customer_id integer NOT NULL,\n"
        "    state character varying(16) DEFAULT 'new'::character varying NOT NULL,\n"
        "    total numeric(12,2),\n    note text,\n"
        "    created_at timestamp with time zone DEFAULT now() NOT NULL,\n"
        "    CONSTRAINT order_$1_total_check CHECK ((total >= (0)::numeric))\n)",
        name, number));
    Statement(absl::Substitute("ALTER TABLE $0 OWNER TO app", name));
    Statement(
        absl::Substitute("CREATE SEQUENCE $0_id_seq\n    START WITH 1\n    INCREMENT BY 1\n"
                         "    NO MINVALUE\n    NO MAXVALUE\n    CACHE 1",
                         name));
    Statement(absl::Substitute("ALTER SEQUENCE $0_id_seq OWNED BY $0.id", name));
    Statement(absl::Substitute(
        "CREATE FUNCTION public.touch_$0() RETURNS trigger\n    LANGUAGE plpgsql\n    AS $$$$\n"
        "BEGIN\n  IF NEW.total IS NULL THEN\n    RAISE EXCEPTION 'no total; order %', NEW.id;\n"
        "  END IF;\n  NEW.created_at := now();\n  RETURN NEW;\nEND;\n$$$$",
        number));
    for (int row = 0; row < kSingleRows; ++row) {
      Statement(absl::StrCat("INSERT INTO ", name, " VALUES ", Row()));
    }
    for (int insert = 0; insert < kInserts; ++insert) {
      std::string text = absl::StrCat("INSERT INTO ", name, " VALUES\n\t", Row());
      for (int row = 1; row < kRowsPerInsert; ++row) absl::StrAppend(&text, ",\n\t", Row());
      Statement(text);
    }
    Statement(absl::Substitute(
        "COPY $0 (id, customer_id, state, total, note, created_at) FROM stdin", name));
    std::string data;
    for (int row = 0; row < kCopyRows; ++row) {
      absl::StrAppend(&data, ++id_, "\t", Random(100'000), "\tpaid\t", Random(10'000), ".",
                      10 + Random(90), "\tsent by post; see #", Random(1'000),
                      "\t2024-05-17 09:30:00+02\n");
    }
    Other(data);
    Other("\\.\n\n");
    Statement(absl::Substitute(
        "ALTER TABLE ONLY $0\n    ADD CONSTRAINT order_$1_pkey PRIMARY KEY (id)", name, number));
    Statement(
        absl::Substitute("CREATE INDEX order_$1_state ON $0 USING btree (state, created_at) "
                         "WHERE (state <> 'done')",
                         name, number));
    Statement(
        absl::Substitute("CREATE TRIGGER touch BEFORE UPDATE ON $0 FOR EACH ROW EXECUTE "
                         "FUNCTION public.touch_$1()",
                         name, number));
    Statement(absl::Substitute("COMMENT ON TABLE $0 IS 'orders of tenant $1; don''t edit'", name,
                               number));
  }

  std::string Row() {
    return absl::StrCat("(", ++id_, ", ", Random(100'000), ", 'paid', ", Random(10'000), ".",
                        10 + Random(90), ", 'parcel ", Random(1'000'000),
                        "; left at the neighbour''s', '2024-05-17 09:30:00+02')");
  }

  uint32_t Random(uint32_t below) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33) % below;
  }

  void Statement(std::string_view text) {
    made_ += text.size() + 2;
    part_(text, true);
    part_(";\n", false);
  }

  void Other(std::string_view text) {
    made_ += text.size();
    part_(text, false);
  }

  const uint64_t wanted_;
  const DumpPart& part_;
  uint64_t made_ = 0;
  uint64_t id_ = 0;
  uint64_t state_ = 1;
};

}  // namespace

void GenerateDump(uint64_t bytes, const DumpPart& part) { Dump(bytes, part).Generate(); }

}  // namespace pgparsed::bench
