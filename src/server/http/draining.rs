//! While the process is about to end, connections that are kept for further requests are let go: the proxy in front
//! takes the next request elsewhere.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{ConnectionType, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, web};

use crate::state::AppState;

/// Middleware for `actix_web::middleware::from_fn`: an answer during the drain ends its connection.
pub(super) async fn let_connections_go(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let draining = request.app_data::<web::Data<AppState>>().is_some_and(|app| app.tasks.is_draining());
    let mut response = next.call(request).await?;
    // A websocket that was let in just before the drain keeps its connection; its driver ends it.
    if draining && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    Ok(response)
}
