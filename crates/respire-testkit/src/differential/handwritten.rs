//! Requests of commands whose descriptions give too few that are interesting.

/// Commands whose requests are not made from their descriptions. Most such requests would be
/// answered differently or at too great length, or would end the server or the connection.
pub(super) const HANDWRITTEN: &[(&str, u32, &str)] = &[
    ("acl|cat", 1, "ACL CAT nosuch"),
    (
        "client|kill",
        2,
        "CLIENT KILL (ID 999999|ADDR 1.2.3.4:5|LADDR 1.2.3.4:5|USER nobody|SKIPME foo|TYPE foo|TYPE master)",
    ),
    ("client|pause", 1, "CLIENT PAUSE (foo|-1)"),
    ("client|reply", 1, "CLIENT REPLY (ON|foo)"),
    ("command|docs", 4, "COMMAND DOCS {(<command>|nosuch)}"),
    (
        "command|getkeys",
        8,
        "COMMAND GETKEYS (SET <key> <value>|MSET {<key> <value>}|DEL {<key>}|BITOP AND <key> {<key>}|SORT <key> STORE <key>|COPY <key> <key>|PING|GET|NOSUCH <key>|LCS <key> <key>|OBJECT ENCODING <key>)",
    ),
    (
        "command|getkeysandflags",
        4,
        "COMMAND GETKEYSANDFLAGS (SET <key> <value>|GET <key>|RENAME <key> <key>|GETEX <key>|BITFIELD <key> GET u8 0|BITFIELD <key> [(GET|OVERFLOW|SET|foo)] [(u8|GET)] [0]|SORT <key> STORE <key>)",
    ),
    ("command|info", 6, "COMMAND INFO {(<command>|nosuch)}"),
    (
        "command|list",
        2,
        "COMMAND LIST FILTERBY (PATTERN nosuch|MODULE foo|ACLCAT nosuch|FOO bar)",
    ),
    (
        "config|set",
        8,
        "CONFIG SET ((slowlog-max-len|maxmemory-samples|latency-monitor-threshold) <int>|maxmemory-policy (noeviction|allkeys-lru|allkeys-random|volatile-ttl|foo)|nosuch 1|databases 4|maxmemory 0 maxmemory 0)",
    ),
    (
        "debug",
        2,
        "DEBUG (SET-ACTIVE-EXPIRE (0|1)|SLEEP 0|OBJECT <key>)",
    ),
    ("eval", 80, "EVAL <script> 2 <key> <key> {<value>}"),
    ("eval_ro", 8, "EVAL_RO <script> 2 <key> <key> {<value>}"),
    (
        "evalsha",
        4,
        "EVALSHA (e0e1f9fabfc9d4800c877a703b823ac0578ff8db|nosuch) (0|1 <key>|<int>)",
    ),
    (
        "lmpop",
        16,
        "LMPOP (1 <list>|2 <list> <list>|3 <key> <list> <list>|(2|0|-1|x) <list>) (LEFT|RIGHT|LEFT|RIGHT|UP) [COUNT <count>]",
    ),
    (
        "evalsha_ro",
        2,
        "EVALSHA_RO (e0e1f9fabfc9d4800c877a703b823ac0578ff8db|nosuch) (0|1 <key>)",
    ),
    (
        "script|exists",
        2,
        "SCRIPT EXISTS {(e0e1f9fabfc9d4800c877a703b823ac0578ff8db|nosuch)}",
    ),
    ("script|load", 4, "SCRIPT LOAD (<script>|<value>)"),
    ("fcall", 2, "FCALL (f|nosuch) (0|1 <key>|<int>)"),
    ("fcall_ro", 2, "FCALL_RO (f|nosuch) (0|1 <key>|<int>)"),
    ("function|delete", 1, "FUNCTION DELETE (lib|nosuch)"),
    ("function|dump", 1, "FUNCTION DUMP"),
    ("function|flush", 1, "FUNCTION FLUSH [(SYNC|ASYNC|foo)]"),
    (
        "function|list",
        2,
        "FUNCTION LIST [LIBRARYNAME <pattern>] [(WITHCODE|foo)]",
    ),
    ("function|load", 2, "FUNCTION LOAD [REPLACE] <value>"),
    (
        "function|restore",
        1,
        "FUNCTION RESTORE <value> [(FLUSH|APPEND|REPLACE|foo)]",
    ),
    // Which members it removes is up to each server, unless it is all of them.
    ("spop", 8, "SPOP <set> (1000|1000|0|-1|abc|1000 1)"),
    (
        "zdiff",
        8,
        "ZDIFF (1 <key>|2 <key> <key>|3 <key> <key> <key>|<int> <key>) [(WITHSCORES|WEIGHTS 1|foo)]",
    ),
    (
        "zdiffstore",
        8,
        "ZDIFFSTORE <key> (1 <key>|2 <key> <key>|3 <key> <key> <key>|<int> <key>) [foo]",
    ),
    (
        "zinter",
        12,
        "ZINTER (1 <key> [WEIGHTS <score>]|2 <key> <key> [WEIGHTS <score> <score>]|3 <key> <key> <key>|<int> <key>) [AGGREGATE (SUM|MIN|MAX|foo)] [WITHSCORES]",
    ),
    (
        "zintercard",
        8,
        "ZINTERCARD (1 <key>|2 <key> <key>|3 <key> <key> <key>|<int> <key>) [LIMIT <count>]",
    ),
    (
        "zinterstore",
        12,
        "ZINTERSTORE <key> (1 <key> [WEIGHTS <score>]|2 <key> <key> [WEIGHTS <score> <score>]|3 <key> <key> <key>|<int> <key>) [AGGREGATE (SUM|MIN|MAX|foo)]",
    ),
    ("zlexcount", 8, "ZLEXCOUNT <lex> <lex_bound> <lex_bound>"),
    (
        "zmpop",
        12,
        "ZMPOP (1 <key>|2 <key> <key>|3 <key> <key> <key>|<int> <key>) (MIN|MAX|foo) [COUNT <count>]",
    ),
    (
        "zrange",
        60,
        "ZRANGE (<key> (<index> <index>|<score_bound> <score_bound> BYSCORE|<index> <score_bound>)|<lex> <lex_bound> <lex_bound> BYLEX) [REV] [LIMIT <index> <index>] [WITHSCORES]",
    ),
    (
        "zrangebylex",
        16,
        "ZRANGEBYLEX <lex> <lex_bound> <lex_bound> [LIMIT <index> <index>]",
    ),
    (
        "zrangebyscore",
        16,
        "ZRANGEBYSCORE <key> <score_bound> <score_bound> [WITHSCORES] [LIMIT <index> <index>]",
    ),
    (
        "zrangestore",
        30,
        "ZRANGESTORE <key> (<key> (<index> <index>|<score_bound> <score_bound> BYSCORE|<index> <score_bound>)|<lex> <lex_bound> <lex_bound> BYLEX) [REV] [LIMIT <index> <index>]",
    ),
    (
        "zremrangebylex",
        4,
        "ZREMRANGEBYLEX <lex> <lex_bound> <lex_bound>",
    ),
    (
        "zrevrangebylex",
        16,
        "ZREVRANGEBYLEX <lex> <lex_bound> <lex_bound> [LIMIT <index> <index>]",
    ),
    (
        "zrevrangebyscore",
        16,
        "ZREVRANGEBYSCORE <key> <score_bound> <score_bound> [WITHSCORES] [LIMIT <index> <index>]",
    ),
    (
        "zunion",
        12,
        "ZUNION (1 <key> [WEIGHTS <score>]|2 <key> <key> [WEIGHTS <score> <score>]|3 <key> <key> <key>|<int> <key>) [AGGREGATE (SUM|MIN|MAX|foo)] [WITHSCORES]",
    ),
    (
        "zunionstore",
        12,
        "ZUNIONSTORE <key> (1 <key> [WEIGHTS <score>]|2 <key> <key> [WEIGHTS <score> <score>]|3 <key> <key> <key>|<int> <key>) [AGGREGATE (SUM|MIN|MAX|foo)]",
    ),
    (
        "xadd",
        80,
        "XADD <stream> [NOMKSTREAM] [(MAXLEN|MINID) [(=|~)] <count> [LIMIT <count>]] <stream_new_id> <hash_field> <value> [<hash_field> <value>]",
    ),
    ("xlen", 4, "XLEN <stream>"),
    ("xdel", 12, "XDEL <stream> {<stream_id>}"),
    (
        "xtrim",
        8,
        "XTRIM <stream> (MAXLEN [(=|~)] <count>|MINID [(=|~)] <stream_id>|foo) [LIMIT <count>]",
    ),
    (
        "xrange",
        16,
        "XRANGE <stream> <stream_end> <stream_end> [COUNT <count>]",
    ),
    (
        "xrevrange",
        12,
        "XREVRANGE <stream> <stream_end> <stream_end> [COUNT <count>]",
    ),
    (
        "xread",
        16,
        "XREAD [COUNT <count>] [(NOACK|foo)] STREAMS (<stream> <stream_after>|<stream> <stream> <stream_after> <stream_after>|<stream>)",
    ),
    (
        "xreadgroup",
        40,
        "XREADGROUP GROUP <stream_group> <stream_consumer> [COUNT <count>] [NOACK] STREAMS (<stream> >|<stream> >|<stream> <stream_id>|<stream> <stream> > <stream_id>)",
    ),
    (
        "xsetid",
        4,
        "XSETID <stream> <stream_id> [ENTRIESADDED <count>] [MAXDELETEDID <stream_id>]",
    ),
    (
        "xgroup|create",
        20,
        "XGROUP CREATE <stream> <stream_group> ($|0|<stream_id>) [MKSTREAM] [ENTRIESREAD <count>]",
    ),
    (
        "xgroup|createconsumer",
        6,
        "XGROUP CREATECONSUMER <stream> <stream_group> <stream_consumer>",
    ),
    (
        "xgroup|delconsumer",
        4,
        "XGROUP DELCONSUMER <stream> <stream_group> <stream_consumer>",
    ),
    (
        "xgroup|destroy",
        2,
        "XGROUP DESTROY <stream> <stream_group>",
    ),
    (
        "xgroup|setid",
        6,
        "XGROUP SETID <stream> <stream_group> ($|0|<stream_id>) [ENTRIESREAD <count>]",
    ),
    ("xack", 12, "XACK <stream> <stream_group> {<stream_id>}"),
    (
        "xpending",
        12,
        "XPENDING <stream> <stream_group> [[IDLE <stream_idle>] <stream_end> <stream_end> <count> [<stream_consumer>]]",
    ),
    (
        "xclaim",
        16,
        "XCLAIM <stream> <stream_group> <stream_consumer> <stream_idle> {<stream_id>} [IDLE <count>] [TIME 1000] [RETRYCOUNT <count>] [FORCE] [JUSTID] [LASTID <stream_id>]",
    ),
    (
        "xautoclaim",
        12,
        "XAUTOCLAIM <stream> <stream_group> <stream_consumer> <stream_idle> <stream_end> [COUNT <count>] [JUSTID]",
    ),
    ("xinfo|groups", 8, "XINFO GROUPS <stream>"),
    (
        "xinfo|consumers",
        6,
        "XINFO CONSUMERS <stream> <stream_group>",
    ),
    (
        "xinfo|stream",
        10,
        "XINFO STREAM <stream> [FULL [COUNT <count>]]",
    ),
    ("shutdown", 1, "SHUTDOWN (foo|SAVE NOSAVE|ABORT)"),
];
