//! Authentication: a service's own rule for `AUTH` and `HELLO AUTH`, and a ready-made list of
//! passwords.

use crate::secret::is_same;
use crate::{App, Cx};
use std::fmt;

/// Checks the user and password of a connection. `AUTH` and `HELLO ... AUTH` call it, for each
/// connection and each attempt; `AUTH password` without a user means the user `default`.
///
/// Implemented by any function `Fn(&mut Cx<'_, A>, &[u8], &[u8]) -> bool`.
///
/// ```
/// use respire_engine::{App, Cx, NoKeys, Passwords, Router};
///
/// struct Service;
/// impl App for Service {
///     /// The user that the connection belongs to.
///     type Conn = Option<Vec<u8>>;
///     type Keys = NoKeys;
/// }
/// // The ready-made one:
/// let router = Router::new(Service).auth(Passwords::new().with("alice", "correct horse"));
/// // One of your own, which remembers the user:
/// let router = Router::new(Service).auth(
///     |cx: &mut Cx<'_, Service>, user: &[u8], token: &[u8]| {
///         let is_valid = token.len() == 32;
///         if is_valid {
///             *cx.conn() = Some(user.to_vec());
///         }
///         is_valid
///     },
/// );
/// ```
pub trait Authenticator<A: App>: Send + Sync + 'static {
    /// Whether `password` is right for `user`. It runs within the connection's turn, so it must not
    /// wait. Compare secrets in a time that does not depend on where they differ.
    fn authenticate(&self, cx: &mut Cx<'_, A>, user: &[u8], password: &[u8]) -> bool;
}

impl<A: App, F> Authenticator<A> for F
where
    F: Fn(&mut Cx<'_, A>, &[u8], &[u8]) -> bool + Send + Sync + 'static,
{
    fn authenticate(&self, cx: &mut Cx<'_, A>, user: &[u8], password: &[u8]) -> bool {
        self(cx, user, password)
    }
}

/// Users and their passwords, held in memory.
#[derive(Clone, Default)]
pub struct Passwords {
    users: Vec<User>,
}

#[derive(Clone)]
struct User {
    name: Box<[u8]>,
    password: Box<[u8]>,
}

impl Passwords {
    /// An empty list: no user can authenticate until one is added.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The password of the user `default`, from an environment variable.
    ///
    /// # Errors
    /// If the variable is not set or is empty: a service that lost its secret must not start,
    /// neither open to everyone nor closed to everyone.
    pub fn from_env(variable: &str) -> Result<Self, PasswordMissing> {
        match std::env::var_os(variable) {
            Some(password) if !password.is_empty() => {
                Ok(Self::new().with("default", password.as_encoded_bytes()))
            }
            _ => Err(PasswordMissing {
                variable: variable.into(),
            }),
        }
    }

    /// Adds a user. A user added twice has two passwords.
    #[must_use]
    pub fn with(mut self, user: impl AsRef<[u8]>, password: impl AsRef<[u8]>) -> Self {
        self.users.push(User {
            name: user.as_ref().into(),
            password: password.as_ref().into(),
        });
        self
    }

    /// Whether this user has this password. It compares with every user, so the time taken reveals
    /// only lengths: neither which users exist nor how much of a guess was right.
    #[must_use]
    pub fn contains(&self, user: &[u8], password: &[u8]) -> bool {
        self.users.iter().fold(false, |found, known| {
            found | (is_same(&known.name, user) & is_same(&known.password, password))
        })
    }
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Passwords must not appear in logs.
        f.debug_struct("Passwords")
            .field("users", &self.users.len())
            .finish_non_exhaustive()
    }
}

impl<A: App> Authenticator<A> for Passwords {
    fn authenticate(&self, _: &mut Cx<'_, A>, user: &[u8], password: &[u8]) -> bool {
        self.contains(user, password)
    }
}

/// The error if the environment variable holds no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordMissing {
    variable: Box<str>,
}

impl fmt::Display for PasswordMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variable = &self.variable;
        write!(f, "the environment variable {variable} holds no password")
    }
}

impl std::error::Error for PasswordMissing {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_has_separate_passwords() {
        let passwords = Passwords::new()
            .with("a", "1")
            .with("b", "2")
            .with("a", "3");
        assert!(passwords.contains(b"a", b"1") && passwords.contains(b"a", b"3"));
        assert!(passwords.contains(b"b", b"2"));
        for (user, password) in [("a", "2"), ("b", "1"), ("A", "1"), ("c", ""), ("", "1")] {
            assert!(!passwords.contains(user.as_bytes(), password.as_bytes()));
        }
        assert!(!Passwords::new().contains(b"default", b""));
        assert!(!format!("{passwords:?}").contains('1'));
    }

    #[test]
    fn missing_or_empty_password_variable_is_an_error() {
        let error = Passwords::from_env("RESPIRE_NO_SUCH_VARIABLE").expect_err("it is not set");
        assert_eq!(
            error.to_string(),
            "the environment variable RESPIRE_NO_SUCH_VARIABLE holds no password"
        );
        let path = std::env::var_os("PATH").expect("every test runs with a path");
        let passwords = Passwords::from_env("PATH").expect("it is set");
        assert!(passwords.contains(b"default", path.as_encoded_bytes()));
    }
}
