//! Checks the sources against the rules of ARCHITECTURE.md.

mod arrows;
mod examples;
mod packages;
mod readme;
mod rooms;
mod sources;

/// All violations of a rule, one line each.
pub(crate) fn problems() -> Result<Vec<String>, String> {
    let mut problems = arrows::problems()?;
    problems.extend(sources::problems()?);
    problems.extend(readme::problems()?);
    problems.extend(examples::problems()?);
    problems.extend(packages::problems()?);
    problems.extend(rooms::problems()?);
    Ok(problems)
}

#[cfg(test)]
mod tests {
    #[test]
    fn workspace_is_tidy() {
        let problems = super::problems().unwrap();
        assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    }
}
