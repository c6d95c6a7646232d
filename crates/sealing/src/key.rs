//! The master key, which wraps the keys of the tenants, and these keys, which seal values.
//!
//! All encryption is AES-256-SIV (RFC 5297) with the tenant among the associated data, so that nothing can be moved to another tenant.

use aes_siv::KeyInit;
use aes_siv::siv::Aes256Siv;
use sha2::{Digest, Sha512};
use zeroize::Zeroizing;

use crate::error::SealingError;
use crate::kind::Kind;

/// Bytes of the key of a tenant.
pub const KEY_BYTES: usize = 64;

/// Bytes of a master key.
const MASTER_BYTES: usize = 32;

/// Separates the use of the master key from other uses of the same bytes.
const MASTER_DOMAIN: &[u8] = b"reground master key 1";

/// The key that wraps the keys of the tenants. It is never stored in the database.
pub struct MasterKey(Secret);

/// The key that seals the values of a tenant.
pub struct TenantKey(Secret);

/// A key of AES-256-SIV.
struct Secret(Zeroizing<[u8; KEY_BYTES]>);

impl Secret {
    /// A cipher keeps a state, so each call makes its own.
    fn cipher(&self) -> Aes256Siv {
        Aes256Siv::new((&*self.0).into())
    }

    fn encrypt(&self, data: &[&[u8]], value: &[u8]) -> Vec<u8> {
        // Fails only for more than 126 associated data.
        self.cipher().encrypt(data, value).unwrap_or_default()
    }

    fn decrypt(&self, data: &[&[u8]], value: &[u8]) -> Option<Vec<u8>> {
        self.cipher().decrypt(data, value).ok()
    }
}

impl MasterKey {
    /// The master key of 64 hexadecimal digits. Space around them is ignored.
    ///
    /// # Errors
    /// [`SealingError::MasterKey`] for another text.
    pub fn parse(text: &str) -> Result<Self, SealingError> {
        let digits = text.trim().as_bytes();
        let (pairs, rest) = digits.as_chunks::<2>();
        if pairs.len() != MASTER_BYTES || !rest.is_empty() {
            return Err(SealingError::MasterKey);
        }
        let mut hash = Sha512::new();
        hash.update(MASTER_DOMAIN);
        for [high, low] in pairs {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
                return Err(SealingError::MasterKey);
            };
            hash.update([u8::try_from(high * 16 + low).unwrap_or_default()]);
        }
        Ok(Self(Secret(Zeroizing::new(hash.finalize().into()))))
    }

    /// The key of a tenant, as it is stored.
    #[must_use]
    pub fn wrap(&self, tenant: &str, key_id: i64, key: &TenantKey) -> Vec<u8> {
        let data = [b"tenant key", tenant.as_bytes(), &key_id.to_be_bytes()];
        self.0.encrypt(&data, &*key.0.0)
    }

    /// The key of a tenant from its stored form; `None` if another master key wrapped it.
    #[must_use]
    pub fn unwrap(&self, tenant: &str, key_id: i64, wrapped: &[u8]) -> Option<TenantKey> {
        let data = [b"tenant key", tenant.as_bytes(), &key_id.to_be_bytes()];
        let bytes = Zeroizing::new(self.0.decrypt(&data, wrapped)?);
        let key: [u8; KEY_BYTES] = bytes.as_slice().try_into().ok()?;
        Some(TenantKey::new(key))
    }
}

impl TenantKey {
    /// The key of these bytes, which must be random.
    #[must_use]
    pub fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(Secret(Zeroizing::new(bytes)))
    }

    /// A value of a tenant, encrypted. Equal values of a kind give equal bytes, in all tables.
    #[must_use]
    pub fn seal(&self, tenant: &str, kind: Kind, value: &[u8]) -> Vec<u8> {
        self.0.encrypt(
            &[b"value", tenant.as_bytes(), kind.name().as_bytes()],
            value,
        )
    }

    /// The value; `None` if it was sealed with another key, for another tenant or as another kind, or if it was changed.
    #[must_use]
    pub fn unseal(&self, tenant: &str, kind: Kind, sealed: &[u8]) -> Option<Vec<u8>> {
        self.0.decrypt(
            &[b"value", tenant.as_bytes(), kind.name().as_bytes()],
            sealed,
        )
    }
}
