// Every unary method of a running server, for every grammar that the build has.

#include <string>

#include <gtest/gtest.h>

#include "pgparsed/errors.h"
#include "test_server.h"

namespace pgparsed {
namespace {

class ServerOperations : public test::SharedServer {
 protected:
  template <typename Request>
  static Request Query(std::string sql, uint32_t grammar) {
    Request request;
    request.set_query(std::move(sql));
    request.set_grammar(grammar);
    return request;
  }
};

TEST_F(ServerOperations, ParseGivesJsonByDefaultAndSaysWhoAnswered) {
  for (const uint32_t grammar : grammars_) {
    const auto answer = client().Parse(Query<v1::ParseRequest>("SELECT 1", grammar));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->grammar(), grammar);
    EXPECT_EQ(answer->postgres_version_num() / 10000, grammar);
    EXPECT_NE(answer->json().find("\"SelectStmt\""), std::string::npos);
    EXPECT_FALSE(answer->has_timing());
  }
}

TEST_F(ServerOperations, ParseGivesProtobufWithTheGrammarsVersion) {
  for (const uint32_t grammar : grammars_) {
    auto request = Query<v1::ParseRequest>("SELECT 1", grammar);
    request.set_format(v1::TREE_FORMAT_PROTOBUF);
    const auto answer = client().Parse(request);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_EQ(answer->tree_case(), v1::ParseResponse::kProtobuf);
    ASSERT_FALSE(answer->protobuf().empty());
    EXPECT_EQ(answer->protobuf()[0], '\x08');  // ParseResult.version
  }
}

TEST_F(ServerOperations, TimingIsGivenWhenAskedFor) {
  auto request = Query<v1::ParseRequest>("SELECT 1", 0);
  request.set_want_timing(true);
  const auto answer = client().Parse(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_GT(answer->timing().parse_ns(), 0u);
  EXPECT_GT(answer->timing().convert_ns(), 0u);
  EXPECT_GE(answer->timing().total_ns(), answer->timing().parse_ns());
  EXPECT_GT(answer->timing().bytes_produced(), answer->json().size());
}

TEST_F(ServerOperations, SyntaxErrorsCarryPositionLineAndColumnInTheAskedEncoding) {
  for (const uint32_t grammar : grammars_) {
    for (const auto& [encoding, position] :
         {std::pair{v1::POSITION_ENCODING_UTF8, 24u}, std::pair{v1::POSITION_ENCODING_UTF16, 20u},
          std::pair{v1::POSITION_ENCODING_UTF32, 20u}}) {
      auto request = Query<v1::ParseRequest>("SELECT 'éééé'\n FROM @", grammar);
      request.set_position_encoding(encoding);
      const absl::Status status = client().Parse(request).status();
      EXPECT_EQ(ReasonOf(status), Reason::kSqlSyntaxError);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      const auto error = SqlErrorOf(status);
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->message, "syntax error at or near \"@\"");
      EXPECT_EQ(error->position, position);
      EXPECT_EQ(error->line, 2u);
      EXPECT_EQ(error->column, 7u);
      EXPECT_EQ(error->source_function, "scanner_yyerror");
    }
  }
}

TEST_F(ServerOperations, FingerprintsOfAllSpellingsAreOne) {
  for (const uint32_t grammar : grammars_) {
    for (const char* sql : {"SELECT * FROM t WHERE id = $1", "SELECT * FROM t WHERE id IN (1, 2)",
                            "select *  from t where id=5"}) {
      const auto answer = client().Fingerprint(Query<v1::FingerprintRequest>(sql, grammar));
      ASSERT_TRUE(answer.ok()) << answer.status();
      EXPECT_EQ(answer->hex(), "0a42922fab0bd73f") << sql;
      EXPECT_EQ(answer->fingerprint(), 0x0a42922fab0bd73fu);
    }
  }
}

TEST_F(ServerOperations, FingerprintOptionsWorkWhereTheGrammarHasThem) {
  for (const uint32_t grammar : grammars_) {
    const auto fingerprint = [&](const char* sql) {
      auto request = Query<v1::FingerprintRequest>(sql, grammar);
      request.mutable_options()->set_rangevar_include_schema(true);
      return client().Fingerprint(request);
    };
    const auto a = fingerprint("SELECT * FROM a.t");
    if (grammar < 18) {
      EXPECT_EQ(ReasonOf(a.status()), Reason::kUnsupportedOption);
      continue;
    }
    const auto b = fingerprint("SELECT * FROM b.t");
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_NE(a->fingerprint(), b->fingerprint());
  }
}

TEST_F(ServerOperations, NormalizeReplacesConstants) {
  for (const uint32_t grammar : grammars_) {
    const auto answer =
        client().Normalize(Query<v1::NormalizeRequest>("SELECT 'x', 1 WHERE a = 2", grammar));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->query(), "SELECT $1, $2 WHERE a = $3");
  }
}

TEST_F(ServerOperations, NormalizeUtilityOnlyLeavesSelectAlone) {
  for (const uint32_t grammar : grammars_) {
    auto request = Query<v1::NormalizeRequest>("SELECT 'x'", grammar);
    request.set_utility_only(true);
    const auto answer = client().Normalize(request);
    if (grammar < 17) {
      EXPECT_EQ(ReasonOf(answer.status()), Reason::kUnsupportedOption);
      continue;
    }
    ASSERT_TRUE(answer.ok()) << grammar << answer.status();
    EXPECT_EQ(answer->query(), "SELECT 'x'");
  }
}

TEST_F(ServerOperations, ScanGivesColumnsOfOneLengthWithNames) {
  for (const uint32_t grammar : grammars_) {
    const auto answer = client().Scan(Query<v1::ScanRequest>("SELECT 'ı', ü -- c", grammar));
    ASSERT_TRUE(answer.ok()) << answer.status();
    const v1::TokenColumns& tokens = answer->tokens();
    std::vector<std::string> names;
    for (const uint32_t name : tokens.name()) names.push_back(tokens.names(static_cast<int>(name)));
    EXPECT_EQ(names,
              (std::vector<std::string>{"SELECT", "SCONST", "ASCII_44", "IDENT", "SQL_COMMENT"}));
    EXPECT_EQ(std::vector<uint32_t>(tokens.start().begin(), tokens.start().end()),
              (std::vector<uint32_t>{0, 7, 11, 13, 16}));
    EXPECT_EQ(std::vector<uint32_t>(tokens.end().begin(), tokens.end().end()),
              (std::vector<uint32_t>{6, 11, 12, 15, 20}));
    EXPECT_EQ(tokens.keyword_kind(0), v1::KEYWORD_KIND_RESERVED);
    EXPECT_EQ(tokens.keyword_kind_size(), 5);
    EXPECT_EQ(tokens.token_size(), 5);
  }
}

TEST_F(ServerOperations, SplitFindsTheStatementsByParserAndByScanner) {
  for (const uint32_t grammar : grammars_) {
    for (const v1::SplitMethod method : {v1::SPLIT_METHOD_PARSER, v1::SPLIT_METHOD_SCANNER}) {
      auto request = Query<v1::SplitRequest>("SELECT 1;\nSELECT 22", grammar);
      request.set_method(method);
      const auto answer = client().Split(request);
      ASSERT_TRUE(answer.ok()) << answer.status();
      // Up to 17 a statement begins right behind the semicolon before it, with white space and
      // comments; from 18 on the parser leaves those out.
      const bool trimmed = grammar >= 18 && method == v1::SPLIT_METHOD_PARSER;
      ASSERT_EQ(answer->pieces().start_size(), 2);
      EXPECT_EQ(answer->pieces().start(1), trimmed ? 10u : 9u) << grammar << " " << method;
      EXPECT_EQ(answer->pieces().length(1), trimmed ? 9u : 10u);
      EXPECT_EQ(answer->pieces().line(1), trimmed ? 2u : 1u);
    }
  }
}

TEST_F(ServerOperations, SplitByParserRefusesWhatTheScannerTakes) {
  for (const uint32_t grammar : grammars_) {
    auto request = Query<v1::SplitRequest>("SELECT 1; SELEC 2", grammar);
    request.set_method(v1::SPLIT_METHOD_PARSER);
    EXPECT_EQ(ReasonOf(client().Split(request).status()), Reason::kSqlSyntaxError);
    request.set_method(v1::SPLIT_METHOD_SCANNER);
    EXPECT_TRUE(client().Split(request).ok());
  }
}

TEST_F(ServerOperations, DeparseMakesSqlOfATree) {
  for (const uint32_t grammar : grammars_) {
    auto parse = Query<v1::ParseRequest>("select  a from t;insert into u values (1)", grammar);
    parse.set_format(v1::TREE_FORMAT_PROTOBUF);
    const auto tree = client().Parse(parse);
    ASSERT_TRUE(tree.ok()) << tree.status();
    v1::DeparseRequest request;
    request.set_grammar(grammar);
    request.set_protobuf(tree->protobuf());
    const auto answer = client().Deparse(request);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->query(), "SELECT a FROM t; INSERT INTO u VALUES (1)");
  }
}

TEST_F(ServerOperations, DeparseRefusesBytesThatAreNoTree) {
  for (const uint32_t grammar : grammars_) {
    v1::DeparseRequest request;
    request.set_grammar(grammar);
    request.set_protobuf("\xff\xff\xff");
    EXPECT_EQ(ReasonOf(client().Deparse(request).status()), Reason::kInvalidTree) << grammar;
  }
}

TEST_F(ServerOperations, DeparseRefusesATreeOfAnotherGrammarAndNamesBoth) {
  for (const uint32_t made_by : grammars_) {
    auto parse = Query<v1::ParseRequest>("COPY t (a) FROM STDIN", made_by);
    parse.set_format(v1::TREE_FORMAT_PROTOBUF);
    const auto tree = client().Parse(parse);
    ASSERT_TRUE(tree.ok()) << tree.status();
    for (const uint32_t grammar : grammars_) {
      if (grammar == made_by) continue;
      v1::DeparseRequest request;
      request.set_grammar(grammar);
      request.set_protobuf(tree->protobuf());
      const absl::Status status = client().Deparse(request).status();
      EXPECT_EQ(ReasonOf(status), Reason::kInvalidTree);
      const std::string message(status.message());
      EXPECT_NE(message.find(std::to_string(made_by)), std::string::npos) << message;
      EXPECT_NE(message.find(std::to_string(grammar)), std::string::npos) << message;
    }
  }
}

TEST_F(ServerOperations, AnErrorAtALongTokenReachesTheClientWhole) {
  for (const uint32_t grammar : grammars_) {
    const absl::Status status =
        client()
            .Parse(Query<v1::ParseRequest>("SELECT 1 FROM '" + std::string(1'000'000, 'x') + "'",
                                           grammar))
            .status();
    EXPECT_EQ(ReasonOf(status), Reason::kSqlSyntaxError) << status;
    ASSERT_TRUE(SqlErrorOf(status).has_value());
    EXPECT_EQ(SqlErrorOf(status)->position, 14u);
  }
}

TEST_F(ServerOperations, LayoutAndCommentsWorkWhereTheGrammarHasThem) {
  for (const uint32_t grammar : grammars_) {
    auto request = Query<v1::FormatRequest>("select a, b -- why\nfrom t where x = 1", grammar);
    request.mutable_layout()->set_indent_size(2);
    request.mutable_layout()->set_trailing_newline(true);
    const auto answer = client().Format(request);
    if (grammar < 18) {
      EXPECT_EQ(ReasonOf(answer.status()), Reason::kUnsupportedOption);
      continue;
    }
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_NE(answer->query().find("-- why"), std::string::npos);
    EXPECT_NE(answer->query().find("\nFROM"), std::string::npos) << answer->query();
    EXPECT_EQ(answer->query().back(), '\n');
  }
}

TEST_F(ServerOperations, FormatWithoutLayoutWorksForEveryGrammar) {
  for (const uint32_t grammar : grammars_) {
    const auto answer = client().Format(Query<v1::FormatRequest>("select  1 ;select 2", grammar));
    ASSERT_TRUE(answer.ok()) << answer.status();
    const auto again = client().Format(Query<v1::FormatRequest>(answer->query(), grammar));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->query(), answer->query());
  }
}

TEST_F(ServerOperations, ExtractCommentsGivesTextAndPlace) {
  for (const uint32_t grammar : grammars_) {
    const auto answer =
        client().ExtractComments(Query<v1::ExtractCommentsRequest>("SELECT 1 /* x */, 2", grammar));
    if (grammar < 18) {
      EXPECT_EQ(ReasonOf(answer.status()), Reason::kUnsupportedOption);
      continue;
    }
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_EQ(answer->comments_size(), 1);
    EXPECT_EQ(answer->comments(0).text(), "/* x */");
  }
}

TEST_F(ServerOperations, ParsePlpgsqlGivesATree) {
  for (const uint32_t grammar : grammars_) {
    const auto answer = client().ParsePlpgsql(Query<v1::ParsePlpgsqlRequest>(
        "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$", grammar));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_NE(answer->json().find("PLpgSQL_function"), std::string::npos);
  }
}

TEST_F(ServerOperations, SummarizeListsTables) {
  for (const uint32_t grammar : grammars_) {
    const auto answer = client().Summarize(
        Query<v1::SummarizeRequest>("SELECT * FROM s.t JOIN u x ON x.a = t.b", grammar));
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_EQ(answer->summary().tables_size(), 2);
    EXPECT_EQ(answer->summary().tables(0).schema(), "s");
    EXPECT_EQ(answer->summary().tables(0).name(), "t");
    EXPECT_EQ(answer->summary().tables(0).context(), v1::TABLE_CONTEXT_SELECT);
  }
}

TEST_F(ServerOperations, AnalyzeGivesTheSameAsTheMethodsAlone) {
  const std::string sql = "SELECT a FROM t WHERE b = 'x' AND c IN (1, 2, 3)";
  for (const uint32_t grammar : grammars_) {
    auto request = Query<v1::AnalyzeRequest>(sql, grammar);
    for (const v1::Operation operation :
         {v1::OPERATION_PARSE, v1::OPERATION_FINGERPRINT, v1::OPERATION_NORMALIZE,
          v1::OPERATION_SCAN, v1::OPERATION_SPLIT}) {
      request.add_operations(operation);
    }
    const auto all = client().Analyze(request);
    ASSERT_TRUE(all.ok()) << all.status();
    EXPECT_EQ(all->errors_size(), 0);
    EXPECT_EQ(all->json(), client().Parse(Query<v1::ParseRequest>(sql, grammar))->json());
    EXPECT_EQ(all->fingerprint(),
              client().Fingerprint(Query<v1::FingerprintRequest>(sql, grammar))->fingerprint());
    EXPECT_EQ(all->normalized_query(),
              client().Normalize(Query<v1::NormalizeRequest>(sql, grammar))->query());
    EXPECT_EQ(all->tokens().SerializeAsString(),
              client().Scan(Query<v1::ScanRequest>(sql, grammar))->tokens().SerializeAsString());
    EXPECT_EQ(all->pieces().SerializeAsString(),
              client().Split(Query<v1::SplitRequest>(sql, grammar))->pieces().SerializeAsString());
  }
}

TEST_F(ServerOperations, AnalyzeKeepsTheTokensOfAQueryWithASyntaxError) {
  for (const uint32_t grammar : grammars_) {
    auto request = Query<v1::AnalyzeRequest>("SELEC 1", grammar);
    request.add_operations(v1::OPERATION_PARSE);
    request.add_operations(v1::OPERATION_SCAN);
    const auto answer = client().Analyze(request);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->tokens().start_size(), 2);
    ASSERT_EQ(answer->errors_size(), 1);
    EXPECT_EQ(answer->errors(0).operation(), v1::OPERATION_PARSE);
    EXPECT_EQ(answer->errors(0).sql_error().position(), 0u);
    EXPECT_EQ(answer->errors(0).sql_error().line(), 1u);
  }
}

TEST_F(ServerOperations, ParserOptionsChangeWhatIsRead) {
  for (const uint32_t grammar : grammars_) {
    auto request = Query<v1::ParseRequest>("a := 1 + 2", grammar);
    request.mutable_parser_options()->set_mode(v1::PARSE_MODE_PLPGSQL_ASSIGN1);
    const auto answer = client().Parse(request);
    if (grammar < 17) {
      EXPECT_EQ(ReasonOf(answer.status()), Reason::kUnsupportedOption);
    } else {
      EXPECT_TRUE(answer.ok()) << answer.status();
    }
  }
}

TEST_F(ServerOperations, SplitCoversTheTextWhateverItIs) {
  const std::string sql = "SELEC 1;\n\\connect x\nCOPY t FROM stdin;\n1\n\\.\nSELECT (2";
  for (const uint32_t grammar : grammars_) {
    const auto answer = client().Split(Query<v1::SplitRequest>(sql, grammar));
    ASSERT_TRUE(answer.ok()) << answer.status();
    const v1::PieceColumns& pieces = answer->pieces();
    EXPECT_TRUE(pieces.incomplete());
    uint32_t end = 0;
    for (int i = 0; i < pieces.start_size(); ++i) {
      EXPECT_EQ(pieces.start(i), end);
      end = pieces.start(i) + pieces.length(i);
    }
    EXPECT_EQ(end, sql.size());
  }
}

TEST_F(ServerOperations, BothConversionsGiveTheSameTree) {
  for (const uint32_t grammar : grammars_) {
    for (const auto format : {v1::TREE_FORMAT_JSON, v1::TREE_FORMAT_PROTOBUF}) {
      auto request = Query<v1::ParseRequest>("SELECT a, 'b' FROM c WHERE d IN (1, -2)", grammar);
      request.set_format(format);
      request.set_conversion(v1::CONVERSION_DIRECT);
      const auto direct = client().Parse(request);
      request.set_conversion(v1::CONVERSION_LIBRARY);
      const auto library = client().Parse(request);
      ASSERT_TRUE(direct.ok()) << direct.status();
      ASSERT_TRUE(library.ok()) << library.status();
      EXPECT_EQ(direct->json(), library->json());
      EXPECT_EQ(direct->protobuf(), library->protobuf());
      EXPECT_FALSE(direct->json().empty() && direct->protobuf().empty());
    }
  }
}

TEST_F(ServerOperations, LocationsInTreesFollowTheEncoding) {
  for (const uint32_t grammar : grammars_) {
    auto request = Query<v1::ParseRequest>("SELECT '\xC3\xA9\xF0\x9F\x98\x80', x", grammar);
    for (const auto& [encoding, location] :
         {std::pair(v1::POSITION_ENCODING_UTF8, "\"location\":17}"),
          std::pair(v1::POSITION_ENCODING_UTF16, "\"location\":14}"),
          std::pair(v1::POSITION_ENCODING_UTF32, "\"location\":13}")}) {
      request.set_position_encoding(encoding);
      const auto answer = client().Parse(request);
      ASSERT_TRUE(answer.ok()) << answer.status();
      EXPECT_NE(answer->json().find(location), std::string::npos) << answer->json();
    }
    // The library counts bytes only.
    request.set_conversion(v1::CONVERSION_LIBRARY);
    EXPECT_EQ(ReasonOf(client().Parse(request).status()), Reason::kUnsupportedOption);
  }
}

TEST_F(ServerOperations, ColumnarTreesHaveNoLibraryPath) {
  auto request = Query<v1::ParseRequest>("SELECT 1", 0);
  request.set_format(v1::TREE_FORMAT_COLUMNAR);
  const auto answer = client().Parse(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->columnar().version(), 1u);
  EXPECT_EQ(answer->columnar().kind_names(0), "RawStmt");
  request.set_conversion(v1::CONVERSION_LIBRARY);
  EXPECT_EQ(ReasonOf(client().Parse(request).status()), Reason::kUnsupportedOption);
}

TEST_F(ServerOperations, AnUnknownGrammarIsRefusedWithTheList) {
  const absl::Status status = client().Parse(Query<v1::ParseRequest>("SELECT 1", 9)).status();
  EXPECT_EQ(ReasonOf(status), Reason::kUnsupportedGrammar);
  EXPECT_NE(ErrorMetadataOf(status)["grammars"].find(std::to_string(grammars_[0])),
            std::string::npos);
}

TEST_F(ServerOperations, ListGrammarsNamesTheDefaultFirst) {
  const auto answer = client().ListGrammars();
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->grammars(0).is_default());
  EXPECT_GT(answer->grammars(0).workers(), 0u);
  for (const v1::Grammar& grammar : answer->grammars()) {
    EXPECT_FALSE(grammar.library_version().empty());
    EXPECT_EQ(grammar.postgres_version_num() / 10000, grammar.major());
    EXPECT_FALSE(grammar.allocator().empty());
  }
  EXPECT_EQ(answer->limits().max_query_bytes(), 16u << 20);
}

TEST_F(ServerOperations, GetGrammarSchemaNamesTokensAndNodes) {
  for (const uint32_t grammar : grammars_) {
    v1::GetGrammarSchemaRequest request;
    request.set_grammar(grammar);
    const auto answer = client().GetGrammarSchema(request);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_NE(answer->proto_text().find("message SelectStmt"), std::string::npos);
    EXPECT_GT(answer->file_descriptor_set().size(), 10'000u);
    EXPECT_GT(answer->tokens_size(), 400);
    EXPECT_GT(answer->nodes_size(), 200);
  }
}

}  // namespace
}  // namespace pgparsed
