#![allow(clippy::expect_used)]
//! What is verified of the certificates of databases and APIs, against servers with a certificate of a made-up authority for
//! the name `db.example`.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use reground_worker::database::connection::Target;
use reground_worker::http::addresses::AllowedAddresses;
use reground_worker::http::keys::{Keys, Secret};
use reground_worker::http::{Authorization, Http, Request, tls};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

struct Certificates {
    /// The authority, in PEM.
    authority: String,
    acceptor: TlsAcceptor,
}

fn certificates() -> Certificates {
    let mut parameters = CertificateParams::new(vec![]).expect("parameters");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(parameters, key).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let leaf = CertificateParams::new(vec!["db.example".to_owned()])
        .and_then(|parameters| parameters.signed_by(&key, &authority))
        .expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(tls::provider())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .expect("a configuration");
    Certificates {
        authority: authority.pem(),
        acceptor: TlsAcceptor::from(Arc::new(config)),
    }
}

/// Lets every client in, as PostgreSQL without a password does.
async fn greet(mut stream: TcpStream, acceptor: TlsAcceptor) -> std::io::Result<()> {
    // SSLRequest: length 8 and a code.
    let mut request = [0; 8];
    stream.read_exact(&mut request).await?;
    assert_eq!(request[4..], 80_877_103_u32.to_be_bytes());
    stream.write_all(b"S").await?;
    let mut stream = acceptor.accept(stream).await?;
    let mut startup = [0; 1024];
    let _ = stream.read(&mut startup).await?;
    // AuthenticationOk, ReadyForQuery
    stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").await?;
    stream.flush().await?;
    let _ = stream.read(&mut startup).await?;
    Ok(())
}

/// Starts a server that looks like PostgreSQL, and returns its port.
async fn database(acceptor: TlsAcceptor) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(greet(stream, acceptor.clone()));
        }
    });
    port
}

#[tokio::test]
async fn modes_accept_the_certificates_that_libpq_accepts() {
    let certificates = certificates();
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        format!("&sslrootcert={}", path.display())
    };
    let own = &file("own.pem", &certificates.authority);
    let other = &file("other.pem", &self::certificates().authority);
    let port = database(certificates.acceptor).await;
    // The address of a name is given by hostaddr; the certificate is for db.example.
    let right = &format!("db.example:{port}");
    let wrong = &format!("other.example:{port}");
    for (host, mode, roots, accepted) in [
        (wrong, "prefer", "", true),
        (wrong, "require", "", true),
        (wrong, "require", own, true),
        (wrong, "require", other, false),
        (wrong, "verify-ca", own, true),
        (wrong, "verify-ca", other, false),
        (right, "verify-ca", "", false),
        (right, "verify-full", own, true),
        (wrong, "verify-full", own, false),
        (right, "verify-full", other, false),
        (right, "verify-full", "", false),
    ] {
        let uri = format!("postgresql://u@{host}/d?hostaddr=127.0.0.1&sslmode={mode}{roots}");
        let target = Target::new(&Secret::new(&uri)).expect("a target");
        let connected = target.connect().await;
        assert_eq!(
            connected.is_ok(),
            accepted,
            "{host} {mode} {roots}: {:?}",
            connected.err()
        );
    }
}

#[tokio::test]
async fn apis_need_a_certificate_of_a_known_authority() {
    let certificates = certificates();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let acceptor = certificates.acceptor;
    let handshake = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        acceptor.accept(stream).await.is_ok()
    });
    let https = tls::https().expect("TLS");
    let allowed = AllowedAddresses::new(["127.0.0.1"]);
    let http = Http::new(allowed, Keys::default(), &https).expect("a client");
    let url = format!("https://127.0.0.1:{port}/").parse().expect("a URL");
    let body = serde_json::Value::Null;
    let request = Request {
        url,
        key_name: None,
        authorization: Authorization::Bearer,
        headers: &[],
        body: &body,
        timeout: Duration::from_secs(5),
    };
    let failure = http.post(request).await.expect_err("unknown authority");
    assert!(failure.message.contains("certificate"), "{failure}");
    assert!(!handshake.await.expect("ended"));
}
