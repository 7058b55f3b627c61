//! Tests of all commands on sorted sets together.
