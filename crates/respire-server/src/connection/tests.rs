//! Tests of a connection's turns, with a peer made of a script.
