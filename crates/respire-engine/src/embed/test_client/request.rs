//! The requests that a test sends.

use resp_codec::{CommandDecoder, Limits, Step};

/// A request of a test: a line with the quoting of redis-cli, or its arguments as an array, a
/// slice, a `Vec`, or a tuple of up to twelve parts of different types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a request",
    label = "does not implement `IntoRequest`",
    note = "use a line as in `\"SET k v\"`, or the arguments as strings or bytes: an array, a slice, a `Vec`, or a tuple of up to twelve; numbers are sent as text"
)]
pub trait IntoRequest {
    /// The arguments, starting with the name.
    ///
    /// # Panics
    /// If a quote in a line is not closed.
    fn into_request(self) -> Vec<Vec<u8>>;
}

impl IntoRequest for &str {
    fn into_request(self) -> Vec<Vec<u8>> {
        // The leading blank makes sure that the decoder takes the line as an inline request.
        let line = format!(" {}\r\n", self.trim_start());
        let mut decoder = CommandDecoder::new(Limits::SERVER);
        match decoder.decode(line.as_bytes()) {
            Ok(Step::Ready { item, .. }) => item.args().iter().map(<[u8]>::to_vec).collect(),
            Ok(Step::NeedMore { .. }) => panic!("no request, or more than one line: {self}"),
            Err(error) => panic!("{error}: {self}"),
        }
    }
}

impl IntoRequest for &String {
    fn into_request(self) -> Vec<Vec<u8>> {
        self.as_str().into_request()
    }
}

impl IntoRequest for String {
    fn into_request(self) -> Vec<Vec<u8>> {
        self.as_str().into_request()
    }
}

impl<T: AsRef<[u8]>, const N: usize> IntoRequest for [T; N] {
    fn into_request(self) -> Vec<Vec<u8>> {
        self.as_slice().into_request()
    }
}

impl<T: AsRef<[u8]>> IntoRequest for &[T] {
    fn into_request(self) -> Vec<Vec<u8>> {
        self.iter().map(|arg| arg.as_ref().to_vec()).collect()
    }
}

impl<T: AsRef<[u8]>> IntoRequest for Vec<T> {
    fn into_request(self) -> Vec<Vec<u8>> {
        self.as_slice().into_request()
    }
}

macro_rules! tuples {
    ($($($part:ident)*;)*) => {$(
        impl<$($part: AsRef<[u8]>),*> IntoRequest for ($($part,)*) {
            fn into_request(self) -> Vec<Vec<u8>> {
                #[expect(non_snake_case, reason = "each part is named as its type")]
                let ($($part,)*) = self;
                vec![$($part.as_ref().to_vec()),*]
            }
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}

/// Encodes the request as RESP.
pub(super) fn resp(request: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    resp_codec::command(&mut bytes, request);
    bytes
}

/// Encodes the request as a `CALL` of the binary protocol.
pub(super) fn binary(request: &[Vec<u8>]) -> Vec<u8> {
    let word = |number: usize| {
        let number = u32::try_from(number).expect("lengths of the binary protocol are 32 bits");
        number.to_le_bytes()
    };
    let mut bytes = vec![resp_codec::binary::CALL];
    bytes.extend(word(request.len()));
    for arg in request {
        bytes.extend(word(arg.len()));
        bytes.extend(arg);
    }
    bytes
}
