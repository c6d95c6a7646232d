//! Connections to PostgreSQL, with the `sslmode` of libpq.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::sync::CancellationToken;

use crate::http::keys::Secret;
use crate::http::tls;

/// A lost connection is noticed after this time.
const USER_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to connect to one database.
#[derive(Clone)]
pub struct Target {
    /// Host and database, for logs and figures.
    pub label: String,
    config: Config,
    tls: MakeRustlsConnect,
}

/// Why a URI is unusable. No message contains the password.
#[derive(Debug, thiserror::Error)]
pub enum UriError {
    /// It is no URI of PostgreSQL.
    #[error("invalid database URI: {0}")]
    Invalid(String),
    /// `sslmode` has another value.
    #[error(
        "unrecognized sslmode; it is disable, allow, prefer, require, verify-ca or verify-full"
    )]
    SslMode,
    /// The certificates of `sslrootcert` cannot be read.
    #[error("cannot read the certificates in {}", .0.display())]
    Certificates(PathBuf),
    /// TLS cannot be configured.
    #[error("TLS: {0}")]
    Tls(String),
}

/// What is verified of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verify {
    Nothing,
    Issuer,
    IssuerAndName,
}

impl Target {
    /// Reads a URI.
    ///
    /// # Errors
    /// [`UriError`].
    pub fn new(uri: &Secret) -> Result<Self, UriError> {
        let uri = uri.expose();
        if !uri.starts_with("postgres://") && !uri.starts_with("postgresql://") {
            let message = "it starts with postgresql://".to_owned();
            return Err(UriError::Invalid(message));
        }
        let (uri, mode, certificates) = take_ssl_options(uri);
        let mut config: Config = uri
            .parse()
            .map_err(|error: tokio_postgres::Error| UriError::Invalid(error.to_string()))?;
        let (ssl_mode, verify) = ssl_mode(mode.as_deref(), certificates.is_some())?;
        config.ssl_mode(ssl_mode);
        if config.get_application_name().is_none() {
            config.application_name("reground-worker");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(USER_TIMEOUT);
        }
        config.keepalives_idle(USER_TIMEOUT);
        let host = match config.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            _ => "local".to_owned(),
        };
        let database = config.get_dbname().or(config.get_user());
        Ok(Self {
            label: format!("{host}/{}", database.unwrap_or_default()),
            tls: MakeRustlsConnect::new(tls_config(verify, certificates)?),
            config,
        })
    }

    /// Connects. `notified` is called for each notification, and `closed` is cancelled when the connection ends.
    ///
    /// # Errors
    /// The error of the connection.
    pub async fn listen(
        &self,
        notified: impl Fn() + Send + 'static,
        closed: CancellationToken,
    ) -> Result<Client, tokio_postgres::Error> {
        let guard = closed.drop_guard();
        let (client, mut connection) = self.config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            loop {
                match std::future::poll_fn(|context| connection.poll_message(context)).await {
                    Some(Ok(tokio_postgres::AsyncMessage::Notification(_))) => notified(),
                    Some(Ok(_)) => {}
                    // The client reports the error to whoever uses it.
                    Some(Err(_)) | None => break,
                }
            }
            drop(guard);
        });
        Ok(client)
    }

    /// Connects without interest in notifications.
    ///
    /// # Errors
    /// The error of the connection.
    pub async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        self.listen(|| (), CancellationToken::new()).await
    }
}

/// Removes `sslmode` and `sslrootcert` from a URI, because tokio-postgres knows only a part of their values.
fn take_ssl_options(uri: &str) -> (String, Option<String>, Option<PathBuf>) {
    let Some((base, query)) = uri.split_once('?') else {
        return (uri.to_owned(), None, None);
    };
    let (mut mode, mut certificates) = (None, None);
    let mut rest = Vec::new();
    for option in query.split('&').filter(|option| !option.is_empty()) {
        let decoded = |value: &str| percent_decode_str(value).decode_utf8_lossy().into_owned();
        match option.split_once('=') {
            Some(("sslmode", value)) => mode = Some(decoded(value)),
            Some(("sslrootcert", value)) => certificates = Some(PathBuf::from(decoded(value))),
            _ => rest.push(option),
        }
    }
    let uri = if rest.is_empty() {
        base.to_owned()
    } else {
        format!("{base}?{}", rest.join("&"))
    };
    (uri, mode, certificates)
}

/// Returns the modes as libpq defines them: `require` verifies the issuer if `sslrootcert` is set.
fn ssl_mode(mode: Option<&str>, has_certificates: bool) -> Result<(SslMode, Verify), UriError> {
    Ok(match mode {
        Some("disable") => (SslMode::Disable, Verify::Nothing),
        None | Some("allow" | "prefer") => (SslMode::Prefer, Verify::Nothing),
        Some("require") if has_certificates => (SslMode::Require, Verify::Issuer),
        Some("require") => (SslMode::Require, Verify::Nothing),
        Some("verify-ca") => (SslMode::Require, Verify::Issuer),
        Some("verify-full") => (SslMode::Require, Verify::IssuerAndName),
        Some(_) => return Err(UriError::SslMode),
    })
}

fn tls_config(verify: Verify, certificates: Option<PathBuf>) -> Result<ClientConfig, UriError> {
    let tls_error = |error: &dyn std::fmt::Display| UriError::Tls(error.to_string());
    let provider = tls::provider();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| tls_error(&error))?;
    let verifier = if verify == Verify::Nothing {
        None
    } else {
        let roots = match certificates {
            Some(path) if path.as_os_str() != "system" => read_roots(path)?,
            _ => tls::roots(),
        };
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .map_err(|error| tls_error(&error))?;
        Some(verifier)
    };
    Ok(match verifier {
        Some(verifier) if verify == Verify::IssuerAndName => {
            builder.with_webpki_verifier(verifier).with_no_client_auth()
        }
        issuer => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(WithoutName { issuer, provider }))
            .with_no_client_auth(),
    })
}

fn read_roots(path: PathBuf) -> Result<RootCertStore, UriError> {
    let mut roots = RootCertStore::empty();
    let read = CertificateDer::pem_file_iter(&path)
        .map_err(|_| ())
        .and_then(|list| list.collect::<Result<Vec<_>, _>>().map_err(|_| ()))
        .map_err(|()| UriError::Certificates(path.clone()))?;
    let (added, _) = roots.add_parsable_certificates(read);
    if added == 0 {
        return Err(UriError::Certificates(path));
    }
    Ok(roots)
}

/// Verifies the issuer of a certificate (`verify-ca`), or nothing (`prefer`, `require`), as libpq does.
#[derive(Debug)]
struct WithoutName {
    issuer: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for WithoutName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(issuer) = &self.issuer else {
            return Ok(ServerCertVerified::assertion());
        };
        // The name is checked last, after the chain.
        match issuer.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(uri: &str) -> Result<Target, UriError> {
        Target::new(&Secret::new(uri))
    }

    #[test]
    fn ssl_options_are_taken_from_the_uri() {
        let (uri, mode, certificates) = take_ssl_options(
            "postgresql://h/db?sslmode=verify-full&port=1&sslrootcert=%2Fetc%2Fca",
        );
        assert_eq!(uri, "postgresql://h/db?port=1");
        assert_eq!(mode.as_deref(), Some("verify-full"));
        assert_eq!(certificates, Some("/etc/ca".into()));
        assert_eq!(
            take_ssl_options("postgresql://h/db?sslmode=disable").0,
            "postgresql://h/db"
        );
    }

    #[test]
    fn modes_verify_what_libpq_verifies() {
        for (mode, certificates, expected) in [
            (None, true, (SslMode::Prefer, Verify::Nothing)),
            (Some("require"), false, (SslMode::Require, Verify::Nothing)),
            (Some("require"), true, (SslMode::Require, Verify::Issuer)),
            (Some("verify-ca"), false, (SslMode::Require, Verify::Issuer)),
            (
                Some("verify-full"),
                false,
                (SslMode::Require, Verify::IssuerAndName),
            ),
        ] {
            assert_eq!(ssl_mode(mode, certificates).ok(), Some(expected));
        }
        assert!(matches!(
            ssl_mode(Some("on"), false),
            Err(UriError::SslMode)
        ));
    }

    #[test]
    fn labels_and_errors_contain_no_password() {
        let target = |uri| target(uri).map(|target| target.label);
        assert_eq!(
            target("postgresql://u:secret@h:5433/app?sslmode=disable").ok(),
            Some("h/app".into())
        );
        for wrong in [
            "u:secret@h",
            "postgresql://u:secret@h/app?secret=1",
            "postgresql://u:secret@h:x/app",
            "postgresql://u:secret@h/app?sslmode=verify-full&sslrootcert=/none",
        ] {
            let error = target(wrong).expect_err(wrong).to_string();
            assert!(
                !error.contains("secret@") && !error.contains(":secret"),
                "{error}"
            );
        }
    }
}
