//! The judgement of a log's files when a server starts.
