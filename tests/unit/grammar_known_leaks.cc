// For LeakSanitizer: pg_query_parse_plpgsql of libpg_query 15 and 17 loses one byte in calls that
// find no function or fail.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:pg_query_raw_parse\n"; }
