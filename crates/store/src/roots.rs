//! TLS as all clients of this crate speak it: rustls with ring, and the system's root certificates.

use std::sync::{Arc, LazyLock};

use rustls::{ClientConfig, RootCertStore};

/// The system's root certificates, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`. Damaged ones are left out:
/// a server that only they would vouch for is then refused by name.
static ROOTS: LazyLock<RootCertStore> = LazyLock::new(|| {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        tracing::warn!("no root certificates found: no https server will be trusted; install ca-certificates");
    }
    roots
});

/// True where there is any root certificate.
pub(crate) fn any() -> bool {
    !ROOTS.is_empty()
}

/// How a client speaks TLS. The provider is given here, so that nothing depends on what the process has set.
pub(crate) fn config() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(ROOTS.clone()).with_no_client_auth())
}
