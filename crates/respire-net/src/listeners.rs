//! Binds the sockets that a server accepts connections on, before the server starts.

use crate::Config;
use socket2::{Domain, SockAddr, Socket, TcpKeepalive, Type};
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bound, non-blocking sockets, ready for [`Server::serve`](crate::Server::serve).
///
/// ```
/// use respire_net::{Config, Listeners};
///
/// // Port 0 of a given address lets the system choose: for tests.
/// let listeners = Listeners::on(&["127.0.0.1:0".parse().unwrap()], &Config::default()).unwrap();
/// assert_ne!(listeners.local_addresses()[0].port(), 0);
/// ```
#[derive(Debug, Default)]
pub struct Listeners {
    /// TCP sockets.
    pub tcp: Vec<TcpListener>,
    /// The Unix socket, if any, and its path.
    pub unix: Option<(UnixListener, PathBuf)>,
}

impl Listeners {
    /// Binds the addresses and the path of `config`.
    ///
    /// # Errors
    /// When an address cannot be bound; the text names the address and the flag to change.
    pub fn bind(config: &Config) -> io::Result<Self> {
        let mut listeners = Self::default();
        if config.port != 0 {
            for host in &config.hosts {
                listeners.bind_host(host, config)?;
            }
        }
        if let Some(path) = &config.unix_socket {
            let listener = listen_unix(path, config).map_err(|error| {
                let hint = "choose another path with --unixsocket";
                context(
                    &error,
                    &format!("cannot listen on {}", path.display()),
                    hint,
                )
            })?;
            listeners.unix = Some((listener, path.clone()));
        }
        if listeners.tcp.is_empty() && listeners.unix.is_none() {
            let text = "nothing to listen on: give a --port other than 0, or a --unixsocket";
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        Ok(listeners)
    }

    /// Binds these TCP addresses.
    ///
    /// # Errors
    /// When an address cannot be bound; the text names it.
    pub fn on(addresses: &[SocketAddr], config: &Config) -> io::Result<Self> {
        let tcp = addresses.iter().map(|address| {
            listen_tcp(*address, config).map_err(|error| {
                let text = format!("cannot listen on {address}: {error}");
                io::Error::new(error.kind(), text)
            })
        });
        Ok(Self {
            tcp: tcp.collect::<io::Result<_>>()?,
            unix: None,
        })
    }

    /// The TCP addresses, with the ports that the system chose for port 0.
    #[must_use]
    pub fn local_addresses(&self) -> Vec<SocketAddr> {
        self.tcp
            .iter()
            .filter_map(|listener| listener.local_addr().ok())
            .collect()
    }

    /// The addresses of the server, for people to read.
    #[must_use]
    pub fn describe(&self) -> String {
        let tcp = self
            .local_addresses()
            .into_iter()
            .map(|address| address.to_string());
        let unix = self
            .unix
            .iter()
            .map(|(_, path)| format!("unix:{}", path.display()));
        tcp.chain(unix).collect::<Vec<_>>().join(", ")
    }

    fn bind_host(&mut self, host: &str, config: &Config) -> io::Result<()> {
        let (name, is_optional) = host
            .strip_prefix('-')
            .map_or((host, false), |name| (name, true));
        let name = if name == "*" { "0.0.0.0" } else { name };
        let addresses = (name, config.port).to_socket_addrs().map_err(|error| {
            context(
                &error,
                &format!("unknown host '{name}'"),
                "give an address with --host",
            )
        })?;
        for address in addresses {
            match listen_tcp(address, config) {
                Ok(listener) => self.tcp.push(listener),
                Err(error) if is_optional && is_absent(&error) => {}
                Err(error) => {
                    let hint = "choose another with --port, or stop what listens there";
                    let hint = if error.kind() == ErrorKind::AddrInUse {
                        hint
                    } else {
                        "see --host"
                    };
                    return Err(context(
                        &error,
                        &format!("cannot listen on {address}"),
                        hint,
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Refuses a `config` that lets other machines in while no password is set.
///
/// # Errors
/// In that case, with a text that names the remedies.
pub fn check_protected_mode(config: &Config, has_password: bool) -> io::Result<()> {
    let open = config.hosts.iter().find(|host| !is_loopback(host));
    match open {
        Some(host) if config.port != 0 && config.protected_mode.is_on() && !has_password => {
            let text = format!(
                "refusing to listen on '{}' without a password: other machines could do anything. \
                 Set one with --requirepass or RESPIRE_PASSWORD, keep to --host 127.0.0.1, or, on a \
                 network you trust, give --protected-mode no",
                host.trim_start_matches('-'),
            );
            Err(io::Error::new(ErrorKind::PermissionDenied, text))
        }
        _ => Ok(()),
    }
}

fn is_loopback(host: &str) -> bool {
    let name = host.trim_start_matches('-');
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn listen_tcp(address: SocketAddr, config: &Config) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // A restart must not wait until the connections of the previous run have timed out.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    if config.keepalive_s > 0 {
        // Accepted sockets inherit this, which saves system calls. The intervals are Redis's: a
        // dead peer is noticed after about twice the given time.
        let idle = Duration::from_secs(u64::from(config.keepalive_s));
        let probes = TcpKeepalive::new()
            .with_time(idle)
            .with_interval((idle / 3).max(SECOND));
        socket.set_tcp_keepalive(&probes.with_retries(3))?;
    }
    socket.bind(&address.into())?;
    listen(&socket, config)?;
    Ok(socket.into())
}

const SECOND: Duration = Duration::from_secs(1);

fn listen_unix(path: &Path, config: &Config) -> io::Result<UnixListener> {
    remove_stale(path)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    if let Some(mode) = config.unix_socket_mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    listen(&socket, config)?;
    Ok(socket.into())
}

fn listen(socket: &Socket, config: &Config) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    socket.listen(i32::try_from(config.backlog).unwrap_or(i32::MAX))
}

/// Removes a socket that a killed server left behind. Keeps a socket in use and any other file.
fn remove_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(file) if !file.file_type().is_socket() => Err(io::Error::new(
            ErrorKind::AlreadyExists,
            "a file that is no socket is in the way",
        )),
        Ok(_) if UnixStream::connect(path).is_ok() => Err(ErrorKind::AddrInUse.into()),
        Ok(_) => fs::remove_file(path),
    }
}

/// Whether this machine does not have the address.
fn is_absent(error: &io::Error) -> bool {
    use nix::errno::Errno;

    let errno = Errno::from_raw(error.raw_os_error().unwrap_or_default());
    error.kind() == ErrorKind::AddrNotAvailable
        || matches!(
            errno,
            Errno::EAFNOSUPPORT | Errno::EPROTONOSUPPORT | Errno::ENOPROTOOPT
        )
}

fn context(error: &io::Error, what: &str, hint: &str) -> io::Error {
    let why = match error.kind() {
        ErrorKind::AddrInUse => "already in use".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), format!("{what}: {why}; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProtectedMode;

    fn with_hosts(hosts: &[&str], port: u16) -> Config {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        Config {
            hosts,
            port,
            ..Config::default()
        }
    }

    fn any_port() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    #[test]
    fn error_for_a_taken_port_names_the_flag_to_change() {
        let taken = Listeners::on(&[any_port()], &Config::default()).unwrap();
        let address = taken.local_addresses()[0];
        let error = Listeners::on(&[address], &Config::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        assert!(error.to_string().contains(&address.to_string()), "{error}");
        let port = address.port();
        let error = Listeners::bind(&with_hosts(&["127.0.0.1"], port)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        let text = error.to_string();
        assert!(
            text.contains(&format!("127.0.0.1:{port}")) && text.contains("--port"),
            "{text}"
        );
    }

    #[test]
    fn optional_address_that_is_absent_is_skipped() {
        let free = Listeners::on(&[any_port()], &Config::default()).unwrap();
        let port = free.local_addresses()[0].port();
        drop(free);
        // 192.0.2.0/24 is reserved for documentation: no machine has such an address.
        let listeners = Listeners::bind(&with_hosts(&["127.0.0.1", "-192.0.2.1"], port)).unwrap();
        assert_eq!(listeners.describe(), format!("127.0.0.1:{port}"));
        let error = Listeners::bind(&with_hosts(&["192.0.2.1"], port)).unwrap_err();
        assert!(error.to_string().contains("no such address"), "{error}");
    }

    #[test]
    fn no_address_is_an_error() {
        let error = Listeners::bind(&with_hosts(&["127.0.0.1"], 0)).unwrap_err();
        assert!(error.to_string().contains("--unixsocket"), "{error}");
    }

    #[test]
    fn protected_mode_without_a_password_refuses_open_addresses() {
        for host in ["0.0.0.0", "::", "*", "192.0.2.7", "-::", "example.org"] {
            let config = with_hosts(&["127.0.0.1", host], 6379);
            assert!(check_protected_mode(&config, false).is_err(), "{host}");
            assert!(check_protected_mode(&config, true).is_ok(), "{host}");
            let open = Config {
                protected_mode: ProtectedMode::new(false),
                ..config
            };
            assert!(check_protected_mode(&open, false).is_ok(), "{host}");
        }
        let closed = with_hosts(&["127.0.0.1", "-::1", "localhost", "127.8.9.1"], 6379);
        assert!(check_protected_mode(&closed, false).is_ok());
        assert!(check_protected_mode(&with_hosts(&["0.0.0.0"], 0), false).is_ok());
    }

    #[test]
    fn only_a_stale_socket_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("respire.sock");
        let config = Config {
            unix_socket: Some(path.clone()),
            unix_socket_mode: Some(0o700),
            ..with_hosts(&[], 0)
        };
        let first = Listeners::bind(&config).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o700
        );
        let error = Listeners::bind(&config).unwrap_err();
        assert!(error.to_string().contains("already in use"), "{error}");
        drop(first);
        let second = Listeners::bind(&config).unwrap();
        assert_eq!(second.describe(), format!("unix:{}", path.display()));
        drop(second);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "precious").unwrap();
        assert!(Listeners::bind(&config).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"precious");
    }
}
