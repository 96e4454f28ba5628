// What PostgreSQL 15.18 wrote, as it wrote it: psql and pgbench against a server with different
// settings. Process ids, times and durations are those of that run.
#pragma once

#include <string_view>

namespace pgparsed::cli {

// log_min_duration_statement = 0, log_line_prefix = '%m [%p] '.
inline constexpr std::string_view kStderrDurations =
    R"log(2026-12-01 06:10:01.407 UTC [19200] LOG:  database system is ready to accept connections
2026-12-01 06:10:01.548 UTC [19210] LOG:  duration: 2.026 ms  statement: CREATE TABLE t (id int, name text);
2026-12-01 06:10:01.549 UTC [19210] LOG:  duration: 1.179 ms  statement: INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;
2026-12-01 06:10:01.550 UTC [19210] LOG:  duration: 0.597 ms  statement: SELECT count(*)
	FROM t
		WHERE name = 'a, "b"'
	  AND id > 1;
2026-12-01 06:10:01.550 UTC [19210] ERROR:  column "nope" does not exist at character 8
2026-12-01 06:10:01.550 UTC [19210] HINT:  Perhaps you meant to reference the column "t.name".
2026-12-01 06:10:01.550 UTC [19210] STATEMENT:  SELECT nope FROM t;
2026-12-01 06:10:01.551 UTC [19210] LOG:  duration: 0.032 ms  statement: SELECT 1;
2026-12-01 06:10:01.551 UTC [19210] LOG:  duration: 0.045 ms  statement: SELECT 1 ; SELECT 2;
2026-12-01 06:10:01.551 UTC [19210] LOG:  duration: 0.011 ms  statement: BEGIN;
2026-12-01 06:10:01.551 UTC [19210] LOG:  duration: 0.055 ms  statement: DECLARE c CURSOR FOR SELECT * FROM t;
2026-12-01 06:10:01.552 UTC [19210] LOG:  duration: 0.036 ms  statement: FETCH 10 FROM c;
2026-12-01 06:10:01.552 UTC [19210] LOG:  duration: 0.016 ms  statement: COMMIT;
2026-12-01 06:10:01.552 UTC [19210] LOG:  duration: 0.037 ms  statement: SELECT $$multi
	line$$, E'a\\nb';
2026-12-01 06:10:01.552 UTC [19210] LOG:  duration: 0.027 ms  statement: SELECT 'é€';
2026-12-01 06:10:01.567 UTC [19214] LOG:  duration: 0.292 ms  parse P_0: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:01.567 UTC [19214] LOG:  duration: 0.273 ms  bind P_0: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:01.567 UTC [19214] DETAIL:  parameters: $1 = '2'
2026-12-01 06:10:01.567 UTC [19214] LOG:  duration: 0.018 ms  execute P_0: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:01.567 UTC [19214] DETAIL:  parameters: $1 = '2'
2026-12-01 06:10:01.567 UTC [19214] LOG:  duration: 0.027 ms  bind P_0: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:01.567 UTC [19214] DETAIL:  parameters: $1 = '5'
2026-12-01 06:10:01.567 UTC [19214] LOG:  duration: 0.012 ms  execute P_0: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:01.567 UTC [19214] DETAIL:  parameters: $1 = '5'
2026-12-01 06:10:01.578 UTC [19217] LOG:  duration: 0.335 ms  parse <unnamed>: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:01.578 UTC [19217] LOG:  duration: 0.261 ms  bind <unnamed>: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:01.578 UTC [19217] DETAIL:  parameters: $1 = '8'
2026-12-01 06:10:01.578 UTC [19217] LOG:  duration: 0.045 ms  execute <unnamed>: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:01.578 UTC [19217] DETAIL:  parameters: $1 = '8'
)log";

// log_statement = all, log_duration = on, the same prefix.
inline constexpr std::string_view kStderrStatements =
    R"log(2026-12-01 06:10:01.957 UTC [19221] LOG:  statement: CREATE TABLE t (id int, name text);
2026-12-01 06:10:01.957 UTC [19221] ERROR:  relation "t" already exists
2026-12-01 06:10:01.957 UTC [19221] STATEMENT:  CREATE TABLE t (id int, name text);
2026-12-01 06:10:01.957 UTC [19221] LOG:  statement: INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;
2026-12-01 06:10:01.958 UTC [19221] LOG:  duration: 0.748 ms
2026-12-01 06:10:01.958 UTC [19221] LOG:  statement: SELECT count(*)
	FROM t
		WHERE name = 'a, "b"'
	  AND id > 1;
2026-12-01 06:10:01.958 UTC [19221] LOG:  duration: 0.414 ms
2026-12-01 06:10:01.959 UTC [19221] LOG:  statement: SELECT nope FROM t;
2026-12-01 06:10:01.959 UTC [19221] ERROR:  column "nope" does not exist at character 8
2026-12-01 06:10:01.959 UTC [19221] HINT:  Perhaps you meant to reference the column "t.name".
2026-12-01 06:10:01.959 UTC [19221] STATEMENT:  SELECT nope FROM t;
2026-12-01 06:10:01.959 UTC [19221] LOG:  statement: SELECT 1;
2026-12-01 06:10:01.959 UTC [19221] LOG:  duration: 0.109 ms
2026-12-01 06:10:01.959 UTC [19221] LOG:  statement: SELECT 1 ; SELECT 2;
2026-12-01 06:10:01.959 UTC [19221] LOG:  duration: 0.116 ms
2026-12-01 06:10:01.960 UTC [19221] LOG:  statement: BEGIN;
2026-12-01 06:10:01.960 UTC [19221] LOG:  duration: 0.078 ms
2026-12-01 06:10:01.960 UTC [19221] LOG:  statement: DECLARE c CURSOR FOR SELECT * FROM t;
2026-12-01 06:10:01.960 UTC [19221] LOG:  duration: 0.094 ms
2026-12-01 06:10:01.960 UTC [19221] LOG:  statement: FETCH 10 FROM c;
2026-12-01 06:10:01.960 UTC [19221] LOG:  duration: 0.107 ms
2026-12-01 06:10:01.960 UTC [19221] LOG:  statement: COMMIT;
2026-12-01 06:10:01.960 UTC [19221] LOG:  duration: 0.074 ms
2026-12-01 06:10:01.961 UTC [19221] LOG:  statement: SELECT $$multi
	line$$, E'a\\nb';
2026-12-01 06:10:01.961 UTC [19221] LOG:  duration: 0.096 ms
2026-12-01 06:10:01.961 UTC [19221] LOG:  statement: SELECT 'é€';
2026-12-01 06:10:01.961 UTC [19221] LOG:  duration: 0.109 ms
2026-12-01 06:10:01.974 UTC [19224] LOG:  duration: 0.420 ms
2026-12-01 06:10:01.974 UTC [19224] LOG:  duration: 0.308 ms
2026-12-01 06:10:01.975 UTC [19224] LOG:  execute <unnamed>: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:01.975 UTC [19224] DETAIL:  parameters: $1 = '8'
2026-12-01 06:10:01.975 UTC [19224] LOG:  duration: 0.080 ms
)log";

// log_statement = all, log_min_duration_statement = 0, log_error_verbosity = verbose,
// log_line_prefix = '%t:%r:%u@%d:[%p-%l]: %q%a '.
inline constexpr std::string_view kStderrVerbose =
    R"log(2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19226-11]: psql LOG:  00000: statement: select pg_sleep(0.3)
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19226-12]: psql LOCATION:  exec_simple_query, postgres.c:1019
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19226-13]: psql LOG:  00000: duration: 300.637 ms
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19226-14]: psql LOCATION:  exec_simple_query, postgres.c:1309
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-1]: psql LOG:  00000: statement: CREATE TABLE t (id int, name text);
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-2]: psql LOCATION:  exec_simple_query, postgres.c:1019
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-3]: psql ERROR:  42P07: relation "t" already exists
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-4]: psql LOCATION:  heap_create_with_catalog, heap.c:1164
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-5]: psql STATEMENT:  CREATE TABLE t (id int, name text);
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-6]: psql LOG:  00000: statement: INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-7]: psql LOCATION:  exec_simple_query, postgres.c:1019
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-8]: psql LOG:  00000: duration: 0.859 ms
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-9]: psql LOCATION:  exec_simple_query, postgres.c:1309
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-10]: psql LOG:  00000: statement: SELECT count(*)
	FROM t
		WHERE name = 'a, "b"'
	  AND id > 1;
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-11]: psql LOCATION:  exec_simple_query, postgres.c:1019
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-12]: psql LOG:  00000: duration: 0.339 ms
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19228-13]: psql LOCATION:  exec_simple_query, postgres.c:1309
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19231-1]: pgbench LOG:  00000: duration: 0.279 ms  parse P_0: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19231-2]: pgbench LOCATION:  exec_parse_message, postgres.c:1550
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19231-3]: pgbench LOG:  00000: duration: 0.224 ms  bind P_0: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19231-4]: pgbench DETAIL:  parameters: $1 = '10'
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19231-5]: pgbench LOCATION:  exec_bind_message, postgres.c:2021
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19231-6]: pgbench LOG:  00000: execute P_0: SELECT name FROM t
	WHERE id = $1;
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19231-7]: pgbench DETAIL:  parameters: $1 = '10'
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19231-8]: pgbench LOCATION:  exec_execute_message, postgres.c:2152
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19231-9]: pgbench LOG:  00000: duration: 0.042 ms
2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19231-10]: pgbench LOCATION:  exec_execute_message, postgres.c:2272
2026-12-01 06:10:02 UTC::@:[19200-17]: LOG:  00000: received fast shutdown request
2026-12-01 06:10:02 UTC::@:[19200-18]: LOCATION:  pmdie, postmaster.c:2930
)log";

// log_destination = csvlog: as kStderrDurations, then as kStderrStatements.
inline constexpr std::string_view kCsvLog =
    R"log(2026-12-01 06:10:01.407 UTC,,,19200,,6b0e64b9.4b00,3,,2026-12-01 06:10:01 UTC,,0,LOG,00000,"database system is ready to accept connections",,,,,,,,,"","postmaster",,0
2026-12-01 06:10:01.548 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,1,"CREATE TABLE",2026-12-01 06:10:01 UTC,3/0,0,LOG,00000,"duration: 2.026 ms  statement: CREATE TABLE t (id int, name text);",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.549 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,2,"INSERT",2026-12-01 06:10:01 UTC,3/0,0,LOG,00000,"duration: 1.179 ms  statement: INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.550 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,3,"SELECT",2026-12-01 06:10:01 UTC,3/0,0,LOG,00000,"duration: 0.597 ms  statement: SELECT count(*)
FROM t
	WHERE name = 'a, ""b""'
  AND id > 1;",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.550 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,4,"SELECT",2026-12-01 06:10:01 UTC,3/5,0,ERROR,42703,"column ""nope"" does not exist",,"Perhaps you meant to reference the column ""t.name"".",,,,"SELECT nope FROM t;",8,,"psql","client backend",,0
2026-12-01 06:10:01.551 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,5,"SELECT",2026-12-01 06:10:01 UTC,3/0,0,LOG,00000,"duration: 0.032 ms  statement: SELECT 1;",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.551 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,6,"SELECT",2026-12-01 06:10:01 UTC,3/0,0,LOG,00000,"duration: 0.045 ms  statement: SELECT 1 ; SELECT 2;",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.551 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,7,"BEGIN",2026-12-01 06:10:01 UTC,3/8,0,LOG,00000,"duration: 0.011 ms  statement: BEGIN;",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.551 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,8,"DECLARE CURSOR",2026-12-01 06:10:01 UTC,3/8,0,LOG,00000,"duration: 0.055 ms  statement: DECLARE c CURSOR FOR SELECT * FROM t;",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.552 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,9,"FETCH",2026-12-01 06:10:01 UTC,3/8,0,LOG,00000,"duration: 0.036 ms  statement: FETCH 10 FROM c;",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.552 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,10,"COMMIT",2026-12-01 06:10:01 UTC,3/0,0,LOG,00000,"duration: 0.016 ms  statement: COMMIT;",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.552 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,11,"SELECT",2026-12-01 06:10:01 UTC,3/0,0,LOG,00000,"duration: 0.037 ms  statement: SELECT $$multi
line$$, E'a\\nb';",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.552 UTC,"postgres","postgres",19210,"[local]",6b0e64b9.4b0a,12,"SELECT",2026-12-01 06:10:01 UTC,3/0,0,LOG,00000,"duration: 0.027 ms  statement: SELECT 'é€';",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.567 UTC,"postgres","postgres",19214,"[local]",6b0e64b9.4b0e,1,"PARSE",2026-12-01 06:10:01 UTC,3/13,0,LOG,00000,"duration: 0.292 ms  parse P_0: SELECT name FROM t
WHERE id = $1;",,,,,,,,,"pgbench","client backend",,0
2026-12-01 06:10:01.567 UTC,"postgres","postgres",19214,"[local]",6b0e64b9.4b0e,2,"BIND",2026-12-01 06:10:01 UTC,3/14,0,LOG,00000,"duration: 0.273 ms  bind P_0: SELECT name FROM t
WHERE id = $1;","parameters: $1 = '2'",,,,,,,,"pgbench","client backend",,0
2026-12-01 06:10:01.567 UTC,"postgres","postgres",19214,"[local]",6b0e64b9.4b0e,3,"SELECT",2026-12-01 06:10:01 UTC,3/14,0,LOG,00000,"duration: 0.018 ms  execute P_0: SELECT name FROM t
WHERE id = $1;","parameters: $1 = '2'",,,,,,,,"pgbench","client backend",,0
2026-12-01 06:10:01.957 UTC,"postgres","postgres",19221,"[local]",6b0e64b9.4b15,1,"idle",2026-12-01 06:10:01 UTC,3/26,0,LOG,00000,"statement: CREATE TABLE t (id int, name text);",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.957 UTC,"postgres","postgres",19221,"[local]",6b0e64b9.4b15,2,"CREATE TABLE",2026-12-01 06:10:01 UTC,3/26,0,ERROR,42P07,"relation ""t"" already exists",,,,,,"CREATE TABLE t (id int, name text);",,,"psql","client backend",,0
2026-12-01 06:10:01.957 UTC,"postgres","postgres",19221,"[local]",6b0e64b9.4b15,3,"idle",2026-12-01 06:10:01 UTC,3/27,0,LOG,00000,"statement: INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.958 UTC,"postgres","postgres",19221,"[local]",6b0e64b9.4b15,4,"INSERT",2026-12-01 06:10:01 UTC,3/0,0,LOG,00000,"duration: 0.748 ms",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.958 UTC,"postgres","postgres",19221,"[local]",6b0e64b9.4b15,5,"idle",2026-12-01 06:10:01 UTC,3/28,0,LOG,00000,"statement: SELECT count(*)
FROM t
	WHERE name = 'a, ""b""'
  AND id > 1;",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.958 UTC,"postgres","postgres",19221,"[local]",6b0e64b9.4b15,6,"SELECT",2026-12-01 06:10:01 UTC,3/0,0,LOG,00000,"duration: 0.414 ms",,,,,,,,,"psql","client backend",,0
2026-12-01 06:10:01.959 UTC,"postgres","postgres",19221,"[local]",6b0e64b9.4b15,7,"idle",2026-12-01 06:10:01 UTC,3/29,0,LOG,00000,"statement: SELECT nope FROM t;",,,,,,,,,"psql","client backend",,0
)log";

// log_destination = jsonlog, the same.
inline constexpr std::string_view kJsonLog =
    R"log({"timestamp":"2026-12-01 06:10:01.407 UTC","pid":19200,"session_id":"6b0e64b9.4b00","line_num":3,"session_start":"2026-12-01 06:10:01 UTC","txid":0,"error_severity":"LOG","message":"database system is ready to accept connections","backend_type":"postmaster","query_id":0}
{"timestamp":"2026-12-01 06:10:01.548 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":1,"ps":"CREATE TABLE","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/0","txid":0,"error_severity":"LOG","message":"duration: 2.026 ms  statement: CREATE TABLE t (id int, name text);","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.549 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":2,"ps":"INSERT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/0","txid":0,"error_severity":"LOG","message":"duration: 1.179 ms  statement: INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.550 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":3,"ps":"SELECT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/0","txid":0,"error_severity":"LOG","message":"duration: 0.597 ms  statement: SELECT count(*)\nFROM t\n\tWHERE name = 'a, \"b\"'\n  AND id > 1;","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.550 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":4,"ps":"SELECT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/5","txid":0,"error_severity":"ERROR","state_code":"42703","message":"column \"nope\" does not exist","hint":"Perhaps you meant to reference the column \"t.name\".","statement":"SELECT nope FROM t;","cursor_position":8,"application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.551 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":5,"ps":"SELECT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/0","txid":0,"error_severity":"LOG","message":"duration: 0.032 ms  statement: SELECT 1;","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.551 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":6,"ps":"SELECT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/0","txid":0,"error_severity":"LOG","message":"duration: 0.045 ms  statement: SELECT 1 ; SELECT 2;","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.551 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":7,"ps":"BEGIN","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/8","txid":0,"error_severity":"LOG","message":"duration: 0.011 ms  statement: BEGIN;","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.551 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":8,"ps":"DECLARE CURSOR","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/8","txid":0,"error_severity":"LOG","message":"duration: 0.055 ms  statement: DECLARE c CURSOR FOR SELECT * FROM t;","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.552 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":9,"ps":"FETCH","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/8","txid":0,"error_severity":"LOG","message":"duration: 0.036 ms  statement: FETCH 10 FROM c;","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.552 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":10,"ps":"COMMIT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/0","txid":0,"error_severity":"LOG","message":"duration: 0.016 ms  statement: COMMIT;","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.552 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":11,"ps":"SELECT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/0","txid":0,"error_severity":"LOG","message":"duration: 0.037 ms  statement: SELECT $$multi\nline$$, E'a\\\\nb';","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.552 UTC","user":"postgres","dbname":"postgres","pid":19210,"remote_host":"[local]","session_id":"6b0e64b9.4b0a","line_num":12,"ps":"SELECT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/0","txid":0,"error_severity":"LOG","message":"duration: 0.027 ms  statement: SELECT 'é€';","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.567 UTC","user":"postgres","dbname":"postgres","pid":19214,"remote_host":"[local]","session_id":"6b0e64b9.4b0e","line_num":1,"ps":"PARSE","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/13","txid":0,"error_severity":"LOG","message":"duration: 0.292 ms  parse P_0: SELECT name FROM t\nWHERE id = $1;","application_name":"pgbench","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.567 UTC","user":"postgres","dbname":"postgres","pid":19214,"remote_host":"[local]","session_id":"6b0e64b9.4b0e","line_num":2,"ps":"BIND","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/14","txid":0,"error_severity":"LOG","message":"duration: 0.273 ms  bind P_0: SELECT name FROM t\nWHERE id = $1;","detail":"parameters: $1 = '2'","application_name":"pgbench","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.567 UTC","user":"postgres","dbname":"postgres","pid":19214,"remote_host":"[local]","session_id":"6b0e64b9.4b0e","line_num":3,"ps":"SELECT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/14","txid":0,"error_severity":"LOG","message":"duration: 0.018 ms  execute P_0: SELECT name FROM t\nWHERE id = $1;","detail":"parameters: $1 = '2'","application_name":"pgbench","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.957 UTC","user":"postgres","dbname":"postgres","pid":19221,"remote_host":"[local]","session_id":"6b0e64b9.4b15","line_num":1,"ps":"idle","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/26","txid":0,"error_severity":"LOG","message":"statement: CREATE TABLE t (id int, name text);","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.957 UTC","user":"postgres","dbname":"postgres","pid":19221,"remote_host":"[local]","session_id":"6b0e64b9.4b15","line_num":2,"ps":"CREATE TABLE","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/26","txid":0,"error_severity":"ERROR","state_code":"42P07","message":"relation \"t\" already exists","statement":"CREATE TABLE t (id int, name text);","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.957 UTC","user":"postgres","dbname":"postgres","pid":19221,"remote_host":"[local]","session_id":"6b0e64b9.4b15","line_num":3,"ps":"idle","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/27","txid":0,"error_severity":"LOG","message":"statement: INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.958 UTC","user":"postgres","dbname":"postgres","pid":19221,"remote_host":"[local]","session_id":"6b0e64b9.4b15","line_num":4,"ps":"INSERT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/0","txid":0,"error_severity":"LOG","message":"duration: 0.748 ms","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.958 UTC","user":"postgres","dbname":"postgres","pid":19221,"remote_host":"[local]","session_id":"6b0e64b9.4b15","line_num":5,"ps":"idle","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/28","txid":0,"error_severity":"LOG","message":"statement: SELECT count(*)\nFROM t\n\tWHERE name = 'a, \"b\"'\n  AND id > 1;","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.958 UTC","user":"postgres","dbname":"postgres","pid":19221,"remote_host":"[local]","session_id":"6b0e64b9.4b15","line_num":6,"ps":"SELECT","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/0","txid":0,"error_severity":"LOG","message":"duration: 0.414 ms","application_name":"psql","backend_type":"client backend","query_id":0}
{"timestamp":"2026-12-01 06:10:01.959 UTC","user":"postgres","dbname":"postgres","pid":19221,"remote_host":"[local]","session_id":"6b0e64b9.4b15","line_num":7,"ps":"idle","session_start":"2026-12-01 06:10:01 UTC","vxid":"3/29","txid":0,"error_severity":"LOG","message":"statement: SELECT nope FROM t;","application_name":"psql","backend_type":"client backend","query_id":0}
)log";

}  // namespace pgparsed::cli
