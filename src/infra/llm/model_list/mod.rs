//! The models listed by a server: `GET …/models` as answered by OpenAI, OpenRouter, vLLM, LiteLLM, llama.cpp and LM Studio, and Ollama's
//! `/api/tags`. A server's list is untrusted: `parsing` bounds it, and errors contain none of its text.

mod fetching;
mod parsing;

use crate::domain::settings_rule::AddressRule;

pub(super) use fetching::fetch;
pub use fetching::{ModelServer, ProviderList, check_address, read_provider_list};
pub use parsing::{ListedModel, ModelList};
pub(super) use parsing::{is_embedding, is_usable};

/// Error of reading a model list. It contains no text of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// Invalid address.
    #[error("the address cannot be used: {0}")]
    Address(AddressRule),
    /// The variable's value cannot be sent as a header.
    #[error("the value of {0} has characters that no key has, such as a line break: correct it")]
    Key(String),
    /// The server is unreachable.
    #[error("the server cannot be reached: {0}; check the address, and that the server runs")]
    Unreached(String),
    /// The server did not answer in time.
    #[error("the server did not send its list within {0} s; try again, or check what listens at the address")]
    Slow(u64),
    /// The server requires a key, or a different one.
    #[error(
        "the server answered with status {0}: it requires a key; name its variable with --key-env, and check the key in it"
    )]
    Refused(u16),
    /// The server redirects, which is never followed.
    #[error("the server answered with status {0}, which leads to another address: give that address itself")]
    Moved(u16),
    /// The server has no list at this path.
    #[error("the server answered with status {0}: give the address that ends as its documentation says, often in /v1")]
    Status(u16),
    /// The response is too large.
    #[error("the server sent more than {0} MB, too much for a list of models: check the address")]
    TooLong(usize),
    /// The response is not a model list.
    #[error("the server sent no list of models: give the address of its API, often one that ends in /v1")]
    NoList,
    /// The list has too many models.
    #[error(
        "the server lists more than {0} models, too many to use: write the entries of those that you need under [[models]]"
    )]
    TooMany(usize),
}
