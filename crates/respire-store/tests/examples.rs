//! Runs the example of typed values, which checks its own results.

#[path = "../examples/typed_values.rs"]
mod typed_values;

#[test]
fn typed_values_are_edited_and_read_without_a_protocol() {
    assert_eq!(typed_values::main(), Ok(()));
}
