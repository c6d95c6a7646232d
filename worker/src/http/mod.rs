//! Calls over HTTP: timeouts, limits, and the class of each failure.

pub mod addresses;
pub mod keys;
pub mod tls;

use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use rustls::ClientConfig;
use serde_json::Value;

use crate::failure::{Failure, MESSAGE_LIMIT};
use addresses::{AddressError, AllowedAddresses, CheckedResolver};
use keys::Keys;

/// Time to open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes of an answer.
const BODY_LIMIT: usize = 64 * 1024 * 1024;
/// Most bytes of the body of an error.
const ERROR_LIMIT: usize = 64 * 1024;
/// Characters that a message and a text have in common if one quotes the other.
const QUOTE: usize = 24;
/// Longest pause that an API can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// How the key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authorization {
    /// `Authorization: Bearer KEY`
    Bearer,
    /// `x-api-key: KEY`
    ApiKey,
}

/// A POST request with a JSON body.
#[derive(Debug)]
pub struct Request<'a> {
    /// The whole URL.
    pub url: Url,
    /// The name of the key.
    pub key_name: Option<&'a str>,
    /// How the key is sent.
    pub authorization: Authorization,
    /// Further headers.
    pub headers: &'a [(&'static str, &'static str)],
    /// The body.
    pub body: &'a Value,
    /// Time for the whole call.
    pub timeout: Duration,
}

/// A client that calls permitted addresses only, and never follows a redirect.
pub struct Http {
    /// Public addresses and allowed private ones.
    permitted: Client,
    /// Allowed private addresses only, for keys without encryption or without hosts.
    private: Client,
    allowed: Arc<AllowedAddresses>,
    keys: Keys,
}

impl Http {
    /// Creates the client.
    ///
    /// # Errors
    /// The error of reqwest if it cannot use the TLS configuration.
    pub fn new(
        allowed: AllowedAddresses,
        keys: Keys,
        tls: &ClientConfig,
    ) -> Result<Self, reqwest::Error> {
        let allowed = Arc::new(allowed);
        let client = |only_private| {
            Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .dns_resolver(Arc::new(CheckedResolver {
                    allowed: Arc::clone(&allowed),
                    only_private,
                }))
                .redirect(redirect::Policy::none())
                // A proxy would resolve the names itself, without our check.
                .no_proxy()
                .connect_timeout(CONNECT_TIMEOUT)
                .user_agent(concat!("reground-worker/", env!("CARGO_PKG_VERSION")))
                .build()
        };
        Ok(Self {
            permitted: client(false)?,
            private: client(true)?,
            allowed,
            keys,
        })
    }

    /// Returns the keys.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Sends a request and returns the JSON of the answer.
    ///
    /// # Errors
    /// A [`Failure`] of the class that status, connection or body have. Its message contains no key.
    pub async fn post(&self, request: Request<'_>) -> Result<Value, Failure> {
        self.send(request).await.map_err(|mut failure| {
            // A key that the limit cuts in two is no longer recognised: scrub before, see `error_message`.
            failure.message = self.keys.scrub(&failure.message);
            failure
        })
    }

    async fn send(&self, request: Request<'_>) -> Result<Value, Failure> {
        let (client, headers) = self.prepare(&request)?;
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let response = client
            .post(request.url)
            .headers(headers)
            .timeout(request.timeout)
            .json(request.body)
            .send()
            .await
            .map_err(|error| connection_failure(&host, error))?;
        let status = response.status();
        if status.is_success() {
            let body = read_body(response, BODY_LIMIT, &host).await?;
            return serde_json::from_slice(&body)
                .map_err(|_| Failure::answer(format!("{host} sent no valid JSON")));
        }
        let pause = retry_after(response.headers(), SystemTime::now());
        let body = read_body(response, ERROR_LIMIT, &host)
            .await
            .unwrap_or_default();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let mut message = self.keys.scrub(&error_message(&body));
        if quotes(&message, request.body) {
            message = "(the message quotes the input)".to_owned();
        }
        Err(status_failure(&host, status, pause, &body, &message))
    }

    /// Chooses the client, and checks the URL and the key.
    fn prepare(&self, request: &Request<'_>) -> Result<(&Client, HeaderMap), Failure> {
        let host = request
            .url
            .host_str()
            .filter(|_| matches!(request.url.scheme(), "http" | "https"))
            .ok_or_else(|| Failure::model("the endpoint is not an http URL"))?;
        let plain_key = request.key_name.is_some() && request.url.scheme() == "http";
        // The resolver never sees literal addresses.
        if let Some(address) = addresses::literal(host) {
            addresses::check(&self.allowed, host, address, plain_key)
                .map_err(|error| Failure::model(error.to_string()))?;
        }
        let mut headers = HeaderMap::new();
        for (name, value) in request.headers {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        let mut only_private = plain_key;
        if let Some(name) = request.key_name {
            let (key, private) = self
                .keys
                .get(name, host, self.allowed.may_list(host))
                .map_err(|error| Failure::model(error.to_string()))?;
            only_private |= private;
            let (header, value) = match request.authorization {
                Authorization::Bearer => ("authorization", format!("Bearer {}", key.expose())),
                Authorization::ApiKey => ("x-api-key", key.expose().to_owned()),
            };
            let mut value = HeaderValue::from_str(&value).map_err(|_| {
                Failure::model(format!("the key \"{name}\" has invalid characters"))
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(header), value);
        }
        let client = if only_private {
            &self.private
        } else {
            &self.permitted
        };
        Ok((client, headers))
    }
}

/// Reads a body, at most `limit` bytes.
async fn read_body(mut response: Response, limit: usize, host: &str) -> Result<Vec<u8>, Failure> {
    let too_long = || Failure::answer(format!("{host} sent more than {limit} bytes"));
    if response.content_length().unwrap_or(0) > limit as u64 {
        return Err(too_long());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| {
        if error.is_timeout() {
            Failure::passing(format!("{host} did not answer in time"))
        } else {
            // The connection ended within the body.
            Failure::answer(format!("{host} sent an incomplete answer"))
        }
    })? {
        if body.len() + chunk.len() > limit {
            return Err(too_long());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Classifies an error before the answer. Its text can contain the URL, so it is not quoted.
fn connection_failure(host: &str, error: reqwest::Error) -> Failure {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(refused) = cause.downcast_ref::<AddressError>() {
            return Failure::model(refused.to_string());
        }
        source = cause.source();
    }
    if error.is_timeout() {
        Failure::passing(format!("{host} did not answer in time"))
    } else if error.is_connect() {
        Failure::passing(format!("cannot connect to {host}: {}", root_cause(&error)))
    } else if error.is_builder() {
        Failure::model("the request cannot be built")
    } else {
        Failure::passing(format!("the connection to {host} ended"))
    }
}

/// Returns the innermost error: the operating system's or the TLS library's.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn status_failure(
    host: &str,
    status: StatusCode,
    pause: Option<Duration>,
    body: &Value,
    message: &str,
) -> Failure {
    let code = status.as_u16();
    let text = if message.is_empty() {
        format!("{host}: HTTP {code}")
    } else {
        format!("{host}: HTTP {code}: {message}")
    };
    match code {
        429 => Failure::limit(text, pause),
        400 | 413 | 422 => Failure {
            unsupported: unsupported(body, message),
            ..Failure::item(text)
        },
        // The message can quote a part of the key.
        401 | 403 => Failure::model(format!("{host}: HTTP {code}: the key was refused")),
        300..=399 => Failure::model(format!("{host}: HTTP {code}: redirects are not followed")),
        408 | 409 | 424 | 425 | 500..=599 => Failure {
            retry_after: pause,
            ..Failure::passing(text)
        },
        _ => Failure::model(text),
    }
}

/// Returns the parameter that the API refuses. Newer models accept no temperature, or rename `max_tokens`.
fn unsupported(body: &Value, message: &str) -> Option<&'static str> {
    let parameter = body.pointer("/error/param").and_then(Value::as_str);
    let refused = [
        "unsupported",
        "not support",
        "deprecated",
        "unrecognized",
        "unknown",
    ]
    .iter()
    .any(|word| message.to_ascii_lowercase().contains(word));
    ["max_tokens", "temperature"]
        .into_iter()
        .find(|&name| {
            parameter == Some(name) || (parameter.is_none() && refused && message.contains(name))
        })
        .filter(|_| refused || body.pointer("/error/code").is_some())
}

/// Returns the message of an error, from the fields that the APIs use. Other fields can contain the input.
fn error_message(body: &Value) -> String {
    [
        "/error/message",
        "/message",
        "/error",
        "/detail",
        "/detail/0/msg",
        "/0/error",
    ]
    .into_iter()
    .find_map(|path| body.pointer(path).and_then(Value::as_str))
    .unwrap_or_default()
    .to_owned()
}

/// Returns whether the beginning of a message quotes a text of the request. Failures are stored, and an erased text must not
/// remain in them.
fn quotes(message: &str, request: &Value) -> bool {
    let beginning: Vec<char> = message.chars().take(2 * MESSAGE_LIMIT).collect();
    let pieces: Vec<String> = beginning.windows(QUOTE).map(String::from_iter).collect();
    let mut values = vec![request];
    while let Some(value) = values.pop() {
        match value {
            Value::String(text) if pieces.iter().any(|piece| text.contains(piece)) => return true,
            Value::Array(list) => values.extend(list),
            Value::Object(fields) => values.extend(fields.values()),
            _ => {}
        }
    }
    false
}

/// Reads `Retry-After`: seconds, or a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let pause = match value.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => httpdate::parse_http_date(value)
            .ok()?
            .duration_since(now)
            .unwrap_or_default(),
    };
    Some(pause.min(LONGEST_PAUSE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Class;
    use serde_json::json;

    fn headers(value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, value.parse().expect("a header"));
        headers
    }

    #[test]
    fn retry_after_in_seconds_or_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let seconds = |value| retry_after(&headers(value), now).map(|pause| pause.as_secs_f64());
        assert_eq!(seconds("7"), Some(7.0));
        assert_eq!(seconds("1.5"), Some(1.5));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:47 GMT"), Some(10.0));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:30 GMT"), Some(0.0));
        assert_eq!(seconds("999999999"), Some(3600.0));
        assert_eq!(seconds("-3"), None);
        assert_eq!(seconds("soon"), None);
    }

    #[test]
    fn statuses_have_classes() {
        let class = |code: u16| {
            let status = StatusCode::from_u16(code).expect("a status");
            let failure = status_failure("h", status, None, &Value::Null, "");
            (failure.class, failure.passing)
        };
        for code in [400, 413, 422] {
            assert_eq!(class(code), (Class::Item, false));
        }
        for code in [302, 401, 402, 403, 404] {
            assert_eq!(class(code), (Class::Model, false));
        }
        for code in [408, 500, 502, 503, 529] {
            assert_eq!(class(code), (Class::Model, true));
        }
        assert_eq!(class(429), (Class::Limit, false));
    }

    #[test]
    fn refused_parameters_are_recognised() {
        let openai = json!({"error": {
            "message": "Unsupported parameter: 'max_tokens' is not supported with this model.",
            "param": "max_tokens", "code": "unsupported_parameter"}});
        assert_eq!(
            unsupported(&openai, &error_message(&openai)),
            Some("max_tokens")
        );
        let anthropic =
            json!({"error": {"message": "`temperature` is deprecated for this model."}});
        assert_eq!(
            unsupported(&anthropic, &error_message(&anthropic)),
            Some("temperature")
        );
        let other = json!({"error": {"message": "too many tokens: max_tokens is 512"}});
        assert_eq!(unsupported(&other, &error_message(&other)), None);
    }

    #[test]
    fn quotations_of_the_input_are_recognised() {
        let request = json!({"model": "m", "input": ["short", "The merger of Äpfel AG is announced on Monday."]});
        assert!(quotes("invalid: 'merger of Äpfel AG is anno…'", &request));
        assert!(!quotes("invalid: 'The merger of' is too long", &request));
        assert!(!quotes("invalid: short", &request));
        assert!(!quotes("", &request));
    }

    #[test]
    fn only_the_message_of_an_error_is_read() {
        let pydantic = json!({"detail": [{"msg": "Field required", "input": "a secret text"}]});
        assert_eq!(error_message(&pydantic), "Field required");
        assert_eq!(error_message(&json!({"error": "overloaded"})), "overloaded");
        assert_eq!(error_message(&json!(["a secret text"])), "");
    }
}
