//! TLS with ring, and the certificates that it trusts.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};

/// Returns the provider of cryptography.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Returns the certificates of the system (`SSL_CERT_FILE` names others) and those of Mozilla, which serve where the system
/// has none, as in small containers.
pub fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let (_, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// Returns the configuration for HTTPS: every certificate is verified.
///
/// # Errors
/// The error of rustls if the provider lacks a protocol.
pub fn https() -> Result<ClientConfig, rustls::Error> {
    Ok(ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots())
        .with_no_client_auth())
}
