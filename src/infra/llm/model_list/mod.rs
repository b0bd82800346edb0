//! The models that a server says it has: `GET …/models` as OpenAI, OpenRouter, vLLM, LiteLLM, llama.cpp and LM Studio answer it, and
//! Ollama's `/api/tags`. What a server lists is hostile: `parsing` bounds it, and nothing of it stands in an error.

mod fetching;
mod parsing;

use crate::domain::settings_rule::AddressRule;

pub(super) use fetching::fetch;
pub use fetching::{ModelServer, ProviderList, check_address, read_provider_list};
pub use parsing::{ListedModel, ModelList};
pub(super) use parsing::{is_embedding, is_usable};

/// Why a list of models could not be read. No text of a server stands in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// No address of a server.
    #[error("the address cannot be used: {0}")]
    Address(AddressRule),
    /// The variable's value cannot be sent.
    #[error("the value of {0} has characters that no key has, such as a line break")]
    Key(String),
    /// Nobody answered.
    #[error("the server cannot be reached: {0}; check the address, and that the server runs")]
    Unreached(String),
    /// The server did not answer in time.
    #[error("the server did not send its list within {0} s; try again, or check what listens at the address")]
    Slow(u64),
    /// The server asks for a key, or for another one.
    #[error(
        "the server answered with status {0}: it requires a key; name its variable with --key-env, and check the key in it"
    )]
    Refused(u16),
    /// It leads elsewhere, which is never followed.
    #[error("the server answered with status {0}, which leads to another address: give that address itself")]
    Moved(u16),
    /// It has no list there.
    #[error("the server answered with status {0}: give the address that ends as its documentation says, often in /v1")]
    Status(u16),
    /// It sent too much.
    #[error("the server sent more than {0} MB, too much for a list of models")]
    TooLong(usize),
    /// It sent something else.
    #[error("the server sent no list of models: give the address of its API, often one that ends in /v1")]
    NoList,
    /// It lists more than anybody has.
    #[error("the server lists more than {0} models, too many to use")]
    TooMany(usize),
}
