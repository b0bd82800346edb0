//! `langya campaign open|pause|close|delete`

use clap::Args;

use crate::domain::campaign::state::StateChange;
use crate::domain::plural::counted;
use crate::error::{BadInput, CommandResult};
use crate::services::campaign::administration::CampaignAdmin;

/// Selection of a campaign.
#[derive(Debug, Args)]
pub(super) struct CampaignArgument {
    /// Id of the campaign
    id: String,
}

/// Flags of `langya campaign delete`.
#[derive(Debug, Args)]
pub(super) struct DeleteCampaignOptions {
    #[command(flatten)]
    campaign: CampaignArgument,
    /// Delete the campaign even if it has judgements
    #[arg(long)]
    with_judgements: bool,
}

/// Changes the state of a campaign; no-op if it is in this state already.
///
/// # Errors
/// An unknown campaign.
pub(super) async fn change(
    admin: &CampaignAdmin<'_>,
    CampaignArgument { id }: &CampaignArgument,
    change: StateChange,
) -> CommandResult<()> {
    admin.set_state(id, change, None).await?;
    eprintln!("campaign {id} is {}", change.state().as_str());
    Ok(())
}

/// Deletes a campaign.
///
/// # Errors
/// An unknown campaign, or one with judgements and without the flag.
pub(super) async fn delete(admin: &CampaignAdmin<'_>, options: &DeleteCampaignOptions) -> CommandResult<()> {
    let id = &options.campaign.id;
    let found = super::find(admin.store, id).await?;
    if found.judgements > 0 && !options.with_judgements {
        let said = format!(
            "campaign {id} has {}, which would be lost: export them first (`langya campaign export {id} --out FILE`), \
             then repeat with --with-judgements",
            counted(found.judgements, "judgement", "judgements")
        );
        return Err(BadInput(said).into());
    }
    admin.delete(&found).await?;
    eprintln!("campaign {id} is deleted");
    Ok(())
}
