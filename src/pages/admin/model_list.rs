//! The page for adding models from a provider's model list.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::infra::llm::model_list_merge::{AddedModel, Addition};
use crate::render::i18n::fill;
use crate::render::i18n::pages::ModelAddTexts;

/// Form fields as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddFields {
    pub from: String,
    pub key_env: String,
    pub filter: String,
    /// Pairing weight of the added models; empty for 1.
    pub weight: String,
    /// Selected models, by their names at the provider.
    pub only: Vec<String>,
}

/// Row of a listed model.
pub struct ListedModelRow(pub(crate) AddedModel);

impl ListedModelRow {
    fn is_new(&self) -> bool {
        self.0.addition == Addition::Added
    }

    fn name(&self) -> &str {
        self.0.entry.display_name()
    }

    fn at_provider(&self) -> &str {
        self.0.entry.name_at_provider()
    }

    fn context(&self) -> String {
        self.0.context_length.map_or_else(|| "–".to_owned(), |tokens| tokens.to_string())
    }

    fn price(&self) -> String {
        let prices = self.0.entry.input_price.zip(self.0.entry.output_price);
        prices.map_or_else(|| "–".to_owned(), |(input, output)| format!("{input} / {output}"))
    }

    fn result(&self, words: &ModelAddTexts) -> String {
        match &self.0.addition {
            Addition::Added => words.new.to_owned(),
            Addition::Configured(id) => words.configured.replace("{id}", id),
            Addition::IdTaken => words.id_taken.to_owned(),
        }
    }
}

/// Kind of list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Models that the provider offers.
    Available,
    /// Preview of the models to add.
    Preview,
}

/// Result of fetching a model list.
pub struct Listing {
    pub lines: Vec<ListedModelRow>,
    /// Number of listed models that cannot take part in battles.
    pub others: usize,
    /// Currency of the settings, if it differs from that of the listed prices.
    pub(crate) other_currency: Option<String>,
    listed: Listed,
}

impl Listing {
    pub fn new(models: Vec<AddedModel>, others: usize, other_currency: Option<String>, listed: Listed) -> Self {
        let lines = models.into_iter().map(ListedModelRow).collect();
        Self { lines, others, other_currency, listed }
    }

    fn is_preview(&self) -> bool {
        self.listed == Listed::Preview
    }

    fn has_new(&self) -> bool {
        self.lines.iter().any(ListedModelRow::is_new)
    }

    fn new_models(&self) -> usize {
        self.lines.iter().filter(|line| line.is_new()).count()
    }
}

/// Template of the page for adding models.
#[derive(Template)]
#[template(path = "admin/add_models.html")]
pub struct AddModelsPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub fields: AddFields,
    pub listing: Option<Listing>,
    pub currency: String,
}

impl AddModelsPage {
    fn weight(&self) -> &str {
        if self.fields.weight.is_empty() { "1" } else { &self.fields.weight }
    }

    fn is_chosen(&self, line: &ListedModelRow) -> bool {
        self.fields.only.iter().any(|only| only == line.at_provider())
    }

    fn others(&self, listing: &Listing) -> String {
        fill(self.page.t().admin.models.add.others, &[("n", &listing.others.to_string())])
    }

    fn add_label(&self, listing: &Listing) -> String {
        self.page.t().admin.models.add.add.replace("{n}", &listing.new_models().to_string())
    }
}
