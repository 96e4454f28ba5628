/*
 * The oracle: one grammar's libpg_query and nothing else, asked through its public functions.
 *
 * The conformance tests compare what the service answers with what this program answers, so it
 * links only that grammar's libpg_query.a and shares no code with the rest of the project.
 *
 * Protocol, all integers little-endian, on stdin and stdout:
 *
 *   request   u32 operations (bit mask, enum Operation)   u32 length   length bytes of SQL
 *   answer    for each wanted operation, from the lowest bit up:
 *               u32 operation bit
 *               u32 state    0 = ok, 1 = error, 2 = this grammar's library lacks the operation
 *               u64 nanoseconds spent in the library's call (without freeing its result)
 *               ok:     u64 length, bytes
 *               error:  string message, i32 cursorpos, string funcname, string filename,
 *                       i32 lineno, string context
 *             string = u64 length, bytes; an absent string (NULL) has length UINT64_MAX
 *
 * What the bytes of an ok answer are: JSON text; serialized protobuf; fingerprint as u64 and then
 * its hex text; the normalized text; a serialized ScanResult; for the two splits i32 location and
 * i32 length of each statement; the deparsed text; PL/pgSQL JSON.
 *
 * The operations run on a thread with a 1 GiB stack (lazily committed), because libpg_query 15 and
 * 17 recurse without a bound. libpg_query 18 checks its depth itself: at each entry it takes what
 * is left of the thread's stack less 512 KiB, but at most 2 MiB, so the large stack does not raise
 * its limit. A statement that still kills the library kills this process: the client sees the end
 * of the stream and starts another.
 *
 * The program ends with 0 at the end of stdin and 2 when a request is cut short.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pg_query.h"

enum Operation {
  kParseJson = 1 << 0,
  kParseProtobuf = 1 << 1,
  kFingerprint = 1 << 2,
  kNormalize = 1 << 3,
  kScan = 1 << 4,
  kSplitParser = 1 << 5,
  kSplitScanner = 1 << 6,
  kDeparse = 1 << 7, /* pg_query_deparse_protobuf of what pg_query_parse_protobuf gave */
  kParsePlpgsql = 1 << 8,
  kNormalizeUtility = 1 << 9 /* from 17 on */
};

static const size_t kStackBytes = (size_t)1 << 30;

static void WriteBytes(const void* bytes, size_t length) {
  /* The reader is gone when this fails: nothing is left to do. */
  if (length > 0 && fwrite(bytes, 1, length, stdout) != length) exit(2);
}

static void WriteU32(uint32_t value) { WriteBytes(&value, sizeof value); }
static void WriteU64(uint64_t value) { WriteBytes(&value, sizeof value); }

static void WriteString(const char* text) {
  if (text == NULL) {
    WriteU64(UINT64_MAX);
    return;
  }
  const size_t length = strlen(text);
  WriteU64(length);
  WriteBytes(text, length);
}

static uint64_t NowNanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void WriteHead(enum Operation operation, uint32_t state, uint64_t nanoseconds) {
  WriteU32((uint32_t)operation);
  WriteU32(state);
  WriteU64(nanoseconds);
}

static void WriteError(enum Operation operation, uint64_t nanoseconds, const PgQueryError* error) {
  WriteHead(operation, 1, nanoseconds);
  WriteString(error->message);
  WriteU32((uint32_t)error->cursorpos);
  WriteString(error->funcname);
  WriteString(error->filename);
  WriteU32((uint32_t)error->lineno);
  WriteString(error->context);
}

/* Either the error or the text, whichever the library gave. */
static void WriteText(enum Operation operation, uint64_t nanoseconds, const PgQueryError* error,
                      const char* text) {
  if (error != NULL) {
    WriteError(operation, nanoseconds, error);
    return;
  }
  WriteHead(operation, 0, nanoseconds);
  WriteString(text);
}

static void WriteProtobuf(enum Operation operation, uint64_t nanoseconds, const PgQueryError* error,
                          const PgQueryProtobuf* bytes) {
  if (error != NULL) {
    WriteError(operation, nanoseconds, error);
    return;
  }
  WriteHead(operation, 0, nanoseconds);
  WriteU64(bytes->len);
  WriteBytes(bytes->data, bytes->len);
}

static void WriteSplit(enum Operation operation, uint64_t nanoseconds,
                       const PgQuerySplitResult* result) {
  if (result->error != NULL) {
    WriteError(operation, nanoseconds, result->error);
    return;
  }
  WriteHead(operation, 0, nanoseconds);
  WriteU64((uint64_t)result->n_stmts * 8);
  for (int i = 0; i < result->n_stmts; ++i) {
    WriteU32((uint32_t)result->stmts[i]->stmt_location);
    WriteU32((uint32_t)result->stmts[i]->stmt_len);
  }
}

static void Answer(enum Operation operation, const char* sql) {
  const uint64_t start = NowNanoseconds();
  switch (operation) {
    case kParseJson: {
      PgQueryParseResult result = pg_query_parse(sql);
      WriteText(operation, NowNanoseconds() - start, result.error, result.parse_tree);
      pg_query_free_parse_result(result);
      return;
    }
    case kParseProtobuf: {
      PgQueryProtobufParseResult result = pg_query_parse_protobuf(sql);
      WriteProtobuf(operation, NowNanoseconds() - start, result.error, &result.parse_tree);
      pg_query_free_protobuf_parse_result(result);
      return;
    }
    case kFingerprint: {
      PgQueryFingerprintResult result = pg_query_fingerprint(sql);
      const uint64_t spent = NowNanoseconds() - start;
      if (result.error != NULL) {
        WriteError(operation, spent, result.error);
      } else {
        const size_t length = strlen(result.fingerprint_str);
        WriteHead(operation, 0, spent);
        WriteU64(8 + length);
        WriteU64(result.fingerprint);
        WriteBytes(result.fingerprint_str, length);
      }
      pg_query_free_fingerprint_result(result);
      return;
    }
    case kNormalize: {
      PgQueryNormalizeResult result = pg_query_normalize(sql);
      WriteText(operation, NowNanoseconds() - start, result.error, result.normalized_query);
      pg_query_free_normalize_result(result);
      return;
    }
    case kScan: {
      PgQueryScanResult result = pg_query_scan(sql);
      WriteProtobuf(operation, NowNanoseconds() - start, result.error, &result.pbuf);
      pg_query_free_scan_result(result);
      return;
    }
    case kSplitParser: {
      PgQuerySplitResult result = pg_query_split_with_parser(sql);
      WriteSplit(operation, NowNanoseconds() - start, &result);
      pg_query_free_split_result(result);
      return;
    }
    case kSplitScanner: {
      PgQuerySplitResult result = pg_query_split_with_scanner(sql);
      WriteSplit(operation, NowNanoseconds() - start, &result);
      pg_query_free_split_result(result);
      return;
    }
    case kDeparse: {
      PgQueryProtobufParseResult tree = pg_query_parse_protobuf(sql);
      if (tree.error != NULL) {
        WriteError(operation, NowNanoseconds() - start, tree.error);
      } else {
        const uint64_t deparse_start = NowNanoseconds();
        PgQueryDeparseResult result = pg_query_deparse_protobuf(tree.parse_tree);
        WriteText(operation, NowNanoseconds() - deparse_start, result.error, result.query);
        pg_query_free_deparse_result(result);
      }
      pg_query_free_protobuf_parse_result(tree);
      return;
    }
    case kParsePlpgsql: {
      PgQueryPlpgsqlParseResult result = pg_query_parse_plpgsql(sql);
      WriteText(operation, NowNanoseconds() - start, result.error, result.plpgsql_funcs);
      pg_query_free_plpgsql_parse_result(result);
      return;
    }
    case kNormalizeUtility: {
#if PG_VERSION_NUM >= 160000
      PgQueryNormalizeResult result = pg_query_normalize_utility(sql);
      WriteText(operation, NowNanoseconds() - start, result.error, result.normalized_query);
      pg_query_free_normalize_result(result);
#else
      WriteHead(operation, 2, 0);
#endif
      return;
    }
  }
}

static void* Serve(void* unused) {
  (void)unused;
  for (;;) {
    uint32_t head[2];
    const size_t got = fread(head, 1, sizeof head, stdin);
    if (got == 0) exit(0);
    if (got != sizeof head) exit(2);
    char* sql = malloc((size_t)head[1] + 1);
    if (sql == NULL || fread(sql, 1, head[1], stdin) != head[1]) exit(2);
    sql[head[1]] = '\0';
    for (uint32_t bit = kParseJson; bit <= kNormalizeUtility; bit <<= 1) {
      if ((head[0] & bit) != 0) Answer((enum Operation)bit, sql);
    }
    free(sql);
    if (fflush(stdout) != 0) exit(2);
  }
}

int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, kStackBytes) != 0 ||
      pthread_create(&thread, &attributes, Serve, NULL) != 0) {
    fputs("oracle: cannot start a thread with a stack of 1 GiB\n", stderr);
    return 2;
  }
  pthread_join(thread, NULL); /* Serve ends the process itself. */
  return 2;
}
