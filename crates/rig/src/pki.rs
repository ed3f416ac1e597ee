//! Which keys does a control plane live on?
//!
//! All of them are made for one start and die with its folder: an authority, the server's certificate for the loopback address, the
//! key that signs service-account tokens, and one random token for each user.

use std::{fs, io, path::Path};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::users::User;

/// Why no keys could be made.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// The certificate library refused.
    #[error("the certificates cannot be made")]
    Certificate(#[from] rcgen::Error),
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes")]
    Random,
    /// A file could not be written.
    #[error("the keys cannot be written")]
    Write(#[from] io::Error),
}

/// Files of the keys, and the tokens.
#[derive(Debug)]
pub(crate) struct Pki {
    pub(crate) authority_pem: String,
    pub(crate) tokens: Vec<(User, String)>,
}

impl Pki {
    /// Makes all keys and writes them into `folder`: `ca.crt`, `server.crt`, `server.key`, `tokens.key`, `tokens.pub`, `users.csv`.
    pub(crate) fn create(folder: &Path) -> Result<Pki, PkiError> {
        let authority_pem = write_serving(folder, "server.crt", "server.key")?;
        let tokens = User::ALL
            .into_iter()
            .map(|user| Ok((user, random_token()?)))
            .collect::<Result<Vec<_>, PkiError>>()?;
        let rows: Vec<String> = tokens
            .iter()
            .map(|(user, token)| {
                format!("{token},{0},{0},\"{1}\"", user.name(), user.groups().join(","))
            })
            .collect();

        let tokens_key = KeyPair::generate()?;
        fs::write(folder.join("ca.crt"), &authority_pem)?;
        fs::write(folder.join("tokens.key"), tokens_key.serialize_pem())?;
        fs::write(folder.join("tokens.pub"), tokens_key.public_key_pem())?;
        fs::write(folder.join("users.csv"), rows.join("\n"))?;
        Ok(Pki { authority_pem, tokens })
    }
}

/// Writes a certificate for the loopback address and its key, and gives back the authority that signed it, which nobody keeps.
pub(crate) fn write_serving(
    folder: &Path,
    certificate: &str,
    key: &str,
) -> Result<String, PkiError> {
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::new(Vec::<String>::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_pem = authority.self_signed(&authority_key)?.pem();
    let authority = Issuer::new(authority, authority_key);

    let server_key = KeyPair::generate()?;
    let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
    let server = CertificateParams::new(names)?.signed_by(&server_key, &authority)?;
    fs::write(folder.join(certificate), server.pem())?;
    fs::write(folder.join(key), server_key.serialize_pem())?;
    Ok(authority_pem)
}

fn random_token() -> Result<String, PkiError> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).map_err(|_| PkiError::Random)?;
    Ok(crate::hex(&bytes))
}
