//! Setup steps of a new arena, shown on the overview page of the admin.

use super::signed_in_request::SignedInRequest;
use crate::domain::admin::role::Role;
use crate::http::request::error::PageError;
use crate::pages::admin::overview::FirstStep;

/// Returns the setup steps that the user's role may do; empty once the arena has models of its own and a vote. Inviting people is optional:
/// it does not keep the list open.
pub(super) async fn first_steps(call: &SignedInRequest, has_votes: bool) -> Result<Vec<FirstStep>, PageError> {
    let roster = call.app.models.current();
    let has_models = roster.all().iter().filter(|model| !model.card.practice).count() > 1;
    if !call.session.role.covers(Role::Operator) || (has_models && has_votes) {
        return Ok(Vec::new());
    }
    let has_people = call.app.admin_users.list().await?.len() > 1;
    let words = &call.page().t().admin.overview;
    let step = |is_done, path, text, hint| FirstStep { is_done, path, text, hint };
    let steps = [
        step(has_models, "/admin/models/add", words.add_models, words.add_models_hint),
        step(has_people, "/admin/users", words.invite_people, words.invite_people_hint),
        step(has_votes, "/", words.first_vote, words.first_vote_hint),
    ];
    let may_follow = |step: &FirstStep| step.path == "/" || super::may_read(call.session.role, step.path);
    Ok(steps.into_iter().filter(may_follow).collect())
}
